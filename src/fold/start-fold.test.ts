import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '../../test/support/database.ts'
import { EVENT_TYPE, newEvent, viewLane } from '../events/event.ts'
import { openPostgresEventLog } from '../events/event-log-postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { startFold } from './start-fold.ts'

const PUB_ID = 7
/** The transaction waits 30 s unless it is cancelled. A stop has ten seconds. */
const STOP_MS = 10_000

test('the fold runs beside readers, survives broken connections, and stops on request', async (t) => {
  const db = await testDatabase(t)
  const log = openPostgresEventLog(db.connection)
  t.after(() => log.close())
  const folded: { lane: number; count: number; atMs: number }[] = []
  const errors: unknown[] = []
  const fold = startFold({
    connection: db.connection,
    onFolded: (lane, count, atMs) => folded.push({ lane, count, atMs }),
    onError: (error) => errors.push(error),
  })
  const atMs = Date.UTC(2026, 10, 21)
  const view = (id: number) =>
    newEvent({
      ...{ id: String(id), atMs, lane: viewLane(PUB_ID), type: EVENT_TYPE.pageImpression },
      ...{ pubId: PUB_ID, sessionKey: Buffer.alloc(16, id), urlKey: Buffer.alloc(16) },
    })
  const untilFolded = async (count: number) => {
    while (folded.reduce((sum, batch) => sum + batch.count, 0) < count) await sleep(20)
  }
  await log.append([view(1), view(2)])
  await untilFolded(2)
  assert.deepEqual(folded, [{ lane: viewLane(PUB_ID), count: 2, atMs }])

  await db.run(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'souk: fold' and datname = current_database()`)
  await log.append([view(3)])
  await untilFolded(3)
  assert(errors.length > 0, 'a broken connection is reported')
  const row = await db.row<{ impressions: string }>(sql`select impressions from page_day`)
  assert.equal(row?.impressions, '3')

  await fold.close()
  await log.append([view(4)])
  await sleep(200)
  assert.equal(
    folded.reduce((sum, batch) => sum + batch.count, 0),
    3,
  )
})

test('stopping does not wait for a hanging transaction, whose events the next owner folds', async (t) => {
  const db = await testDatabase(t)
  const log = openPostgresEventLog(db.connection)
  t.after(() => log.close())
  const onError = () => undefined
  const holder = await db.reserve()
  await holder.run(sql`begin`)
  await holder.run(sql`select from lane for update`)
  const stuck = startFold({ connection: db.connection, onFolded: () => assert.fail(), onError })
  await log.append([
    newEvent({
      ...{ id: '1', atMs: 0, lane: viewLane(PUB_ID), type: EVENT_TYPE.pageImpression },
      ...{ pubId: PUB_ID, sessionKey: Buffer.alloc(16), urlKey: Buffer.alloc(16) },
    }),
  ])
  const isWaiting = () =>
    db.row(sql`
      select from pg_stat_activity
      where application_name = 'souk: fold' and datname = current_database()
        and wait_event_type = 'Lock'`)
  while ((await isWaiting()) === null) await sleep(20)
  const startedMs = performance.now()
  await stuck.close()
  assert(performance.now() - startedMs < STOP_MS)
  await holder.run(sql`rollback`)
  holder.release()

  const { promise, resolve } = Promise.withResolvers<number>()
  const next = startFold({
    connection: db.connection,
    onFolded: (_, count) => resolve(count),
    onError,
  })
  assert.equal(await promise, 1)
  await next.close()
})
