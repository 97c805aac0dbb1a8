import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import {
  accountOf,
  attribution,
  EPP,
  goodsBack,
  type Input,
  line,
  NOW_MS,
  report,
} from '../../test/support/order-account.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { NO_TERMS } from '../events/pay-terms.ts'
import { micros } from '../platform/money/money.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import {
  addDecision,
  addReport,
  datesOf,
  EMPTY_ACCOUNT,
  type OrderAccount,
  type OrderAttribution,
} from './order-account.ts'
import { NOTHING, orderFigures } from './order-figures.ts'
import type { OrderReport } from './order-merge.ts'
import { AMOUNTS_OPEN_MS, locksAt, orderState } from './order-states.ts'

const CPC = { model: 'cpc', pricePerClickMicros: micros(100_000) } as const
const CPA = { model: 'cpa', ratePpm: 100_000 } as const

test('the example of the report documents: lines, returns over two days, and the rest (data kit)', (t) => {
  const path = kitPath(t, 'oracles/orders-returns.json')
  if (path === null) return
  const example = JSON.parse(readFileSync(path, 'utf8')).report_example
  const dollars = (text: string) => Math.round(Number(text) * 1_000_000)
  const account = accountOf([
    { report: report(), attribution: attribution() },
    ...example.returns.map((row: { product_id: string; quantity: number }, index: number) => ({
      back: goodsBack({
        return_id: `r${index}`,
        event_id: `${50 + index}`,
        product_id: row.product_id,
        quantity: -row.quantity,
      }),
    })),
  ])
  const figures = orderFigures(account)

  const [first, second] = example.orders
  assert.deepEqual(
    figures.lines.map((row) => [row.earningsMicros, row.revenueMicros]),
    [first, second].map((row) => [dollars(row.earnings), dollars(row.revenue)]),
  )
  assert.deepEqual(
    figures.returns.map((row) => [-row.quantity, -row.earningsMicros, -row.revenueMicros]),
    example.returns.map((row: { quantity: number; earnings: string; revenue: string }) => [
      row.quantity,
      dollars(row.earnings),
      dollars(row.revenue),
    ]),
  )
  const net = example.net.filter((row: { checkout_id: string }) => row.checkout_id === '123')
  const sum = (key: string) =>
    net.reduce((all: number, row: Record<string, string>) => all + dollars(row[key] ?? ''), 0)
  assert.equal(figures.net.earningsMicros, sum('earnings'))
  assert.equal(figures.net.revenueMicros, sum('revenue'))
  assert.equal(figures.net.sales, 1)
})

const reportArbitrary = fc.record({
  report: fc.record({
    source: fc.constantFrom('pixel', 'import', 's2s'),
    event_id: fc.constant('0'),
    updated_at_ms: fc.integer({ min: NOW_MS, max: NOW_MS + 2 }),
    ordered_at_ms: fc.constant(NOW_MS),
    currency: fc.constant('USD'),
    value: fc.constant('1.00'),
    value_micros: fc.option(fc.integer({ min: 0, max: 10 ** 9 }), { nil: null }),
    rate_id: fc.constant('usd'),
    lines: fc.array(
      fc
        .tuple(
          fc.constantFrom('A1', 'B1'),
          fc.integer({ min: 0, max: 9999 }),
          fc.integer({ min: 1, max: 4 }),
        )
        .map(([id, cents, quantity]) => line(id, cents, quantity)),
      { maxLength: 4 },
    ),
    is_new_customer: fc.constantFrom(true, false, null),
    is_cancelled: fc.constantFrom(false, false, true),
    hold: fc.constantFrom(null, null, 'review'),
  }),
  attribution: fc.constantFrom(null, attribution(), attribution()),
}) as fc.Arbitrary<{ report: OrderReport; attribution: OrderAttribution | null }>

const backArbitrary = fc
  .record({ product_id: fc.constantFrom('A1', 'B1'), quantity: fc.integer({ min: 1, max: 3 }) })
  .map((changes) => ({ back: goodsBack(changes) }))

const inputsArbitrary = fc
  .array(fc.oneof(reportArbitrary, backArbitrary), { minLength: 1, maxLength: 8 })
  .map((items): Input[] =>
    items.map((item, index) =>
      'back' in item
        ? { back: { ...item.back, return_id: `r${index}`, event_id: `${index}` } }
        : { ...item, report: { ...item.report, event_id: `${index}` } },
    ),
  )

test('figures do not depend on the order or repetition of sources and returns (P41, P47)', () => {
  const permuted = inputsArbitrary.chain((inputs) =>
    fc.tuple(
      fc.constant(inputs),
      fc.shuffledSubarray(inputs, { minLength: inputs.length }),
      fc.shuffledSubarray(inputs),
    ),
  )
  fc.assert(
    fc.property(permuted, ([inputs, shuffled, again]) => {
      const expected = orderFigures(accountOf(inputs))
      assert.deepEqual(orderFigures(accountOf([...shuffled, ...again])), expected)
    }),
    { numRuns: 500 },
  )
})

test('lines and returns add up to the order, whatever is reported (P40, P42, P43)', () => {
  fc.assert(
    fc.property(inputsArbitrary, (inputs) => {
      const { gross, net, lines, returns, isHeld } = orderFigures(accountOf(inputs))
      for (const key of ['revenueMicros', 'commissionMicros', 'earningsMicros'] as const) {
        const sum = (rows: readonly Record<typeof key, number>[]) =>
          rows.reduce((all, row) => all + row[key], 0)
        if (lines.length > 0) assert.equal(sum(lines), gross[key])
        if (net.sales > 0) assert.equal(sum(lines) - sum(returns), net[key])
      }
      if (isHeld) assert.deepEqual(net, NOTHING)
    }),
  )
})

test('a full return leaves no sale, no revenue and no commission', () => {
  const inputs = [
    { report: report(), attribution: attribution() },
    { back: goodsBack({ quantity: 4 }) },
    { back: goodsBack({ return_id: 'r2', event_id: '51', product_id: 'B1' }) },
  ]
  assert.deepEqual(orderFigures(accountOf(inputs)).net, NOTHING)
})

test('a fixed payment stays when the goods are returned', () => {
  const epp = attribution({
    terms: { model: 'epp', paymentMicros: micros(1_500_000) },
    sharePpm: 750_000,
  })
  const { net } = orderFigures(
    accountOf([{ report: report(), attribution: epp }, { back: goodsBack({ quantity: 4 }) }]),
  )
  assert.equal(net.commissionMicros, 1_500_000)
  assert.equal(net.earningsMicros, 1_125_000)
  assert.equal(net.revenueMicros, 150_000_000)
})

test('a sale after a paid click counts as a sale and costs nothing more', () => {
  const cpc = attribution({ terms: CPC })
  const { net } = orderFigures(accountOf([{ report: report(), attribution: cpc }]))
  assert.deepEqual(net, { ...NOTHING, sales: 1, revenueMicros: micros(550_000_000) })
})

test('the first attribution stays, unless an exact click arrives while the order is pending', () => {
  const guess = { report: report(), attribution: attribution() }
  const other = { report: report(), attribution: attribution({ clickId: 'bb' }) }
  const exact = {
    report: report(),
    attribution: { ...attribution({ clickId: 'cc' }), model: 'exact' } as const,
  }
  const clickOf = (account: OrderAccount) => account.attribution?.owner.clickId
  assert.equal(clickOf(accountOf([guess, other])), 'aa')
  assert.equal(clickOf(accountOf([guess, exact, other])), 'cc')

  const first = accountOf([guess])
  const lockedMs = locksAt(NOW_MS, 'cpa')
  const before = addReport(first, { ...exact, atMs: lockedMs - 1 }).account
  const after = addReport(first, { ...exact, atMs: lockedMs }).account
  assert.equal(clickOf(before), 'cc')
  assert.equal(clickOf(after), 'aa')
})

test('a pending order ends with the most trusted source, in any order of reports (P41)', () => {
  const sources = (['impression', 'visitor', 'exact'] as const).map((model, index) => ({
    report: report({ event_id: `${index + 1}` }),
    attribution: { ...attribution({ clickId: model, pubId: index }), model },
  }))
  for (const surest of [1, 2, 3]) {
    const inputs = sources.slice(0, surest)
    fc.assert(
      fc.property(
        fc.shuffledSubarray(inputs, { minLength: surest }),
        fc.shuffledSubarray(inputs),
        (shuffled, again) => {
          const expected = sources[surest - 1]?.attribution
          assert.deepEqual(accountOf([...shuffled, ...again]).attribution, expected)
        },
      ),
    )
  }
})

test('a held order counts only after approval, or a report of a trusted source', () => {
  const doubtful = report({ source: 'pixel', hold: 'review' })
  const held = accountOf([{ report: doubtful, attribution: attribution() }])
  assert.deepEqual([orderFigures(held).hold, orderFigures(held).net], ['review', NOTHING])
  const hear = (account: OrderAccount, sent: OrderReport) =>
    addReport(account, { report: sent, attribution: null, atMs: NOW_MS }).account
  const approved = addDecision(held, { kind: 'approve' }, NOW_MS)
  assert.equal(orderFigures(approved).net.sales, 1)
  // Nobody has reviewed this one.
  for (const change of [{ value: '551.00' }, { currency: 'EUR' }, { lines: [] }]) {
    const unseen = hear(approved, { ...doubtful, ...change, event_id: '2' })
    assert.equal(orderFigures(unseen).hold, 'review')
  }
  assert.equal(orderFigures(hear(held, report())).net.sales, 1)
})

test('an order reported as cancelled from the start is not a sale under any model', () => {
  for (const owner of [EPP, attribution(), attribution({ terms: CPC }), null]) {
    const first = accountOf([{ report: report({ is_cancelled: true }), attribution: owner }])
    assert.deepEqual(first.rejection, { reason: 'cancelled', atMs: NOW_MS })
    const placed = report({ source: 'pixel', event_id: '2' })
    const later = addReport(first, { report: placed, attribution: EPP, atMs: NOW_MS + 1 })
    assert.deepEqual(orderFigures(later.account).net, NOTHING)
  }
})

test('a named click takes over from a guess for which nothing is owed (P41)', () => {
  const exact = { ...attribution({ clickId: 'bb', pubId: 6 }), model: 'exact' as const }
  const server = { report: report({ event_id: '2' }), attribution: exact, atMs: NOW_MS + DAY_MS }
  for (const terms of [NO_TERMS, CPC, CPA]) {
    const guess = { report: report({ source: 'pixel' }), attribution: attribution({ terms }) }
    const { account } = addReport(accountOf([guess]), server)
    assert.deepEqual(account.attribution, exact)
    assert.deepEqual(orderFigures(account), orderFigures(accountOf([server, guess])))
  }
})

test('the evidence of an unknown click is completed when the click arrives, and the winner stays', () => {
  const unknown = { id: 'bb', at_ms: null, verdict: 'unknown_click' } as const
  const won = { id: 'aa', at_ms: 1, verdict: 'won' } as const
  const first_report = { report: report(), attribution: attribution(), atMs: NOW_MS }
  const first = addReport(EMPTY_ACCOUNT, { ...first_report, evidence: [unknown, won] }).account
  const foreign = { id: 'bb', at_ms: 2, verdict: 'other_merchant' } as const
  const later = (evidence: Parameters<typeof addReport>[1]['evidence'] = []) =>
    addReport(first, { ...first_report, evidence }).account.evidence
  assert.deepEqual(later([foreign, { ...won, verdict: 'not_named' }]), [foreign, won])
  assert.deepEqual(later([{ ...foreign, verdict: 'won' }]), [unknown, won], 'it did not')
})

test('a held order stays open under any model, and locks when the hold ends', () => {
  const doubtful = report({ source: 'pixel', hold: 'review' })
  const held = accountOf([{ report: doubtful, attribution: EPP }])
  const laterMs = NOW_MS + 5 * DAY_MS
  const stateOf = (account: OrderAccount, atMs: number) =>
    orderState({ ...datesOf(account), paidAtMs: null }, atMs)
  assert.equal(stateOf(held, laterMs), 'PENDING')

  const rejected = addDecision(held, { kind: 'reject', reason: 'fraud' }, laterMs)
  assert.equal(stateOf(rejected, laterMs), 'REJECTED')

  const approved = addDecision(held, { kind: 'approve' }, laterMs)
  assert.equal(datesOf(approved).locksAtMs, laterMs)
  const tooLate = addDecision(approved, { kind: 'reject', reason: 'fraud' }, laterMs)
  assert.equal(stateOf(tooLate, laterMs), 'LOCKED')

  const reportByServer = (changes: Partial<OrderReport>) =>
    addReport(held, { report: report(changes), attribution: null, atMs: laterMs }).account
  assert.equal(
    datesOf(reportByServer({})).locksAtMs,
    laterMs,
    'the server’s word is a decision too',
  )
  assert.equal(stateOf(reportByServer({ is_cancelled: true }), laterMs), 'REJECTED')

  const sale = accountOf([{ report: doubtful, attribution: attribution() }])
  const lockedMs = locksAt(NOW_MS, 'cpa')
  const inTime = addDecision(sale, { kind: 'approve' }, laterMs)
  assert.equal(datesOf(inTime).locksAtMs, lockedMs, 'a decision within the lock does not extend it')
})

test('a cancelled order counts again if a more trusted source says so while it is open (P41)', () => {
  const cancelled = { report: report({ source: 'import', is_cancelled: true }) }
  const placed = { report: report(), attribution: attribution() }
  const first = accountOf([{ ...cancelled, attribution: attribution() }])
  const later = (days: number) => ({ ...placed, atMs: NOW_MS + days * DAY_MS })
  const expected = orderFigures(accountOf([placed, { ...cancelled, attribution: null }]))
  assert.deepEqual(orderFigures(addReport(first, later(89)).account), expected)
  assert.equal(addReport(first, later(90)).ignored, 'rejected')
  const person = addDecision(accountOf([placed]), { kind: 'reject', reason: 'cancelled' }, NOW_MS)
  assert.equal(addReport(person, later(1)).ignored, 'rejected', 'a person’s word stands')
})

test('no order locks before its click was found, and a repeat does not change its lock', () => {
  const found = { report: report(), attribution: EPP, atMs: NOW_MS + DAY_MS }
  const owedToNobody = accountOf([{ report: report(), attribution: null }])
  assert.equal(datesOf(addReport(owedToNobody, found).account).locksAtMs, found.atMs)
  const locked = accountOf([{ report: report(), attribution: EPP }])
  assert.equal(datesOf(addReport(locked, found).account).locksAtMs, NOW_MS)
})

test('a locked order stands while a later report is held, which counts once approved', () => {
  const atMs = NOW_MS + DAY_MS
  const hear = (account: OrderAccount, changes: Partial<OrderReport>) =>
    addReport(account, { report: report(changes), attribution: null, atMs }).account
  const locked = accountOf([{ report: report(), attribution: EPP }])
  const foreign = { currency: 'JPY', value_micros: null, hold: 'no_rate' } as const
  const waiting = hear(hear(locked, { ...foreign, event_id: '2' }), { ...foreign, event_id: '3' })
  assert.deepEqual(orderFigures(waiting), { ...orderFigures(locked), hold: 'no_rate' })
  assert.equal(datesOf(waiting).locksAtMs, NOW_MS)
  const converted = orderFigures(hear(waiting, { event_id: '4', value_micros: 80_083_106 }))
  assert.equal(converted.net.revenueMicros, 80_083_106)

  const dear = { value: '9000.00', value_micros: 9_000_000_000 }
  const doubtful = hear(locked, { ...dear, event_id: '2', hold: 'review' })
  assert.deepEqual(orderFigures(doubtful).net, orderFigures(locked).net)
  const { net } = orderFigures(addDecision(doubtful, { kind: 'approve' }, atMs))
  assert.equal(net.revenueMicros, 9_000_000_000)
})

test('an order without a rate counts when the same report arrives with one', () => {
  const waiting = report({ currency: 'JPY', value_micros: null, rate_id: null, hold: 'no_rate' })
  const held = accountOf([{ report: waiting, attribution: attribution() }])
  assert.equal(orderFigures(held).hold, 'no_rate')
  const later = { ...waiting, event_id: '2', value_micros: 80_083_106, hold: null }
  const { account } = addReport(held, { report: later, attribution: null, atMs: NOW_MS + DAY_MS })
  assert.equal(orderFigures(account).net.revenueMicros, 80_083_106)
})

test('a pending order can be cancelled or rejected, and a locked one keeps its commission', () => {
  const open = accountOf([{ report: report(), attribution: attribution() }])
  const cancel = report({ event_id: '2', is_cancelled: true })
  const lockedMs = locksAt(NOW_MS, 'cpa')
  const cancelled = addReport(open, { report: cancel, attribution: null, atMs: lockedMs - 1 })
  assert.deepEqual(cancelled.account.rejection, { reason: 'cancelled', atMs: lockedMs - 1 })
  assert.deepEqual(orderFigures(cancelled.account).net, NOTHING)

  const late = addReport(open, { report: cancel, attribution: null, atMs: lockedMs })
  assert.equal(late.account, open)
  const bought = accountOf([{ report: report(), attribution: EPP }])
  const undone = addReport(bought, { report: cancel, attribution: null, atMs: NOW_MS + 1 })
  assert.equal(undone.account.rejection, null)
  assert.equal(orderFigures(undone.account).net.commissionMicros, 1_500_000)
  assert.equal(orderFigures(undone.account).net.sales, 0)
  const reject = { kind: 'reject', reason: 'fraud' } as const
  assert.equal(addDecision(open, reject, lockedMs).rejection, null)
  assert.equal(addDecision(open, reject, lockedMs - 1).rejection?.reason, 'fraud')
  assert.equal(addDecision(EMPTY_ACCOUNT, reject, lockedMs).rejection, null)
})

test('amounts are final after the period, and the report says so', () => {
  const open = accountOf([{ report: report(), attribution: attribution() }])
  const change = report({ event_id: '2', value_micros: 1 })
  const revision = { report: change, attribution: null }
  const inTime = addReport(open, { ...revision, atMs: NOW_MS + AMOUNTS_OPEN_MS - 1 })
  assert.equal(orderFigures(inTime.account).net.revenueMicros, 1)
  const late = addReport(open, { ...revision, atMs: NOW_MS + AMOUNTS_OPEN_MS })
  assert.equal(late.ignored, 'amounts_closed')
  assert.equal(late.account, open)
})

test('a return of more than was bought is refused with its reason and changes nothing', () => {
  const figures = orderFigures(
    accountOf([
      { report: report(), attribution: attribution() },
      { back: goodsBack({ quantity: 5 }) },
      { back: goodsBack({ return_id: 'r2', event_id: '51', product_id: 'C1' }) },
    ]),
  )
  assert.deepEqual(figures.refused, [
    { return_id: 'r1', reason: 'over_quantity' },
    { return_id: 'r2', reason: 'unknown_line' },
  ])
  assert.deepEqual(figures.net, figures.gross)
})
