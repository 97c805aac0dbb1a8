import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldBusyLog, makeBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { EVENT_TYPE, viewLane } from '../events/event.ts'
import { retireViews } from '../events/view-totals.ts'
import { foldMoney } from '../fold/fold-money.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { listStats } from './row-store.ts'
import { ORDER_COLUMNS } from './schema.ts'

const LATER = new Date('2100-01-01T00:00:00Z')
const LIMITS = [10_000, 7, 1]

/** The March report at that time. */
function listMarch(
  db: Db,
  asked: { pubId: number; asOf: Date | null; isOutOfNetwork?: boolean },
): ReturnType<typeof listStats> {
  const march = { dayFrom: '2026-03-01', dayTo: '2026-03-31', limitRows: 9 }
  const order = { orderBy: 'clicks', isAscending: false, isOutOfNetwork: false } as const
  return listStats(db, { ...march, ...order, ...asked })
}

test('as_of after all events equals the current report row by row, in every order', async (t) => {
  const db = await testDatabase(t)
  const { one, other } = await foldBusyLog(t, db)
  for (const { publisher } of [one, other]) {
    const everything = {
      pubId: publisher.pub_id,
      dayFrom: '2026-01-01',
      dayTo: '2026-12-31',
      isOutOfNetwork: false,
    }
    for (const orderBy of ORDER_COLUMNS) {
      for (const isAscending of [true, false]) {
        for (const limitRows of LIMITS) {
          const request = { ...everything, orderBy, isAscending, limitRows }
          const now = await listStats(db, { ...request, asOf: null })
          const then = await listStats(db, { ...request, asOf: LATER })
          assert.deepEqual(then, now, `${orderBy} ${isAscending} ${limitRows}`)
          assert.ok(now.length > 0)
          const all = await listStats(db, { ...request, asOf: null, limitRows: 10_000 })
          assert.deepEqual(now, all.slice(0, limitRows), 'a limit cuts what follows')
        }
      }
    }
  }
})

test('a placement without clicks has its row in as_of from its own time on', async (t) => {
  const db = await testDatabase(t)
  const [one, other] = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')]
  const log = openFoldedLog(t, db)
  const placements = (await makeBusyLog(one, other)).filter(
    ({ type }) => type === EVENT_TYPE.placement,
  )
  await log.record(...placements)
  const range = { pubId: one.publisher.pub_id, dayFrom: '2026-01-01', dayTo: '2026-12-31' }
  const order = { orderBy: 'event_date', isAscending: true, limitRows: 100 } as const
  const ask = (asOf: Date | null) =>
    listStats(db, { ...range, ...order, isOutOfNetwork: false, asOf })
  const now = await ask(null)
  assert.ok(now.length > 1)
  assert.deepEqual(await ask(LATER), now)
  const [first] = placements.map(({ atMs }) => atMs).toSorted((a, b) => a - b)
  assert.deepEqual(await ask(new Date(first ?? 0)), now.slice(0, 1))
  assert.deepEqual(await ask(new Date((first ?? 0) - 1)), [])
})

test('as_of includes events of its very millisecond and nothing later', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { pub_id: pubId } = publisher
  const { auctionId, url } = await addArticle('Ten mugs')
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  await db.run(sql`update article set datetime_created = ${new Date(START_MS - 1)}`)
  const {
    seq: _,
    day: __,
    ...click
  } = events.click('a', START_MS, {
    ...{ pubId, merchId: merchant.merch_id, auctionId },
  })
  const {
    seq: ___,
    day: ____,
    ...view
  } = events.at(START_MS + 20, {
    ...{ type: EVENT_TYPE.pageImpression, lane: viewLane(pubId), pubId },
    ...{ sessionKey: Buffer.alloc(16), urlKey: keyOfUrl(new URL(url)) },
  })
  await log.record(click, view)
  await db.run(sql`alter table stats_change disable trigger user`)
  await db.run(sql`update stats_change set changed_at = ${new Date(START_MS + 10)}`)
  const ask = async (atMs: number) => {
    const rows = await listMarch(db, { pubId, asOf: new Date(atMs) })
    return rows.map(({ clicks, impressions }) => [clicks, impressions])
  }
  assert.deepEqual(await ask(START_MS + 9), [])
  assert.deepEqual(await ask(START_MS + 10), [[1, 0]])
  assert.deepEqual(await ask(START_MS + 19), [[1, 0]])
  assert.deepEqual(await ask(START_MS + 20), [[1, 1]])
})

test('as_of before an article was created ignores its page views', async (t) => {
  const db = await testDatabase(t)
  const { publisher, addArticle } = await makePublisherWorld(db)
  const { pub_id: pubId } = publisher
  const { url } = await addArticle('Late')
  const createdMs = START_MS + 2_000
  await db.run(sql`update article set datetime_created = ${new Date(createdMs)}`)
  const log = openFoldedLog(t, db)
  const {
    seq: _,
    day: __,
    ...view
  } = new MoneyEvents().at(START_MS, {
    type: EVENT_TYPE.pageImpression,
    lane: viewLane(pubId),
    pubId,
    sessionKey: Buffer.alloc(16, 1),
    urlKey: keyOfUrl(new URL(url)),
  })
  await log.record(view)
  const ask = async (atMs: number) => {
    const rows = await listMarch(db, { pubId, asOf: new Date(atMs) })
    return rows.map(({ impressions }) => impressions)
  }
  assert.deepEqual(await ask(createdMs - 1), [])
  assert.deepEqual(await ask(createdMs), [1])
})

test('as_of counts a session across midnight only on its first day, also when the second day is asked for', async (t) => {
  const db = await testDatabase(t)
  const { publisher, addArticle } = await makePublisherWorld(db)
  const { pub_id: pubId } = publisher
  const { url } = await addArticle('Late')
  await db.run(sql`update article set datetime_created = ${new Date(START_MS)}`)
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const page = { type: EVENT_TYPE.pageImpression, lane: viewLane(pubId), pubId }
  const view = { ...page, sessionKey: Buffer.alloc(16, 1), urlKey: keyOfUrl(new URL(url)) }
  for (const atMs of [START_MS, START_MS + DAY_MS]) {
    const { seq: _, day: __, ...event } = events.at(atMs, view)
    await log.record(event)
  }
  const seen = async (dayFrom: string, asOf: Date | null) => {
    const order = { orderBy: 'clicks', isAscending: false, isOutOfNetwork: false } as const
    const range = { pubId, dayFrom, dayTo: '2026-03-31', limitRows: 9 }
    const rows = await listStats(db, { ...range, ...order, asOf })
    return rows.map(({ event_date, impressions }) => [event_date, impressions])
  }
  for (const asOf of [null, LATER]) {
    assert.deepEqual(await seen('2026-03-02', asOf), [['2026-03-02', 1]])
    assert.deepEqual(await seen('2026-03-03', asOf), [])
  }
})

test('as_of includes another network’s rows only if they had been imported', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const { pub_id: pubId } = publisher
  const events = new MoneyEvents()
  const importOf = (import_id: string, sales: number, atMs: number) => {
    const type = EVENT_TYPE.networkRow
    const shared = { import_id, report_date: '2026-03-01' }
    const amounts = { clicks: 0, sales, revenue_micros: 0, earnings_micros: 0 }
    const row = { kind: 'row', ...shared, row: 0, article_id: 0, advertiser: 'x', ...amounts }
    const end = { kind: 'partition', ...shared, network: 'n', account: '', rows: 1 }
    return [
      events.at(atMs, { type, pubId, body: JSON.stringify(row) }),
      events.at(atMs, { type, body: JSON.stringify({ ...end, rows_hash: '00' }) }),
    ]
  }
  await db.transaction((tx) => foldMoney(tx, importOf('1', 3, START_MS)))
  await db.transaction((tx) => foldMoney(tx, importOf('2', 4, START_MS + 2)))
  const ask = async (asOf: Date | null) => {
    const rows = await listMarch(db, { pubId, asOf, isOutOfNetwork: true })
    return rows.map(({ advertiser_attributed_sales: sales }) => sales)
  }
  assert.deepEqual(await ask(new Date(START_MS - 1)), [])
  assert.deepEqual(await ask(new Date(START_MS + 1)), [3])
  assert.deepEqual(await ask(new Date(START_MS + 2)), [4])
  assert.deepEqual(await ask(null), [4])
})

test('as_of returns the same after views were deleted', async (t) => {
  const db = await testDatabase(t)
  const { one } = await foldBusyLog(t, db)
  // The article existed before its readers came.
  await db.run(sql`update article set datetime_created = '2026-01-01'`)
  const range = { pubId: one.publisher.pub_id, dayFrom: '2026-01-01', dayTo: '2026-12-31' }
  const order = { orderBy: 'event_date', isAscending: true, limitRows: 100 } as const
  const ask = (asOf: Date | null) =>
    listStats(db, { ...range, ...order, isOutOfNetwork: false, asOf })
  const times = [null, LATER, new Date('2026-03-04T00:00:00Z'), new Date('2026-03-07T00:00:00Z')]
  const before = await Promise.all(times.map(ask))
  assert.ok(before.every((rows) => rows.some(({ impressions }) => impressions > 0)))

  const keys = [{ id: 1, key: Buffer.alloc(32) }]
  // Views of 2 to 4 March; the minimum retention is 31 days.
  const dropped = await retireViews(db, { nowMs: Date.UTC(2026, 3, 5), retentionDays: 31, keys })
  assert.ok(dropped > 0)
  assert.deepEqual(await Promise.all(times.map(ask)), before)
})
