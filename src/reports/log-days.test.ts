/** A log of years has a partition per day; a query about a few days must touch no other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { deleteViews } from '../events/view-totals-store.ts'
import { areFolded } from '../fold/lane-store.ts'
import { openReleases } from '../ledger/publisher-releases.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { listChangedOrders } from '../webhooks/notice-store.ts'
import { listClickRows } from './clicks-store.ts'
import { listOrderRows } from './orders-store.ts'

test('queries about known days of the log neither plan nor lock other days', async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`
    select create_event_partition(day) from unnest('{2026-03-02,2026-03-03}'::date[]) as day`)
  const world = await makePublisherWorld(db)
  const { auctionId } = await world.addArticle('Ten mugs')
  const [{ pub_id: pubId }, { merch_id: merchId }] = [world.publisher, world.merchant]
  const events = new MoneyEvents()
  const own = { merchId, pubId, auctionId }
  const order = { ...events.order('o1', START_MS, { click: 'a' }), merchId }
  const log = openFoldedLog(t, db)
  await log.record(events.click('a', START_MS, own), order)
  await log.record(events.click('b', START_MS + DAY_MS, own))
  const [dayFrom, dayTo, limitRows] = ['2026-03-02', '2026-03-02', 10]
  const request = {
    pubId,
    dayFrom,
    dayTo,
    limitRows,
    cursor: null,
    now: new Date(START_MS + DAY_MS),
  }
  const viewDay = { day: dayFrom, lane: 1, seq: '1', events: '0', key_id: 0 }
  const asked: Record<string, (tx: Db) => Promise<void>> = {
    clicks: async (tx) => assert.equal((await listClickRows(tx, request)).rows.length, 1),
    orders: async (tx) => {
      const releases = openReleases(tx, { pubId, until: request.now })
      assert.equal((await listOrderRows(tx, request, releases)).rows.length, 2)
    },
    notices: async (tx) => {
      const changes = await listChangedOrders(tx, { after: '0', limit: 2 })
      assert.equal(changes.orders.length, 1)
    },
    fold: async (tx) => assert.equal(await areFolded(tx, [order]), true),
    views: async (tx) => {
      await deleteViews(tx, { ...viewDay, signature: Buffer.alloc(0) })
    },
  }
  for (const [name, ask] of Object.entries(asked)) {
    await db.transaction(async (tx) => {
      await ask(tx)
      const days = await tx.rows(sql`
        select distinct relname as day from pg_class
        join pg_locks on relation = pg_class.oid and pid = pg_backend_pid()
        where relkind = 'r' and relname ~ '^event_(2|default)' order by relname`)
      assert.deepEqual(days, [{ day: 'event_20260302' }], name)
    })
  }
})
