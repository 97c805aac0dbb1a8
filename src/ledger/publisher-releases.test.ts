import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { MODEL } from '../events/event.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { openReleases } from './publisher-releases.ts'

const PUB_ID = 5 // The publisher in MoneyEvents.
const LOCKED_MS = START_MS + 90 * DAY_MS
const after = (days: number) => LOCKED_MS + days * DAY_MS

test('a line is paid when its whole debt is, a free gift with its order, and returns pay for nothing', async (t) => {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const { merch_id: merchId } = (await makePublisherWorld(db)).merchant
  const events = new MoneyEvents()
  const lines = [orderLine('A1', 40_000, 1), orderLine('B1', 15_000, 1), orderLine('gift', 0, 1)]
  const logged = [
    events.click('a', START_MS),
    events.order('o1', START_MS, { click: 'a', report: { lines } }),
    ...[events.payment(after(1), 39), events.payment(after(2), 2), events.payment(after(3), 14)],
    events.goodsBack('o1', after(4), { product_id: 'B1' }),
  ]
  await log.record(...logged.map((event) => ({ ...event, merchId })))
  const keys = await db.rows<{ key: string }>(sql`
    select order_product_id as key from order_line order by line`)
  const paidAt = async (days: number) => {
    const until = new Date(after(days))
    const paid = await openReleases(db, { pubId: PUB_ID, until }).paidAtOf(merchId)
    return keys.map(({ key }) => paid(key))
  }
  assert.deepEqual(await paidAt(1), [null, null, null])
  assert.deepEqual(await paidAt(2), [after(2), null, null])
  assert.deepEqual(await paidAt(3), [after(2), after(3), after(3)])
  assert.deepEqual(await paidAt(5), [after(2), after(3), after(3)])
})

test('releases by several merchants are listed in order of time', async (t) => {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const worlds = [await makePublisherWorld(db), await makePublisherWorld(db, 'herald')]
  const [one = 0, two = 0] = worlds.map(({ merchant }) => merchant.merch_id)
  const events = new MoneyEvents()
  const price = { model: MODEL.cpc, termsAmount: 1_000_000, reservedMicros: 1_000_000 }
  const click = (name: string, merchId: number, days: number) =>
    events.click(name, START_MS + days * DAY_MS, { ...price, merchId })
  await log.record(
    ...[click('a', one, 0), click('b', one, 1), click('c', two, 0), click('d', two, 1)],
    ...[click('e', two, 2), click('f', one, 3)],
    ...[{ ...events.payment(after(2), 1), merchId: one }],
    ...[{ ...events.payment(after(1), 1), merchId: two }],
    ...[{ ...events.payment(after(3), 1), merchId: two }],
    ...[{ ...events.payment(after(4), 2), merchId: one }],
    ...[{ ...events.payment(after(4), 1), merchId: two }],
  )
  const releases = await openReleases(db, { pubId: PUB_ID, until: new Date(after(9)) }).all()
  assert.deepEqual(
    releases.map(({ merchId, atMs, key }) => [merchId, atMs, key.slice(-2)]),
    [
      ...[
        [two, after(1), '02'],
        [one, after(2), '02'],
        [two, after(3), '03'],
      ],
      ...[
        [one, after(4), '03'],
        [one, after(4), '05'],
        [two, after(4), '04'],
      ],
    ],
  )
})
