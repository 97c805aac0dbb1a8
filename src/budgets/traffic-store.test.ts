import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addClicks, makeCampaign } from '../../test/support/campaign-clicks.ts'
import { sql } from '../platform/postgres/sql.ts'
import { hourOfWeek } from './traffic-curve.ts'
import { learnTraffic, loadTraffic } from './traffic-store.ts'

const NOON = Date.parse('2026-04-13T12:00:00Z') // a Monday
const HOUR = 3_600_000
const DAY = 24 * HOUR

test('the traffic curve counts whole weeks of clicks by publisher and hour', async (t) => {
  const db = await makeCampaign(t)
  await addClicks(db, 3, { atMs: NOON - DAY })
  await addClicks(db, 2, { atMs: NOON - DAY, pubId: 2 })
  await addClicks(db, 5, { atMs: NOON - 8 * DAY })
  await addClicks(db, 9, { atMs: NOON - 29 * DAY }) // Before the four weeks that count.
  await addClicks(db, 9, { atMs: NOON + DAY }) // By a clock that was ahead.
  for (let again = 0; again < 2; again++) {
    await learnTraffic(db, NOON)
    const traffic = await loadTraffic(db)
    const sunday = hourOfWeek(NOON - DAY)
    assert.equal(sunday, 6 * 24 + 12)
    assert.equal(traffic.get(1)?.[sunday], 8)
    assert.equal(traffic.get(2)?.[sunday], 2)
    assert.equal(
      traffic.get(1)?.reduce((total, clicks) => total + clicks, 0),
      8,
    )
  }
})

test('free clicks move no traffic curve, and clicks that a spent budget missed do', async (t) => {
  const db = await makeCampaign(t)
  const atMs = NOON - DAY
  const counted = [0, 6, 12] // ok, unfunded, spooled late
  for (let reason = 0; reason < 30; reason++) await addClicks(db, 1, { atMs, reason })
  await learnTraffic(db, NOON)
  const curve = async () => (await loadTraffic(db)).get(1)?.[hourOfWeek(atMs)]
  assert.equal(await curve(), counted.length)
  await db.run(sql`update click set reversed_at = now() where reason = 0`)
  await learnTraffic(db, NOON)
  assert.equal(await curve(), counted.length - 1)
})

test('an address counts once an hour in the traffic curves, however much it clicks', async (t) => {
  const db = await makeCampaign(t)
  const atMs = NOON - DAY
  await addClicks(db, 40, { atMs })
  await addClicks(db, 40, { atMs: atMs + 1, pubId: 2 })
  await addClicks(db, 3, { atMs: atMs + HOUR })
  await db.run(sql`
    insert into event (day, id, lane, type, at, address_key)
    select day, event_id, 0, 10, at, decode(md5((event_id % 4)::text), 'hex') from click`)
  await learnTraffic(db, NOON)
  const hour = hourOfWeek(atMs)
  const curves = [...(await loadTraffic(db))].map(([pubId, of]) => [pubId, of[hour], of[hour + 1]])
  assert.deepEqual(curves, [[1, 4, 3]]) // A reader of both counts for the first one.
})
