import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { EVENT_TYPE, MODEL } from '../events/event.ts'
import { unpackTerms } from '../events/pay-terms.ts'
import {
  addDecision,
  addReport,
  addReturn,
  addReversal,
  type OrderAttribution,
} from '../orders/order-account.ts'
import { orderFigures } from '../orders/order-figures.ts'
import { emptyOrder, type OrderRecord } from '../orders/order-store.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { noPostings, type Postings, postChange } from './post-order.ts'

const MERCHANT = 3

/** Possible owners of the order: two publishers, exact or guessed, under all models. */
const attributionArbitrary: fc.Arbitrary<OrderAttribution | null> = fc.option(
  fc.record({
    model: fc.constantFrom('exact', 'visitor'),
    owner: fc
      .record({ pubId: fc.constantFrom(5, 6), articleId: fc.constantFrom(50, 60) })
      .chain((who) =>
        fc.record({
          ...{ pubId: fc.constant(who.pubId), articleId: fc.constant(who.articleId) },
          clickId: fc.constantFrom('a', 'b').map((name) => name.repeat(32)),
          clickAtMs: fc.constant(START_MS),
          campaignId: fc.constantFrom(null, 1, 2),
          terms: fc
            .record({
              model: fc.constantFrom(MODEL.cpc, MODEL.cpa, MODEL.epp),
              amount: fc.constantFrom(70_001, 1_500_001),
            })
            .map(unpackTerms),
          sharePpm: fc.constantFrom(750_000, 333_333),
        }),
      ),
  }),
)

const stepArbitrary = fc.record({
  order: fc.constantFrom('o1', 'o2'),
  afterMs: fc.constantFrom(0, 1_000, DAY_MS, 91 * DAY_MS),
  input: fc.oneof(
    fc.record({
      kind: fc.constant('report' as const),
      attribution: attributionArbitrary,
      source: fc.constantFrom('pixel', 'import', 's2s'),
      value: fc.option(fc.integer({ min: 0, max: 10 ** 9 })),
      isCancelled: fc.constantFrom(false, false, false, true),
    }),
    fc.record({ kind: fc.constant('return' as const), quantity: fc.integer({ min: 1, max: 3 }) }),
    fc.constant({ kind: 'approve' as const }),
    fc.constant({ kind: 'reject' as const }),
    fc.constant({ kind: 'reversal' as const }),
  ),
})
type Step = typeof stepArbitrary extends fc.Arbitrary<infer T> ? T : never

test('an order is owed to at most one click: the books have one owner and one sale (P40)', () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { minLength: 1, maxLength: 12 }), (steps) => {
      const events = new MoneyEvents()
      const postings = noPostings([])
      const orders = new Map<string, OrderRecord>()
      let atMs = START_MS
      for (const step of steps) {
        atMs += step.afterMs
        const key = { merchId: MERCHANT, orderId: step.order }
        const before = orders.get(step.order) ?? emptyOrder(key)
        const isReturn = step.input.kind === 'return'
        const event = events.at(atMs, isReturn ? { type: EVENT_TYPE.orderReturn } : {})
        const after = applyStep(before, step, { id: event.id, atMs })
        orders.set(step.order, postChange(postings, event, { before, after }))
        assertOneOwner(postings, orders)
      }
    }),
    { numRuns: 500 },
  )
})

function applyStep(
  record: OrderRecord,
  { input }: Step,
  at: { id: string; atMs: number },
): OrderRecord {
  const { account } = record
  switch (input.kind) {
    case 'report': {
      const report = {
        event_id: at.id,
        source: input.source as 'pixel' | 'import' | 's2s',
        ...{ updated_at_ms: at.atMs, ordered_at_ms: START_MS, currency: 'USD', value: '1.00' },
        ...{ value_micros: input.value, rate_id: 'usd', is_new_customer: null, hold: null },
        lines: [orderLine('A1', 10_000, 4), orderLine('B1', 333, 1)],
        is_cancelled: input.isCancelled,
      }
      const facts = { report, attribution: input.attribution, atMs: at.atMs }
      const eventId = record.eventId ?? at.id
      return { ...record, eventId, day: '2026-03-02', account: addReport(account, facts).account }
    }
    case 'return': {
      const goods = { return_id: at.id, event_id: at.id, line: null, product_id: 'A1' }
      const when = { accepted_at_ms: at.atMs, returned_at_ms: at.atMs }
      const back = { ...goods, ...when, quantity: input.quantity }
      return { ...record, account: addReturn(account, back) }
    }
    case 'approve':
      return { ...record, account: addDecision(account, { kind: 'approve' }, at.atMs) }
    case 'reject': {
      const decision = { kind: 'reject', reason: 'fraud' } as const
      return { ...record, account: addDecision(account, decision, at.atMs) }
    }
    case 'reversal':
      return { ...record, account: addReversal(account, at.atMs) }
  }
}

/** The sums of entries, figures and budgets: one owner, and exactly the order’s net. */
function assertOneOwner(postings: Postings, orders: ReadonlyMap<string, OrderRecord>): void {
  const booked = new Map<string, number>()
  for (const { lines } of postings.entries) {
    assert.equal(
      lines.reduce((sum, { amountMicros }) => sum + amountMicros, 0),
      0,
    )
    for (const { account, pubId, articleId, amountMicros } of lines) {
      const key = `${account} ${pubId} ${articleId}`
      booked.set(key, (booked.get(key) ?? 0) + amountMicros)
    }
  }
  const sold = new Map<string, number>()
  for (const { pubId, articleId, sales = 0 } of postings.changes) {
    const key = `${pubId} ${articleId}`
    sold.set(key, (sold.get(key) ?? 0) + sales)
  }
  const spent = new Map<string, number>()
  for (const { campaignId, micros: amount } of postings.spendings) {
    spent.set(`${campaignId}`, (spent.get(`${campaignId}`) ?? 0) + amount)
  }
  const [owed, sales] = [new Map<string, number>(), new Map<string, number>()]
  const costs = new Map<string, number>()
  for (const { account } of orders.values()) {
    const owner = account.attribution?.owner
    if (owner === undefined) continue
    const { net } = orderFigures(account)
    const place = `${owner.pubId} ${owner.articleId}`
    const add = (to: Map<string, number>, key: string, amount: number) =>
      to.set(key, (to.get(key) ?? 0) + amount)
    add(owed, `merchant ${place}`, -net.commissionMicros)
    add(owed, `publisher ${place}`, net.earningsMicros)
    add(owed, `platform ${place}`, net.commissionMicros - net.earningsMicros)
    add(sales, place, net.sales)
    if (owner.campaignId !== null) add(costs, `${owner.campaignId}`, net.commissionMicros)
  }
  assert.deepEqual(notZero(booked), notZero(owed))
  assert.deepEqual(notZero(sold), notZero(sales))
  assert.deepEqual(notZero(spent), notZero(costs))
  const first = postings.entries.filter(({ kind }) => kind === 'order')
  assert.equal(new Set(first.map(({ idempotencyKey }) => idempotencyKey)).size, first.length)
}

function notZero(sums: ReadonlyMap<string, number>): Record<string, number> {
  const entries = [...sums].filter(([, amount]) => amount !== 0)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
