/**
 * Two programs that share nothing, the fold and reconcile's SQL, on histories that nobody thought
 * of: whatever is told in whatever order, they come to the same figures.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import fc from '../../test/fast-check.ts'
import { openFoldedLog } from '../../test/fold-log.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/money-events.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { EVENT_TYPE, MODEL, type StoredEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { sql } from '../platform/sql.ts'
import { reconcile } from './reconcile.ts'
import { issueStatements } from './statement-store.ts'

const HOUR_MS = 3_600_000
const db = await testDatabase()
const log = openFoldedLog({ after }, db)
const worlds = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')] as const
const merchId = worlds[0].merchant.merch_id
const campaigns = [await worlds[0].addCampaign(), await worlds[0].addCampaign()]
const articles = [await worlds[0].addArticle('One'), await worlds[1].addArticle('Two')] as const
const CLICKS = ['a', 'b', 'c', 'd'] as const

const clickArbitrary = fc.record({
  kind: fc.constant('click'),
  name: fc.constantFrom(...CLICKS),
  world: fc.constantFrom(0, 1),
  campaign: fc.constantFrom(...campaigns, null),
  terms: fc.constantFrom(
    { model: MODEL.cpc, priceMicros: 399_999, reservedMicros: 399_999 },
    { model: MODEL.cpa, priceMicros: 81_234 },
    { model: MODEL.epp, priceMicros: 1_500_001 },
  ),
  sharePpm: fc.constantFrom(750_000, 333_333),
  reason: fc.constantFrom(REASON.ok, REASON.ok, REASON.ok, REASON.unfunded, REASON.robot),
  visitor: fc.constantFrom(null, 'v1', 'v2'),
  result: fc.constantFrom('r1', 'r2', 'r3', 'r4'),
  isElsewhere: fc.constantFrom(false, false, true), // at another merchant
})
const viewArbitrary = fc.record({
  kind: fc.constant('view'),
  name: fc.constantFrom(...CLICKS), // whose page session it is
  reason: fc.constantFrom(REASON.ok, REASON.ok, REASON.robot),
})
const linesArbitrary = fc.array(
  fc.tuple(
    fc.constantFrom('A1', 'B 1', 'ö/%'),
    fc.integer({ min: 0, max: 5000 }),
    fc.integer({ min: 1, max: 4 }),
  ),
  { maxLength: 4 },
)
const orderArbitrary = fc.record({
  kind: fc.constant('order'),
  id: fc.constantFrom('o1', 'o 2'),
  source: fc.constantFrom('pixel', 'import', 's2s'),
  exact: fc.option(fc.constantFrom(...CLICKS)),
  remembered: fc.option(fc.constantFrom(...CLICKS)),
  paysForSeen: fc.boolean(),
  valueMicros: fc.option(fc.constantFrom(0, 10_000, 550_000_000, 123_456_789)),
  updatedHours: fc.integer({ min: -2, max: 2 }),
  lines: linesArbitrary,
  isCancelled: fc.constantFrom(false, false, false, true),
  isHeld: fc.constantFrom(false, false, true),
  isElsewhere: fc.constantFrom(false, false, true), // of another merchant, by the same id
})
const returnArbitrary = fc.record({
  kind: fc.constant('return'),
  id: fc.constantFrom('o1', 'o 2'),
  returnId: fc.constantFrom('r1', 'r2', 'r3'),
  product: fc.constantFrom('A1', 'B 1', 'ö/%', null),
  line: fc.constantFrom(null, null, 0, 1),
  quantity: fc.integer({ min: 1, max: 3 }),
})
const decisionArbitrary = fc.record({
  kind: fc.constant('decision'),
  id: fc.constantFrom('o1', 'o 2'),
  decision: fc.constantFrom({ kind: 'approve' }, { kind: 'reject', reason: 'fraud' }),
})
const reversalArbitrary = fc.record({
  kind: fc.constant('reversal'),
  name: fc.constantFrom(...CLICKS),
})
const paymentArbitrary = fc.record({
  kind: fc.constant('payment'),
  reference: fc.constantFrom('p1', 'p2'),
  micros: fc.integer({ min: 1, max: 60_000_000 }),
})
const paymentReversalArbitrary = fc.record({
  kind: fc.constant('paymentReversal'),
  reference: fc.constantFrom('p1', 'p2'),
})
type Told =
  | Item<typeof clickArbitrary>
  | Item<typeof orderArbitrary>
  | Item<typeof viewArbitrary>
  | Item<typeof returnArbitrary>
  | Item<typeof decisionArbitrary>
  | Item<typeof reversalArbitrary>
  | Item<typeof paymentArbitrary>
  | Item<typeof paymentReversalArbitrary>
type Item<A> = A extends fc.Arbitrary<infer T> ? T : never

const historyArbitrary = fc.array(
  fc.record({
    afterHours: fc.constantFrom(0, 0, 0.2, 1, 30, 2000),
    told: fc.oneof(
      { arbitrary: clickArbitrary, weight: 5 },
      { arbitrary: orderArbitrary, weight: 5 },
      { arbitrary: viewArbitrary, weight: 3 },
      { arbitrary: returnArbitrary, weight: 3 },
      { arbitrary: decisionArbitrary, weight: 1 },
      { arbitrary: reversalArbitrary, weight: 1 },
      { arbitrary: paymentArbitrary, weight: 1 },
      { arbitrary: paymentReversalArbitrary, weight: 1 },
    ) as fc.Arbitrary<Told>,
  }),
  { minLength: 4, maxLength: 30 },
)

/** Viewable impressions so far, by the click of their page session. */
type Views = Map<string, { impression_id: string; at_ms: number; click_id: string }[]>

function eventOf(events: MoneyEvents, told: Told, atMs: number, views: Views): StoredEvent {
  switch (told.kind) {
    case 'click': {
      const article = articles[told.world as 0 | 1]
      return events.click(told.name, atMs, {
        merchId: told.isElsewhere ? worlds[1].merchant.merch_id : merchId,
        sessionKey: sessionOf(told.name),
        pubId: worlds[told.world as 0 | 1].publisher.pub_id,
        auctionId: article.auctionId,
        campaignId: told.campaign,
        ...told.terms,
        sharePpm: told.sharePpm,
        reason: told.reason,
        resultNumber: Buffer.from(clickId(told.result), 'hex'),
        visitorKey: told.visitor === null ? null : Buffer.from(told.visitor.padEnd(16)),
      })
    }
    case 'order': {
      const report = {
        source: told.source as 'pixel' | 'import' | 's2s',
        updated_at_ms: atMs + told.updatedHours * HOUR_MS,
        value_micros: told.valueMicros,
        lines: told.lines.map(([id, cents, quantity]) => orderLine(id, cents, quantity)),
        is_cancelled: told.isCancelled,
        hold: told.isHeld ? ('review' as const) : null,
      }
      return events.order(told.id, atMs, {
        merchId: told.isElsewhere ? worlds[1].merchant.merch_id : merchId,
        report,
        ...(told.exact === null ? {} : { exact: told.exact }),
        ...(told.remembered === null ? {} : { click: told.remembered }),
        ...(told.paysForSeen
          ? { postImpression: { rate_ppm: 31_007, seen: views.get(told.remembered ?? '') ?? [] } }
          : {}),
      })
    }
    case 'view':
      return viewEvent(events, told, atMs, views)
    case 'return': {
      const { returnId: return_id, product: product_id, line, quantity } = told
      return {
        ...events.goodsBack(told.id, atMs, { return_id, product_id, line, quantity }),
        merchId,
      }
    }
    case 'decision':
      return { ...events.decision(told.id, atMs, told.decision), merchId }
    case 'reversal': {
      const body = JSON.stringify({ click_id: clickId(told.name), reason: 'bought' })
      return events.at(atMs, { type: EVENT_TYPE.reversal, body })
    }
    case 'payment': {
      const { reference, micros: amount_micros } = told
      const body = JSON.stringify({ reference, paid_on: '2026-03-01', amount_micros })
      return events.at(atMs, { type: EVENT_TYPE.payment, merchId, body })
    }
    case 'paymentReversal': {
      const body = JSON.stringify({ reference: told.reference, reason: 'bounced' })
      return events.at(atMs, { type: EVENT_TYPE.paymentReversal, merchId, body })
    }
    default:
      throw new Error('unknown kind')
  }
}

/** Intake names only what counts: robots see nothing. */
function viewEvent(
  events: MoneyEvents,
  { name, reason }: Item<typeof viewArbitrary>,
  atMs: number,
  views: Views,
): StoredEvent {
  const pubId = worlds[0].publisher.pub_id
  const event = events.at(atMs, {
    ...{ type: EVENT_TYPE.linkViewable, lane: viewLane(pubId), pubId, reason },
    ...{ auctionId: articles[0].auctionId, sessionKey: sessionOf(name) },
  })
  const seen = { impression_id: event.id, at_ms: atMs, click_id: clickId(name) }
  if (reason === REASON.ok) views.set(name, [...(views.get(name) ?? []), seen])
  return event
}

function sessionOf(name: string): Buffer {
  return Buffer.from(`session ${name}`.padEnd(16))
}

const CLICK_A = {
  ...{ kind: 'click', name: 'a', world: 0, campaign: campaigns[0] ?? 0, isElsewhere: false },
  terms: { model: MODEL.cpa, priceMicros: 81_234 },
  ...{ sharePpm: 750_000, reason: REASON.ok, visitor: null, result: 'r1' },
} satisfies Told

/** A reader who clicks another shop’s link, sees this one’s, and buys there: rare by chance. */
const SEEN_ONLY: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: { ...CLICK_A, isElsewhere: true } },
  { afterHours: 0.2, told: { kind: 'view', name: 'a', reason: REASON.ok } },
  {
    afterHours: 1,
    told: {
      ...{ kind: 'order', id: 'o1', source: 's2s', exact: null, remembered: 'a', lines: [] },
      ...{ paysForSeen: true, valueMicros: 550_000_000, updatedHours: 0 },
      ...{ isCancelled: false, isHeld: false, isElsewhere: false },
    },
  },
]

const WAITING_ORDER = {
  ...{ kind: 'order', id: 'o1', source: 's2s', exact: null, remembered: null, lines: [] },
  ...{ paysForSeen: false, updatedHours: 0, isCancelled: false, isHeld: false, isElsewhere: false },
} satisfies Partial<Told>

const BASKET: Item<typeof linesArbitrary> = [
  ['A1', 1000, 1],
  ['B 1', 3000, 2],
]

/** What only the merchant's tag remembers of a click: some runs have no such order. */
const REMEMBERED: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: CLICK_A },
  { afterHours: 1, told: { ...WAITING_ORDER, remembered: 'a', valueMicros: 550_000_000 } },
]

/** Known by one click, buys in two shops that number alike; the click is taken back. */
const SAME_NUMBER: { afterHours: number; told: Told }[] = [
  ...SEEN_ONLY,
  {
    afterHours: 0,
    told: { ...WAITING_ORDER, isElsewhere: true, exact: 'a', valueMicros: 550_000_000 },
  },
  { afterHours: 1, told: { kind: 'reversal', name: 'a' } },
]

const WAITED_FOR_NOBODY: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: { ...WAITING_ORDER, valueMicros: null } },
  { afterHours: 1, told: { ...WAITING_ORDER, valueMicros: 10_000 } },
  {
    afterHours: 1,
    told: { kind: 'decision', id: 'o1', decision: { kind: 'reject', reason: 'fraud' } },
  },
]

/** Paid per purchase and so locked at once: a revision in a currency without a rate, then one. */
const HELD_WHEN_LOCKED: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: { ...CLICK_A, terms: { model: MODEL.epp, priceMicros: 1_500_001 } } },
  { afterHours: 1, told: { ...WAITING_ORDER, exact: 'a', valueMicros: 123_456_789 } },
  { afterHours: 30, told: { kind: 'payment', reference: 'p1', micros: 1_500_001 } },
  { afterHours: 1, told: { ...WAITING_ORDER, valueMicros: null } },
  {
    afterHours: 1,
    told: {
      ...{ kind: 'return', id: 'o1', returnId: 'r1' },
      ...{ product: null, line: 0, quantity: 1 },
    },
  },
]
const RELEASED_WHEN_LOCKED = [
  ...HELD_WHEN_LOCKED,
  { afterHours: 2000, told: { ...WAITING_ORDER, valueMicros: 10_000 } },
]

/** The merchant takes its word back, the click is found invalid, and the order is told again. */
const CANCELLED_AND_REVERSED: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: CLICK_A },
  { afterHours: 1, told: { ...WAITING_ORDER, exact: 'a', valueMicros: 550_000_000 } },
  { afterHours: 1, told: { ...WAITING_ORDER, isCancelled: true, valueMicros: 550_000_000 } },
  { afterHours: 1, told: { kind: 'reversal', name: 'a' } },
  { afterHours: 1, told: { ...WAITING_ORDER, valueMicros: 550_000_000 } },
]

/** Goods come back, and the order is told again by its value alone; an older report comes late. */
const TOLD_BY_VALUE: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: CLICK_A },
  {
    afterHours: 0,
    told: { ...WAITING_ORDER, exact: 'a', valueMicros: 550_000_000, lines: BASKET },
  },
  {
    afterHours: 1,
    told: {
      ...{ kind: 'return', id: 'o1', returnId: 'r1' },
      ...{ product: 'A1', line: null, quantity: 1 },
    },
  },
  { afterHours: 1, told: { ...WAITING_ORDER, valueMicros: 123_456_789 } },
  {
    afterHours: 1,
    told: { ...WAITING_ORDER, valueMicros: 10_000, updatedHours: -2, lines: BASKET.toReversed() },
  },
  { afterHours: 0, told: { ...WAITING_ORDER, valueMicros: 10_000, updatedHours: -2 } },
]

/** Amounts may no longer change, but of what waits. */
const HELD_FOR_LONG: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: CLICK_A },
  { afterHours: 1, told: { ...WAITING_ORDER, exact: 'a', valueMicros: null } },
  { afterHours: 3000, told: { ...WAITING_ORDER, valueMicros: 550_000_000 } },
]

/** Paid for in advance, and in the log when its month has its statement. */
const PAID_CLICK = {
  ...CLICK_A,
  terms: { model: MODEL.cpc, priceMicros: 399_999, reservedMicros: 399_999 },
} satisfies Told
const TOLD_LATE: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: PAID_CLICK },
  { afterHours: 1, told: { kind: 'payment', reference: 'p1', micros: 60_000_000 } },
  { afterHours: 0, told: { ...PAID_CLICK, name: 'b', result: 'r2' } },
]

/** Its money came and went; what it pays next covers that before the click behind it. */
const TAKEN_BACK: { afterHours: number; told: Told }[] = [
  { afterHours: 0, told: PAID_CLICK },
  { afterHours: 30, told: { kind: 'payment', reference: 'p1', micros: 60_000_000 } },
  { afterHours: 1, told: { kind: 'paymentReversal', reference: 'p1' } },
  { afterHours: 1, told: { kind: 'paymentReversal', reference: 'p1' } },
  { afterHours: 30, told: { ...PAID_CLICK, name: 'b', result: 'r2' } },
  { afterHours: 30, told: { kind: 'payment', reference: 'p2', micros: 60_000_000 } },
]

const differences = async () => (await reconcile(db, { from: null, to: null })).differences

test('whatever is told, the fold and the SQL of reconcile come to the same figures', async () => {
  const attributions = new Set<string>()
  await fc.assert(
    fc.asyncProperty(historyArbitrary, fc.nat(30), async (history, early) => {
      await db.run(sql`alter table ledger_transaction disable trigger user`)
      await db.run(sql`
        truncate event, click, merchant_order, order_line, order_return, order_return_line,
          stats_day, stats_change, ledger_line, ledger_transaction, click_debt, merchant_payment,
          statement, budget_account, link_day, seen_link`)
      const events = new MoneyEvents()
      let atMs = START_MS
      const seen = new Set<string>()
      const views: Views = new Map()
      const told = history.flatMap(({ afterHours, told }) => {
        atMs += afterHours * HOUR_MS
        // The edge mints a click id once.
        if (told.kind === 'click' && seen.has(told.name)) return []
        if (told.kind === 'click') seen.add(told.name)
        return [eventOf(events, told, atMs, views)]
      })
      // Months get their statements, and are told more of after that.
      for (const [index, part] of [told.slice(0, early), told.slice(early)].entries()) {
        await log.tell(...part)
        if (index > 0) assert.deepEqual(await differences(), [], 'told after its statement')
        await issueStatements(db, { now: new Date(atMs + (index + 1) * 3000 * HOUR_MS) })
      }
      assert.deepEqual(await differences(), [])
      const models = await db.rows<{ attribution: string }>(sql`
        select attribution from merchant_order where attribution is not null`)
      for (const { attribution } of models) attributions.add(attribution)
    }),
    {
      numRuns: 40,
      examples: [
        [SEEN_ONLY, 30],
        [REMEMBERED, 30],
        [SAME_NUMBER, 30],
        [WAITED_FOR_NOBODY, 30],
        [HELD_WHEN_LOCKED, 30],
        [RELEASED_WHEN_LOCKED, 30],
        [CANCELLED_AND_REVERSED, 30],
        [TOLD_BY_VALUE, 30],
        [HELD_FOR_LONG, 30],
        [TOLD_LATE, 2],
        [TAKEN_BACK, 3],
      ],
    },
  )
  assert.deepEqual([...attributions].toSorted(), ['exact', 'impression', 'visitor'])
})
