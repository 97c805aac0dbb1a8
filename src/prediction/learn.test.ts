import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addClicks, addOrder, makeCampaign } from '../../test/support/campaign-clicks.ts'
import { sql } from '../platform/postgres/sql.ts'
import { ClickEstimates } from './click-estimates.ts'
import { loadMerchantDays, loadWaits } from './delay-store.ts'
import { clickEvidence, orderEvidence } from './evidence.ts'
import { addPairEvidence, loadEvidence } from './evidence-store.ts'
import { fitNightly, isModelYoung } from './learn-store.ts'
import { loadModel, saveModel } from './model-store.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z') // a Monday
const HOUR = 3_600_000
const DAY = 24 * HOUR

test('stores the evidence of a pair as of its last click, for the estimates to read', async (t) => {
  const db = await makeCampaign(t)
  const at = (hours: number) => NOON + hours * HOUR
  const pair = { pubId: 1, merchId: 1 }
  const clicks = Array.from({ length: 400 }, (_, hour) => ({
    ...pair,
    evidence: clickEvidence(at(-hour - 48), { isValid: true }),
  }))
  const orders = Array.from({ length: 40 }, (_, index) => ({
    ...pair,
    evidence: orderEvidence(at(-25 - index), 90e6),
  }))
  // In two transactions, and out of order: the result is the same (P34).
  await db.transaction((tx) => addPairEvidence(tx, [...orders, ...clicks.slice(0, 100)]))
  await db.transaction((tx) => addPairEvidence(tx, clicks.slice(100)))
  const [held] = await loadEvidence(db, 40)
  assert.equal(held?.evidence.atMs, at(-25))

  const book = new ClickEstimates()
  await book.refresh(db, NOON)
  const known = book.of(1, 1)
  const unknown = book.of(2, 2)
  // Ten orders of a hundred clicks, where two are usual; elsewhere the network's rate applies.
  assert(known.rate.rate > 4 * UNFITTED_MODEL.rates.globalRate, String(known.rate.rate))
  assert(unknown.rate.rate > UNFITTED_MODEL.rates.globalRate)
  assert(known.rate.nEff > unknown.rate.nEff)
  assert(known.value.meanMicros > unknown.value.meanMicros)
})

test('stores the nightly fit for its day, smoothed with the day before, with returns', async (t) => {
  const db = await makeCampaign(t)
  assert.deepEqual(await loadModel(db), UNFITTED_MODEL)
  await addClicks(db, 1, { atMs: NOON - 30 * DAY })
  // $100,000 sold and half of it returned: ten times the weight of the network's default share.
  await addOrder(db, 'returned', { sold: 100_000e6, kept: 50_000e6 })
  // Last week's orders may still be returned; those of half a year ago no longer count.
  for (const day of ['2026-03-31', '2025-12-13']) {
    await addOrder(db, day, { sold: 100_000e6, kept: 0 })
    await db.run(sql`update merchant_order set day = ${day} where order_id = ${day}`)
  }
  const first = await fitNightly(db, NOON)
  assert.deepEqual(await loadModel(db), first)
  assert((first.returnShareByMerchant[1] ?? 0) > 0.45)
  // It weighs no more in the network than the default share, which is a tenth.
  assert(Math.abs(first.returnShare - (0.5 + 0.1) / 2) < 1e-9, String(first.returnShare))
  assert.deepEqual(await loadModel(db, '2026-04-13'), UNFITTED_MODEL)
  const again = await fitNightly(db, NOON + 1)
  await fitNightly(db, NOON + DAY)
  assert.deepEqual(await loadModel(db, '2026-04-14'), again)
  const days = await db.rows(sql`select day from prediction_model order by day`)
  assert.deepEqual(days, [{ day: '2026-04-13' }, { day: '2026-04-14' }])
})

test('reads the delay of a click’s first valid order, of clicks of four weeks', async (t) => {
  const db = await makeCampaign(t)
  for (const [name, days, waitHours] of [
    ['one', 27.5, 5],
    ['one of the same click', 27.5, 90],
    ['of that age', 27.75, 7],
    ['young', 1, 20],
    ['to come', 1.01, 30],
    ['old', 28.1, 1],
    ['of a clock that is ahead', -0.01, -1],
  ] as const) {
    const atMs = NOON - days * DAY
    await addClicks(db, name === 'one of the same click' ? 0 : 1, { atMs })
    await addOrder(db, name, { sold: 50e6, kept: 50e6 })
    await db.run(sql`
      update merchant_order set accepted_at = ${new Date(atMs + waitHours * HOUR)},
        click_id = (select click_id from click where at = ${new Date(atMs)} limit 1)
      where order_id = ${name}`)
  }
  const inHours = (await loadWaits(db, NOON))
    .map(({ waitMs, ageMs, ...of }) => ({ ...of, wait: waitMs / HOUR, age: ageMs / HOUR }))
    .toSorted((left, right) => left.age - right.age)
  const both = [
    { merchId: 1, orders: 1, wait: 20, age: 24 },
    { merchId: 1, orders: 1, wait: 5, age: 660 },
    { merchId: 1, orders: 1, wait: 7, age: 666 },
  ]
  assert.deepEqual(inHours, both)
  assert.equal((await fitNightly(db, NOON)).delayOrders, 3, 'the night’s model is fitted to them')
  for (const gone of [
    sql`update click set reversed_at = now() where at = ${new Date(NOON - DAY)}`,
    sql`with back as (update click set reversed_at = null)
      update merchant_order set hold = 'review' where order_id = 'young'`,
    sql`update merchant_order set hold = null, rejected_at = now() where order_id = 'young'`,
    sql`update merchant_order set rejected_at = null, attribution = 'impression' where order_id = 'young'`,
    sql`update merchant_order set attribution = 'exact', revenue_micros = 0 where order_id = 'young'`,
  ]) {
    await db.run(gone)
    assert.equal((await loadWaits(db, NOON)).length, 2, gone.text)
  }
})

test('refits the model until it rests on a thousand orders', async (t) => {
  const db = await makeCampaign(t)
  assert(await isModelYoung(db))
  const { delayOrders: _, ...older } = UNFITTED_MODEL
  await db.run(sql`insert into prediction_model (day, model, fitted_at)
    values ('2026-04-12', ${JSON.stringify(older)}, now())`)
  assert(await isModelYoung(db), 'a model of an older version gets defaults for newer numbers')
  for (const [delayOrders, isYoung] of [
    [999, true],
    [1_000, false],
  ] as const) {
    await saveModel(db, {
      model: { ...UNFITTED_MODEL, delayOrders },
      day: '2026-04-13',
      nowMs: NOON,
    })
    assert.equal(await isModelYoung(db), isYoung)
  }
})

test('counts a return once, however many nights read it again', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 1, { atMs: NOON - 30 * DAY })
  // Half a percent of the default share's weight.
  await addOrder(db, 'returned', { sold: 50e6, kept: 0 })
  for (let night = 0; night < 30; night++) await fitNightly(db, NOON + night * DAY)
  const { returnShare, returnShareByMerchant } = await loadModel(db)
  assert(Math.abs(returnShare - (50 + 1_000) / 10_050) < 1e-9, String(returnShare))
  assert((returnShareByMerchant[1] ?? 1) < 0.11)
  // An order that is rejected or held has nothing to return.
  for (const [gone, back] of [
    [sql`hold = 'review'`, sql`hold = null`],
    [sql`rejected_at = now()`, sql`rejected_at = null`],
  ] as const) {
    await db.run(sql`update merchant_order set ${gone}`)
    const without = await fitNightly(db, NOON)
    assert.equal(without.returnShare, UNFITTED_MODEL.returnShare, gone.text)
    await db.run(sql`update merchant_order set ${back}`)
  }
  // When it no longer counts, the share is the default again.
  const later = await fitNightly(db, NOON + 200 * DAY)
  assert.equal(later.returnShare, UNFITTED_MODEL.returnShare)
})

test('late rejections lower the value of younger orders by as much', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 1, { atMs: NOON - 110 * DAY })
  for (let order = 0; order < 100; order++) {
    await addOrder(db, String(order), { sold: 50e6, kept: 50e6 })
  }
  await db.run(sql`
    update merchant_order set model = 2,
      accepted_at = ${new Date(NOON - 70 * DAY)}::timestamptz - order_id::int * interval '1 hour'`)
  const shareOf = async () => (await fitNightly(db, NOON)).approvedShareByMerchant[1]
  assert.equal(await shareOf(), 1)
  // Every second one is rejected after sixty days: half of the older ones were.
  await db.run(sql`
    update merchant_order set rejected_at = accepted_at + interval '60 days'
    where order_id::int % 2 = 0`)
  assert.equal(await shareOf(), 1, 'the other orders have passed that age')
  await db.run(sql`
    update merchant_order set accepted_at = ${new Date(NOON - 5 * DAY)}::timestamptz
    where order_id::int % 2 = 1 and order_id::int > 50`)
  const pending = (await shareOf()) ?? 1
  assert(pending > 0.5 && pending < 0.75, String(pending))
  for (const gone of [
    sql`update merchant_order set model = 1 where rejected_at is not null`,
    sql`with back as (update merchant_order set model = 2)
      update click set reversed_at = now()`,
  ]) {
    await db.run(gone)
    assert.equal((await shareOf()) ?? 1, 1, gone.text)
  }
})

test('reads each merchant’s clicks of a day with their number of orders', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 3, { atMs: NOON - 2 * DAY })
  await addClicks(db, 2, { atMs: NOON - 2 * DAY + HOUR, pubId: 2 })
  await addClicks(db, 4, { atMs: NOON - 121 * DAY })
  await addOrder(db, 'one', { sold: 10e6, kept: 10e6 })
  await addOrder(db, 'of the same click', { sold: 10e6, kept: 10e6 })
  await db.run(sql`
    update merchant_order set accepted_at = ${new Date(NOON - DAY)},
      click_id = (select click_id from click where at = ${new Date(NOON - 2 * DAY)} limit 1)`)
  const day = Math.floor((NOON - 2 * DAY) / DAY)
  assert.deepEqual(await loadMerchantDays(db, NOON), [{ merchId: 1, day, clicks: 5, orders: 1 }])
  await db.run(sql`update merchant_order set rejected_at = now()`)
  assert.deepEqual(await loadMerchantDays(db, NOON), [{ merchId: 1, day, clicks: 5, orders: 0 }])
})

test('a huge returned order lowers other merchants’ commission no more than a usual one', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 1, { atMs: NOON - 30 * DAY })
  const shareWith = async (sold: number) => {
    await addOrder(db, String(sold), { sold, kept: 0 })
    const { returnShare } = await fitNightly(db, NOON)
    await db.run(sql`delete from merchant_order`)
    return returnShare
  }
  assert.equal(await shareWith(10_000_000e6), await shareWith(10_000e6))
})

test('today’s model replaces one of a future day, written by a clock that was ahead', async (t) => {
  const db = await makeCampaign(t)
  await fitNightly(db, NOON + 400 * DAY)
  await addClicks(db, 1, { atMs: NOON - 30 * DAY })
  await addOrder(db, 'returned', { sold: 100_000e6, kept: 50_000e6 })
  const today = await fitNightly(db, NOON)
  assert.deepEqual(await loadModel(db), today)
})
