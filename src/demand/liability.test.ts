import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { testDatabase } from '../../test/database.ts'
import { evenly } from '../../test/even-numbers.ts'
import { sql } from '../platform/sql.ts'
import { listSpending, openAccounts } from './budget-account.ts'
import { findOverCap } from './liability.ts'
import { loadOverCap } from './liability-store.ts'
import { OutlookBook } from './outlook.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'
import { settleClicks } from './settle.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z')
const HOUR = 3_600_000

test('a budget is used up when what was paid and what is to be expected reach it', () => {
  const budget = { campaignId: 1, capMicros: 100, settledMicros: 60 }
  const open = { campaignId: 1, clicks: 10, orderRate: 0.1, perOrderMicros: 39 }
  assert.deepEqual(findOverCap([budget], [open]), new Set())
  assert.deepEqual(findOverCap([budget], [{ ...open, perOrderMicros: 40 }]), new Set([1]))
  assert.deepEqual(findOverCap([budget], [open, open]), new Set([1]))
  assert.deepEqual(findOverCap([budget], [{ ...open, campaignId: 2, clicks: 1e9 }]), new Set())
})

test('more open clicks never bring a campaign back', () => {
  const micros = fc.integer({ min: 0, max: 1_000_000 })
  const open = fc.record({
    clicks: fc.nat(1_000),
    orderRate: evenly(0, 1),
    perOrderMicros: micros,
  })
  fc.assert(
    fc.property(micros, micros, fc.array(open), open, (capMicros, settledMicros, clicks, more) => {
      const budgets = [{ campaignId: 1, capMicros, settledMicros }]
      const of = (list: typeof clicks) => list.map((one) => ({ ...one, campaignId: 1 }))
      if (findOverCap(budgets, of(clicks)).has(1)) {
        assert(findOverCap(budgets, of([...clicks, more])).has(1))
      }
    }),
  )
})

/** A campaign that pays a dollar a purchase, has three of them, and 200 clicks at noon. */
async function openClicks(t: TestContext) {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, payment_micros, budget_micros)
    values (1, 'epp', 1000000, 3000000)`)
  const outlooks = new OutlookBook()
  const isOver = async (nowMs: number) => (await loadOverCap(db, { outlooks, nowMs })).has(1)
  assert.equal(await isOver(NOON), false)
  await db.run(sql`
    insert into click (event_id, click_id, result_number, day, at, pub_id, article_id, auction_id,
      merch_id, campaign_id, model, price_micros, share_ppm, paid_micros, publisher_micros, reason,
      is_reserved)
    select n, decode(md5(n::text), 'hex'), decode(md5(n::text), 'hex'), '2026-04-13',
      ${new Date(NOON)}, 1, 1, 1, 1, 1, 3, 1000000, 750000, 0, 0, 0, false
    from generate_series(1, 200) as n`)
  return { db, outlooks, isOver }
}

test('open clicks of a campaign per order count until their orders are unlikely or have come', async (t) => {
  const { db, isOver } = await openClicks(t)
  // At the usual 2 %, four orders are to be expected.
  assert.equal(await isOver(NOON), true)
  assert.equal(await isOver(NOON + 24 * HOUR), false) // Most would have come by now.

  await openAccounts(db, [{ campaignId: 1, day: '2026-04-13' }])
  const order = { campaignId: 1, day: '2026-04-13', leaseId: '0', reservedMicros: 0 }
  await settleClicks(db, [{ ...order, paidMicros: 3_500_000 }])
  assert.equal(await isOver(NOON + 24 * HOUR), true)
  const [spent] = await listSpending(db, '2026-04-13')
  assert.deepEqual(spent, {
    campaign_id: 1,
    spent_micros: '3500000',
    spent_today_micros: '3500000',
    over_cap_micros: '500000',
  })
})

test('the orders of a merchant whose readers take days are waited for as long', async (t) => {
  const { outlooks, isOver } = await openClicks(t)
  assert.equal(await isOver(NOON + 24 * HOUR), false)
  const slow = { ...UNFITTED_MODEL, delayMsByMerchant: { 1: 7 * 24 * HOUR } }
  outlooks.take(slow, [], NOON)
  assert.equal(await isOver(NOON + 24 * HOUR), true)
  assert.equal(await isOver(NOON + 4 * 24 * HOUR), false)
})

test('an order is expected to cost what its click was sealed for, whatever the campaign says now', async (t) => {
  const { db, isOver } = await openClicks(t)
  await db.run(sql`update campaign set payment_micros = 100000`)
  assert.equal(await isOver(NOON), true)
  await db.run(sql`update campaign set payment_micros = 1000000`)
  await db.run(sql`update click set price_micros = 100000`)
  assert.equal(await isOver(NOON), false)
  // Paid for at the click: an order costs nothing more.
  await db.run(sql`update click set price_micros = 1000000, model = 1`)
  assert.equal(await isOver(NOON), false)
})
