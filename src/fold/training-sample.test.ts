import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import fc from '../../test/support/fast-check.ts'
import { clickId, MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { EVENT_TYPE, MODEL, type StoredEvent } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { sql } from '../platform/postgres/sql.ts'
import { HOUR_MS } from '../platform/time/timestamp.ts'
import {
  addEvidence,
  clickEvidence,
  type Evidence,
  evidenceAt,
  noEvidence,
  orderEvidence,
} from '../prediction/evidence.ts'
import { loadEvidence } from '../prediction/evidence-store.ts'
import { foldMoney } from './fold-money.ts'

const END_MS = START_MS + 2_000 * HOUR_MS
const db = await testDatabase()

const hours = fc.integer({ min: 0, max: 600 })
const amount = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 99_999 }))
const clickArbitrary = fc.record({
  pubId: fc.constantFrom(5, 6),
  merchId: fc.constantFrom(3, 4),
  hour: hours,
  isEpp: fc.boolean(), // Its orders are locked at once: a reversal cannot reject them.
  reason: fc.constantFrom(REASON.ok, REASON.ok, REASON.robot, REASON.unfunded),
  reversedAfter: fc.option(hours),
  order: fc.option(
    fc.record({
      after: fc.integer({ min: 0, max: 400 }),
      cents: amount,
      revised: fc.option(amount),
      rejectedAfter: fc.option(hours),
    }),
  ),
})
type Story = typeof clickArbitrary extends fc.Arbitrary<infer T> ? T : never

test('reversed clicks and rejected orders leave the evidence as if they had never been', async () => {
  const property = fc.asyncProperty(
    fc.array(clickArbitrary, { maxLength: 6 }),
    fc.integer({ min: 1, max: 9 }),
    async (stories, batchSize) => {
      await db.run(sql`truncate click, merchant_order, order_line, stats_day, stats_change,
        ledger_line, ledger_transaction, click_debt, pair_evidence`)
      const log = eventsOf(stories)
      for (let at = 0; at < log.length; at += batchSize) {
        await db.transaction((tx) => foldMoney(tx, log.slice(at, at + batchSize)))
      }
      const found = new Map(
        (await loadEvidence(db, 40)).map(({ pubId, merchId, evidence }) => [
          `${pubId} ${merchId}`,
          evidence,
        ]),
      )
      for (const pair of ['5 3', '5 4', '6 3', '6 4']) {
        const standing = stories.flatMap((story) =>
          `${story.pubId} ${story.merchId}` === pair ? whatStands(story) : [],
        )
        assertSame(found.get(pair) ?? noEvidence(END_MS), standing, pair)
      }
    },
  )
  await fc.assert(property, { numRuns: 60 })
})

function eventsOf(stories: readonly Story[]): StoredEvent[] {
  const events = new MoneyEvents()
  const log = stories.flatMap((story, index) => {
    const { pubId, merchId, order } = story
    const [name, orderId] = [`c${index}`, `o${index}`]
    const atMs = START_MS + story.hour * HOUR_MS
    const model = story.isEpp ? MODEL.epp : MODEL.cpa
    const { reason } = story
    const logged = [events.click(name, atMs, { pubId, merchId, model, reason, campaignId: null })]
    if (order !== null) {
      const orderedMs = atMs + order.after * HOUR_MS
      const orderOf = (cents: number, laterMs: number) => {
        const report = { value_micros: cents * 10_000, lines: [], updated_at_ms: laterMs }
        return events.order(orderId, orderedMs + laterMs, { click: name, merchId, report })
      }
      logged.push(orderOf(order.cents, 0))
      if (order.revised !== null) logged.push(orderOf(order.revised, HOUR_MS))
      if (order.rejectedAfter !== null) {
        const decidedMs = orderedMs + (2 + order.rejectedAfter) * HOUR_MS
        const rejection = { kind: 'reject', reason: 'fraud' }
        logged.push({ ...events.decision(orderId, decidedMs, rejection), merchId })
      }
    }
    if (story.reversedAfter !== null) {
      const body = JSON.stringify({ click_id: clickId(name), reason: 'bought' })
      const type = EVENT_TYPE.reversal
      logged.push(events.at(atMs + (1 + story.reversedAfter) * HOUR_MS, { type, body }))
    }
    return logged
  })
  return log.sort((one, other) => one.atMs - other.atMs || Number(one.id) - Number(other.id))
}

/** The training samples of a story, from the story and not from the fold. */
function whatStands(story: Story): Evidence[] {
  const { order, reversedAfter, reason, isEpp } = story
  const atMs = START_MS + story.hour * HOUR_MS
  const isReader = reason !== REASON.robot && reversedAfter === null
  // One found invalid later says nothing of the shop, as it had cost nothing before its order.
  const isValid = isReader && reason === REASON.ok
  const click = isValid ? [clickEvidence(atMs, { isValid })] : []
  if (order === null || !isReader || order.after > 30 * 24) return click
  // An order that nobody must return for (EPP) is locked when it comes: no rejection reaches it.
  if (order.rejectedAfter !== null && !isEpp) return click
  const cents = order.revised ?? order.cents
  if (cents === 0) return click // A gift is not what readers buy.
  return [...click, orderEvidence(atMs, cents * 10_000)]
}

test('robots, repeats and floods lower the quality of no merchant that they click on', async () => {
  await db.run(sql`truncate click, merchant_order, order_line, stats_day, stats_change,
    ledger_line, ledger_transaction, click_debt, pair_evidence`)
  const events = new MoneyEvents()
  const visitorKey = Buffer.alloc(8, 1)
  const first = events.click('first', START_MS, { visitorKey })
  const said = Object.values(REASON).filter((reason) => reason !== REASON.ok)
  const log = [
    first,
    // The same result, then the same reader: what the fold itself does not pay.
    events.click('replayed', START_MS + 1, { resultNumber: first.resultNumber }),
    events.click('again', START_MS + 2, { visitorKey }),
    ...said.map((reason) => events.click(`reason ${reason}`, START_MS + 3, { reason })),
  ]
  await db.transaction((tx) => foldMoney(tx, log))
  const [pair] = await loadEvidence(db, 40)
  assert.deepEqual([pair?.evidence.clicks, pair?.evidence.invalid], [1, 0])
})

function assertSame(found: Evidence, standing: readonly Evidence[], pair: string): void {
  const end = noEvidence(END_MS)
  const expected = standing.reduce((sum, part) => addEvidence(sum, part, 40), end)
  const now = evidenceAt(found, END_MS, 40)
  const numbers = ({ unripe, ...sums }: Evidence) => [
    ...Object.entries(sums),
    ...unripe.map((count, part): [string, number] => [`unripe ${part}`, count]),
  ]
  const seen = new Map(numbers(now))
  for (const [name, value] of numbers(expected)) {
    const got = seen.get(name) ?? Number.NaN
    const slack = 1e-9 * Math.max(name === 'value' ? 1e9 : 1, Math.abs(value)) // of $1,000
    assert(Math.abs(got - value) <= slack, `${pair} ${name}: ${got}, not ${value}`)
  }
}
