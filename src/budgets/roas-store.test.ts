import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addClicks,
  addOrder,
  BID_MICROS,
  makeCampaign,
} from '../../test/support/campaign-clicks.ts'
import { loadCohorts } from '../evaluation/cohort-store.ts'
import type { Database } from '../platform/postgres/postgres.ts'
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

/** An order of each so many-th click. */
async function brings(db: Database, every: number, micros: { sold: number; kept: number }) {
  await db.run(sql`
    insert into merchant_order (merch_id, order_id, account, is_posted, day, click_id, pub_id,
      accepted_at, revenue_micros, net_revenue_micros, net_sales)
    select 1, event_id, '{}', true, day, click_id, pub_id, ${new Date(NOON)}, ${micros.sold},
      ${micros.kept}, 1
    from click where event_id % ${every}::int = 0`)
}

/** Steps an hour on; what was stepped before does not count. */
async function stepOnce(db: Database, before = 1): Promise<number> {
  await db.run(sql`delete from roas_multiplier`)
  await db.run(sql`
    insert into roas_multiplier values (1, ${before}, ${new Date(NOON - 2 * HOUR)})`)
  assert.equal(await stepRoasMultipliers(db, NOON), 1)
  return (await loadRoasMultipliers(db)).get(1) ?? 0
}

test('clicks that cost more than they bring lower the bid, cheaper ones let it rise', async (t) => {
  const db = await makeCampaign(t)
  await saveModel(db, { model: AT_ONCE, day: '2026-04-12', nowMs: NOON })
  await addClicks(db, 1_000, { atMs: NOON - 20 * HOUR })
  await addClicks(db, 100, { atMs: NOON - HOUR / 2 })
  assert((await stepOnce(db)) < 0.7, 'no order at all')
  await brings(db, 20, { sold: 40 * BID_MICROS, kept: 40 * BID_MICROS })
  assert((await stepOnce(db)) < 1, 'half of the goal')
  await db.run(sql`update merchant_order set net_revenue_micros = 5 * net_revenue_micros`)
  assert((await stepOnce(db)) > 1, 'twice and more')
})

test('an hour’s step that runs again, because its worker died, changes no bid', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 100, { atMs: NOON })
  assert.equal(await stepRoasMultipliers(db, NOON + 5 * 60_000), 1)
  const stepped = await loadRoasMultipliers(db)
  assert.equal(await stepRoasMultipliers(db, NOON + HOUR - 1), 0)
  assert.deepEqual(await loadRoasMultipliers(db), stepped)
  assert.equal(await stepRoasMultipliers(db, NOON + HOUR), 1)
})

test('without clicks in the last hour the multiplier only drifts to 1', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 100, { atMs: NOON - DAY })
  const after = await stepOnce(db, 0.5)
  assert(after > 0.5 && after < 0.51, String(after))
})

test('judges a goal by clicks whose orders are due, so that new ones slow no campaign', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 1_000, { atMs: NOON - HOUR / 2 })
  await db.run(sql`update click set merchant_cost_micros = merchant_cost_micros / 2`)
  const slow = { ...UNFITTED_MODEL, delayCurveByMerchant: { 1: [0, 0, 0, 0, 0, 1] } }
  await saveModel(db, { model: slow, day: '2026-04-13', nowMs: NOON })
  const unripe = await stepOnce(db)
  await saveModel(db, { model: AT_ONCE, day: '2026-04-13', nowMs: NOON })
  const ripe = await stepOnce(db)
  assert(ripe < unripe, `${ripe} ${unripe}`)
})

test('judges a goal by the campaign’s own paid clicks so far', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 100, { atMs: NOON - HOUR / 2 })
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

test('a goal is judged by orders that clicks led to, less what will be returned or rejected', async (t) => {
  const db = await makeCampaign(t)
  await saveModel(db, { model: AT_ONCE, day: '2026-04-12', nowMs: NOON })
  await addClicks(db, 1_000, { atMs: NOON - 20 * HOUR })
  await addClicks(db, 50, { atMs: NOON - HOUR / 2 })
  await brings(db, 20, { sold: 100 * BID_MICROS, kept: 100 * BID_MICROS })
  const lasting = await stepOnce(db)
  const model = { ...AT_ONCE, returnShareByMerchant: { 1: 0.6 } }
  await saveModel(db, { model, day: '2026-04-12', nowMs: NOON })
  assert((await stepOnce(db)) < lasting, 'most will be returned')
  const rejecting = { ...AT_ONCE, approvedShareByMerchant: { 1: 0.4 } }
  await saveModel(db, { model: rejecting, day: '2026-04-12', nowMs: NOON })
  assert((await stepOnce(db)) < lasting, 'most will be rejected')
  await saveModel(db, { model: AT_ONCE, day: '2026-04-12', nowMs: NOON })
  await db.run(sql`update merchant_order set attribution = 'impression'`)
  assert((await stepOnce(db)) < lasting, 'no click led to them')
})

test('a sale to a reader who clicked twice counts for goal and forecast, though one click does', async (t) => {
  const db = await makeCampaign(t)
  await saveModel(db, { model: AT_ONCE, day: '2026-04-12', nowMs: NOON })
  await addClicks(db, 100, { atMs: NOON - HOUR / 2 })
  await db.run(sql`update click set merchant_cost_micros = merchant_cost_micros / 2`)
  const alone = await stepOnce(db)
  await addClicks(db, 1, { atMs: NOON - HOUR / 3, reason: DUPLICATE_VISITOR })
  await db.run(sql`update click set merchant_cost_micros = 0 where reason <> 0`)
  await addOrder(db, 'sold', { sold: 100 * BID_MICROS, kept: 100 * BID_MICROS })
  await db.run(sql`
    update merchant_order set click_id = (select click_id from click where reason <> 0)`)
  assert((await stepOnce(db)) > alone)
  await db.run(sql`update merchant_order set accepted_at = ${new Date(NOON - HOUR / 4)}`)
  const range = { fromMs: NOON - 10 * DAY, toMs: NOON, slotMs: DAY }
  const orders = [{ slot: Math.floor((NOON - HOUR / 4) / DAY), count: 1 }]
  const [pair] = await loadCohorts(db, range)
  assert.deepEqual([pair?.clicks, pair?.orders], [100, orders])
})
