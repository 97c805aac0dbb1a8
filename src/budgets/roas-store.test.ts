import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addClicks,
  addOrder,
  BID_MICROS,
  makeCampaign,
} from '../../test/support/campaign-clicks.ts'
import { loadCohorts } from '../evaluation/cohort-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { saveModel } from '../prediction/model-store.ts'
import { UNFITTED_MODEL } from '../prediction/prediction-model.ts'
import { loadRoasMultipliers, stepRoasMultipliers } from './roas-store.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z') // a Monday
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** REASON of events, a higher folder. */
const DUPLICATE_VISITOR = 21
/** Readers who buy within the hour. */
const AT_ONCE = { ...UNFITTED_MODEL, delayCurve: [1, 0, 0, 0, 0, 0] }

test('a goal that is missed lowers the bid step by step, one that is met lets it rise', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 100, { atMs: NOON - DAY })
  assert.equal(await stepRoasMultipliers(db, NOON), 1)
  const first = (await loadRoasMultipliers(db)).get(1) ?? 1
  assert(Math.abs(first - Math.exp(-0.01)) < 1e-9, String(first)) // Nothing came back at all.
  await stepRoasMultipliers(db, NOON + HOUR)
  assert(Math.abs(((await loadRoasMultipliers(db)).get(1) ?? 1) - Math.exp(-0.02)) < 1e-9)

  // Ten times what was spent.
  await addOrder(db, 'large', { sold: 1_000 * BID_MICROS, kept: 1_000 * BID_MICROS })
  await stepRoasMultipliers(db, NOON + 2 * HOUR)
  assert(((await loadRoasMultipliers(db)).get(1) ?? 0) > Math.exp(-0.02))
})

test('an hour’s step that is done again, because its worker was killed, changes no bid', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 100, { atMs: NOON - DAY })
  assert.equal(await stepRoasMultipliers(db, NOON + 5 * 60_000), 1)
  const stepped = await loadRoasMultipliers(db)
  assert.equal(await stepRoasMultipliers(db, NOON + HOUR - 1), 0)
  assert.deepEqual(await loadRoasMultipliers(db), stepped)
  assert.equal(await stepRoasMultipliers(db, NOON + HOUR), 1)
})

test('a goal is judged by clicks whose orders are due, so that new ones slow no campaign', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 1000, { atMs: NOON - HOUR })
  // The goal of four dollars a dollar is met: of all orders a fifth comes within an hour.
  await addOrder(db, 'early', { sold: 880 * BID_MICROS, kept: 880 * BID_MICROS })
  const step = async () => {
    await stepRoasMultipliers(db, NOON)
    await db.run(sql`update roas_multiplier set stepped_at = stepped_at - interval '1 hour'`)
    return (await loadRoasMultipliers(db)).get(1)
  }
  assert.equal(await step(), 1)
  const slow = { ...UNFITTED_MODEL, delayCurveByMerchant: { 1: [0, 0, 0, 0, 0, 1] } }
  await saveModel(db, { model: slow, day: '2026-04-13', nowMs: NOON })
  await db.run(sql`update merchant_order set net_revenue_micros = 0`)
  assert.equal(await step(), 1, 'of a slow merchant too little is due to say anything')
  await saveModel(db, { model: UNFITTED_MODEL, day: '2026-04-13', nowMs: NOON })
  assert((await step()) === Math.exp(-0.01), 'nothing came of what is due')
})

test('a goal is judged by the campaign’s own clicks that were paid and have come by now', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 100, { atMs: NOON - DAY })
  const isStepped = async () => {
    const campaigns = await stepRoasMultipliers(db, NOON)
    const multiplier = (await loadRoasMultipliers(db)).get(1) ?? 1
    await db.run(sql`delete from roas_multiplier`)
    return campaigns === 1 && multiplier < 1
  }
  assert(await isStepped())
  for (const [gone, back] of [
    [sql`reason = 2`, sql`reason = 0`],
    [sql`reversed_at = at`, sql`reversed_at = null`],
    [sql`campaign_id = 2`, sql`campaign_id = 1`],
    [sql`at = at + interval '25 hours'`, sql`at = at - interval '25 hours'`],
  ] as const) {
    await db.run(sql`update click set ${gone}`)
    assert(!(await isStepped()), gone.text)
    await db.run(sql`update click set ${back}`)
  }
  for (const [gone, back] of [
    [sql`state = 'paused'`, sql`state = 'active'`],
    [sql`roas = null`, sql`roas = 4`],
  ] as const) {
    await db.run(sql`update campaign set ${gone}`)
    assert(!(await isStepped()), gone.text)
    await db.run(sql`update campaign set ${back}`)
  }
  assert(await isStepped())
})

test('a goal is judged by orders that clicks led to, each weighed as its click is', async (t) => {
  const db = await makeCampaign(t)
  await saveModel(db, { model: AT_ONCE, day: '2026-04-12', nowMs: NOON })
  await addClicks(db, 100, { atMs: NOON - 14 * DAY })
  await addClicks(db, 100, { atMs: NOON - 7 * DAY })
  await addOrder(db, 'old', { sold: 600 * BID_MICROS, kept: 600 * BID_MICROS })
  const step = async () => {
    await stepRoasMultipliers(db, NOON)
    const multiplier = (await loadRoasMultipliers(db)).get(1) ?? 1
    await db.run(sql`delete from roas_multiplier`)
    return multiplier
  }
  // A quarter of the order's 600 bids over a quarter and a half of a hundred: half of the goal.
  assert(Math.abs((await step()) - Math.exp(-0.005)) < 1e-5)
  await db.run(sql`update merchant_order set attribution = 'impression'`)
  assert(Math.abs((await step()) - Math.exp(-0.01)) < 1e-9)
})

test('a sale to a reader who clicked twice counts for goal and forecast, though one click does', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 100, { atMs: NOON - DAY })
  await addClicks(db, 1, { atMs: NOON - DAY + 60_000, reason: DUPLICATE_VISITOR })
  await db.run(sql`update click set paid_micros = 0 where reason <> 0`)
  await addOrder(db, 'sold', { sold: 1_000 * BID_MICROS, kept: 1_000 * BID_MICROS })
  await db.run(sql`
    update merchant_order set click_id = (select click_id from click where reason <> 0)`)
  await db.run(sql`insert into roas_multiplier values (1, 0.5, ${new Date(NOON - HOUR)})`)
  await stepRoasMultipliers(db, NOON)
  assert(((await loadRoasMultipliers(db)).get(1) ?? 0) > 0.5)
  await db.run(sql`update merchant_order set accepted_at = ${new Date(NOON - HOUR)}`)
  const range = { fromMs: NOON - 10 * DAY, toMs: NOON, slotMs: DAY }
  const orders = [{ slot: Math.floor((NOON - HOUR) / DAY), count: 1 }]
  const [pair] = await loadCohorts(db, range)
  assert.deepEqual([pair?.clicks, pair?.orders], [100, orders])
})
