import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { EVENT_TYPE, viewLane } from '../events/event.ts'
import { sql } from '../platform/postgres/sql.ts'
import { CHANGES_START } from './change-cursor.ts'
import { listChanges } from './change-store.ts'
import { listClickEntries, readClickPage } from './click-page-store.ts'
import { readOrderPage } from './order-page-store.ts'
import { readOverview } from './overview-store.ts'
import { readReturnPage } from './return-page-store.ts'
import { listStats } from './row-store.ts'

const NOW = new Date('2026-08-01T00:00:00Z')
/** The fold dates changes by today's clock. */
const LATER = new Date('2100-01-01T00:00:00Z')
const db = await testDatabase()
const [one, other] = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')]
// The first publisher has no clicks. Its views lie in the same lane, and its article has the same
// URL.
await db.run(sql`alter table publisher alter column pub_id restart with 16`)
const idle = await makePublisherWorld(db, 'idle')
const { auctionId } = await idle.addArticle('Ten mugs')
assert.equal(viewLane(one.publisher.pub_id), viewLane(idle.publisher.pub_id))
const log = openFoldedLog({ after }, db)
await log.record(...(await makeBusyLog(one, other)))

// The day before, of which only totals remain.
const dropped = sql`'2026-01-02', ${viewLane(one.publisher.pub_id)}`
await db.run(sql`
  insert into view_day (day, lane, seq, events, key_id, signature, state)
  values (${dropped}, 1, 1, 1, '', 'dropped')`)
await db.run(sql`
  insert into view_total (day, lane, type, reason, pub_id, auction_id, merch_id, events, counted)
  values (${dropped}, ${EVENT_TYPE.placement}, 0, ${one.publisher.pub_id}, 1, 1, 1, 1)`)

/** Everything a publisher is shown, by place. */
async function shown(pubId: number) {
  const days = { pubId, dayFrom: '2026-01-01', dayTo: '2026-07-31' }
  const page = { ...days, cursor: null, outcome: null, now: NOW }
  const all = { orderBy: 'clicks', isAscending: false, limitRows: 1_000 } as const
  const stats = { ...days, ...all, isOutOfNetwork: true }
  const since = new Date('2026-01-01T00:00:00Z')
  const overview = await readOverview(db, days)
  const [click] = await db.rows<{ result_number: Buffer }>(sql`
    select result_number from click where pub_id = ${one.publisher.pub_id}`)
  const resultNumber = click?.result_number ?? Buffer.alloc(0)
  return {
    overview: overview.rows,
    unpaid: overview.days.filter((day) => day.clicks + day.unpaid_clicks > 0),
    clicks: (await readClickPage(db, page)).clicks,
    clicksOfResult: await listClickEntries(db, { pubId, resultNumber }),
    orders: (await readOrderPage(db, page)).orders,
    returns: (await readReturnPage(db, page)).returns,
    stats: await listStats(db, { ...stats, asOf: null }),
    statsThen: await listStats(db, { ...stats, asOf: LATER }),
    changes: (await listChanges(db, { pubId, since, cursor: CHANGES_START, limitRows: 1_000 }))
      .changes,
  }
}

test('a publisher without clicks is shown nothing, whatever other publishers of its lane have', async () => {
  for (const [place, rows] of Object.entries(await shown(one.publisher.pub_id))) {
    assert.ok(rows.length > 0, place)
  }
  for (const [place, rows] of Object.entries(await shown(idle.publisher.pub_id))) {
    assert.deepEqual(rows, [], place)
  }
})

test('the views of an article count for the publisher whose page it is', async () => {
  const { pub_id: pubId } = idle.publisher
  const own = { id: '999999', pubId, merchId: idle.merchant.merch_id, auctionId }
  await log.record({ ...new MoneyEvents().click('theirs', START_MS, {}), ...own })
  const { stats, statsThen, changes } = await shown(pubId)
  const [now, then] = [stats, statsThen].map((rows) => rows.map(({ impressions }) => impressions))
  assert.deepEqual([now, then, changes.length], [[0], [0], 1])
  const theirs = (await shown(one.publisher.pub_id)).statsThen.filter((row) => row.impressions > 0)
  assert.ok(theirs.length > 0)
  assert.ok(theirs.every((row) => row.pub_id !== pubId && row.article_id !== stats[0]?.article_id))
})
