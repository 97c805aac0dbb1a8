import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import fc from '../../test/support/fast-check.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { sql } from '../platform/postgres/sql.ts'
import { ClickEstimates } from '../prediction/click-estimates.ts'
import { UNFITTED_MODEL } from '../prediction/prediction-model.ts'
import { bookSpend } from './book-spend.ts'
import { listSpending, openAccounts } from './budget-account.ts'
import { findOverCap } from './liability.ts'
import { loadOverCap } from './liability-store.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z')
const HOUR = 3_600_000

const BUDGET = { campaignId: 1, isDaily: false, capMicros: 100, settledMicros: 60 }
const OPEN = { campaignId: 1, clicks: 10, orderRate: 0.1, perOrderMicros: 39, delayMs: 48 * HOUR }

test('a budget is used up when paid plus expected cost reaches it', () => {
  const over = (...open: (typeof OPEN)[]) => findOverCap([BUDGET], open, 12 * HOUR)
  assert.deepEqual(over(OPEN), new Set())
  assert.deepEqual(over({ ...OPEN, perOrderMicros: 40 }), new Set([1]))
  assert.deepEqual(over(OPEN, OPEN), new Set([1]))
  assert.deepEqual(over({ ...OPEN, campaignId: 2, clicks: 1e9 }), new Set())
})

test('a day’s budget must cover the orders expected on that day and on the next', () => {
  const open = { ...OPEN, perOrderMicros: 100 } // 22.1 of the 100 until midnight, then 30.6
  const over = (day: { capMicros: number; settledMicros: number }) =>
    findOverCap([{ ...BUDGET, ...day, isDaily: true }], [open], 12 * HOUR).has(1)
  assert.equal(over({ capMicros: 100, settledMicros: 77 }), false)
  assert.equal(over({ capMicros: 100, settledMicros: 78 }), true)
  assert.equal(over({ capMicros: 31, settledMicros: 0 }), false)
  assert.equal(over({ capMicros: 30, settledMicros: 0 }), true)
  const spent = { ...BUDGET, isDaily: true, settledMicros: BUDGET.capMicros }
  assert.deepEqual(findOverCap([spent], [], 12 * HOUR), new Set([1]))
})

test('spends a day’s budget to its end and not beyond, at any delay of orders', () => {
  for (const delayMs of [2 * HOUR, 12 * HOUR, 72 * HOUR, 168 * HOUR]) {
    for (const spent of spentByDay(delayMs)) {
      assert(spent > 0.9 && spent < 1.05, `${spent} of the budget at ${delayMs / HOUR} h`)
    }
  }
})

/** Parts of a budget of 100 orders a day, at three times the traffic it can pay for. */
function spentByDay(delayMs: number): number[] {
  const [stepMs, cap] = [HOUR / 6, 100]
  const open = { ...OPEN, orderRate: 1, perOrderMicros: 1, delayMs, clicks: 0 }
  const days: number[] = []
  for (let day = 0; day < 15; day++) {
    let spent = 0
    for (let atMs = 0; atMs < 24 * HOUR; atMs += stepMs) {
      const budget = { ...BUDGET, isDaily: true, capMicros: cap, settledMicros: spent }
      const isOver = findOverCap([budget], [open], 24 * HOUR - atMs).has(1)
      if (!isOver) open.clicks += (3 * cap * stepMs) / (24 * HOUR)
      const left = open.clicks * Math.exp(-stepMs / delayMs)
      spent += open.clicks - left
      open.clicks = left
    }
    days.push(spent / cap)
  }
  return days.slice(5) // Earlier, the orders of the preceding days are still missing.
}

test('more open clicks never restart a campaign', () => {
  const micros = fc.integer({ min: 0, max: 1_000_000 })
  const budget = fc.record({ isDaily: fc.boolean(), capMicros: micros, settledMicros: micros })
  const open = fc.record({
    clicks: fc.nat(1_000),
    orderRate: evenly(0, 1),
    perOrderMicros: micros,
    delayMs: evenly(HOUR, 200 * HOUR),
  })
  fc.assert(
    fc.property(budget, fc.array(open), open, (terms, clicks, more) => {
      const isOver = (list: typeof clicks) => {
        const own = list.map((one) => ({ ...one, campaignId: 1 }))
        return findOverCap([{ campaignId: 1, ...terms }], own, 7 * HOUR).has(1)
      }
      if (isOver(clicks)) assert(isOver([...clicks, more]))
    }),
  )
})

/** A campaign that pays a dollar a purchase, with three purchases, and 200 clicks at noon. */
async function openClicks(t: TestContext) {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, payment_micros, budget_micros)
    values (1, 'epp', 1000000, 3000000)`)
  const estimates = new ClickEstimates()
  const isOver = async (nowMs: number) => (await loadOverCap(db, { estimates, nowMs })).has(1)
  assert.equal(await isOver(NOON), false)
  await db.run(sql`
    insert into click (event_id, click_id, result_number, day, at, pub_id, article_id, auction_id,
      merch_id, campaign_id, model, terms_amount, share_ppm, merchant_cost_micros,
      publisher_earnings_micros, reason,
      is_reserved)
    select n, decode(md5(n::text), 'hex'), decode(md5(n::text), 'hex'), '2026-04-13',
      ${new Date(NOON)}, 1, 1, 1, 1, 1, 3, 1000000, 750000, 0, 0, 0, false
    from generate_series(1, 200) as n`)
  return { db, estimates, isOver }
}

test('open clicks of a campaign per order count until their orders are unlikely or have come', async (t) => {
  const { db, isOver } = await openClicks(t)
  // At the usual 2 %, four orders are expected.
  assert.equal(await isOver(NOON), true)
  assert.equal(await isOver(NOON + 24 * HOUR), false) // Most would have come by now.

  await openAccounts(db, [{ campaignId: 1, day: '2026-04-13' }])
  const order = { campaignId: 1, day: '2026-04-13', leaseId: '0', reservedMicros: 0 }
  await bookSpend(db, [{ ...order, merchantCostMicros: 3_500_000 }])
  assert.equal(await isOver(NOON + 24 * HOUR), true)
  const [spent] = await listSpending(db, { today: '2026-04-13' })
  assert.deepEqual(spent, {
    campaign_id: 1,
    spent_micros: '3500000',
    spent_today_micros: '3500000',
    over_cap_micros: '500000',
  })
})

test('open clicks count for their own campaign, once, whatever others pay per order', async (t) => {
  const { db, estimates } = await openClicks(t)
  const over = () => loadOverCap(db, { estimates, nowMs: NOON })
  await db.run(sql`insert into merchant (name, postback_secret) values ('rival', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, payment_micros, budget_micros)
    values (1, 'epp', 1000000, 3000000), (2, 'epp', 1000000, 3000000)`)
  assert.deepEqual([...(await over())], [1])
  // Enough for the four expected orders, but not for twice as many.
  await db.run(sql`update campaign set budget_micros = 5000000 where campaign_id = 1`)
  assert.deepEqual([...(await over())], [])
})

test('reports the excess of orders over a day’s budget on that day only', async (t) => {
  const { db } = await openClicks(t)
  await db.run(sql`update campaign set budget_micros = null, daily_budget_micros = 1000000`)
  const day = '2026-04-13'
  await openAccounts(db, [{ campaignId: 1, day }])
  const order = {
    campaignId: 1,
    day,
    leaseId: '0',
    reservedMicros: 0,
    merchantCostMicros: 3_500_000,
  }
  await bookSpend(db, [order])
  const settledOn = async (today: string) => {
    const [spent] = await listSpending(db, { today })
    return [spent?.spent_micros, spent?.spent_today_micros, spent?.over_cap_micros]
  }
  assert.deepEqual(await settledOn(day), ['3500000', '3500000', '2500000'])
  assert.deepEqual(await settledOn('2026-04-14'), ['3500000', '0', '0'])
})

test('open clicks are paid clicks without an order so far', async (t) => {
  const { db, isOver } = await openClicks(t)
  assert.equal(await isOver(NOON - 1), false)
  await db.run(sql`update click set reversed_at = at`)
  assert.equal(await isOver(NOON), false)
  await db.run(sql`update click set reversed_at = null, reason = 2`)
  assert.equal(await isOver(NOON), false)
  await db.run(sql`update click set reason = 0`)
  await db.run(sql`
    insert into merchant_order (merch_id, order_id, account, is_posted, click_id, attribution)
    select 1, event_id, '{}', true, click_id, 'impression' from click`)
  assert.equal(
    await isOver(NOON),
    true,
    'a reader whose order names another link may still buy for this click',
  )
  await db.run(sql`update merchant_order set attribution = 'visitor'`)
  assert.equal(await isOver(NOON), false)
})

test('one address counts as at most three open clicks a day for a campaign', async (t) => {
  const { db, isOver } = await openClicks(t)
  await db.run(sql`update click set address_key = 'one day at one address'`)
  assert.equal(await isOver(NOON), false)
  await db.run(sql`update click set address_key = (event_id / 2)::text::bytea`)
  assert.equal(await isOver(NOON), true)
})

test('a click is open for several mean delays', async (t) => {
  const { db, isOver } = await openClicks(t)
  await db.run(sql`update campaign set budget_micros = 100000`)
  // Of four expected orders, e⁻³ are still to come after three mean delays, a fifth of a dollar.
  assert.equal(await isOver(NOON + 36 * HOUR), true)
})

test('waits as long for the orders of a merchant whose readers take days', async (t) => {
  const { estimates, isOver } = await openClicks(t)
  assert.equal(await isOver(NOON + 24 * HOUR), false)
  const slow = { ...UNFITTED_MODEL, delayCurveByMerchant: { 1: [0, 0, 0, 0, 1, 0] } }
  estimates.take(slow, [], NOON)
  assert.equal(await isOver(NOON + 24 * HOUR), true)
  assert.equal(await isOver(NOON + 4 * 24 * HOUR), false)
})

test('expects an order at its click’s sealed terms, whatever the campaign pays now', async (t) => {
  const { db, isOver } = await openClicks(t)
  await db.run(sql`update campaign set payment_micros = 100000`)
  assert.equal(await isOver(NOON), true)
  await db.run(sql`update campaign set payment_micros = 1000000`)
  await db.run(sql`update click set terms_amount = 100000`)
  assert.equal(await isOver(NOON), false)
  // Paid at the click: an order costs nothing more.
  await db.run(sql`update click set terms_amount = 1000000, model = 1`)
  assert.equal(await isOver(NOON), false)
})

test('expects an order’s whole commission, whatever part will be returned', async (t) => {
  const { db, estimates, isOver } = await openClicks(t)
  // Four orders of $60 at 1.35 % are $3.24, and the budget is $3.
  await db.run(sql`update click set model = 2, terms_amount = 13500`)
  estimates.take({ ...UNFITTED_MODEL, returnShareByMerchant: { 1: 0.5 } }, [], NOON)
  assert.equal(await isOver(NOON), true)
})

test('reads one account per budget and each click once, at any number of campaigns and years', async (t) => {
  const { db, estimates } = await openClicks(t)
  await db.run(sql`
    insert into campaign (merch_id, model, payment_micros, budget_micros, daily_budget_micros)
    select 1, 'epp', 1000000, 3000000, 1000000 from generate_series(1, 9)`)
  await db.run(sql`
    insert into budget_account (campaign_id, day)
    select campaign_id, '2026-04-13'::date - days from campaign, generate_series(0, 400) as days`)
  await db.transaction(async (tx) => {
    await tx.run(sql`set local enable_seqscan = off`) // As where there are millions.
    assert.deepEqual(await loadOverCap(tx, { estimates, nowMs: NOON }), new Set([1]))
    const read = await tx.rows(sql`
      select relname, (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
      where relname in ('budget_account', 'click') order by relname`)
    assert.deepEqual(read, [
      { relname: 'budget_account', rows: 9 },
      { relname: 'click', rows: 200 },
    ])
  })
})
