import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scope, testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/market.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { makeIdSource } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { EVENT_TYPE, type LogEvent, newEvent } from './event.ts'
import { EventRefused } from './event-log.ts'
import { openPostgresEventLog } from './event-log-postgres.ts'
import { ensureEventPartitions, startPartitionUpkeep } from './partitions.ts'

const NOON = Date.UTC(2026, 6, 31, 12)

const { next } = makeIdSource({ nodeId: 1, now: Date.now })
const eventAt = (atMs: number) => newEvent({ id: next(), atMs, lane: 0, type: EVENT_TYPE.click })

async function rowsByPartition(database: Database): Promise<Record<string, number>> {
  const rows = await database.rows<{ name: string; n: number }>(sql`
    select tableoid::regclass::text as name, count(*)::int as n from event group by 1`)
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}

test('today and the next seven days get a partition, once', async (t) => {
  const database = await testDatabase(t)
  assert.equal(await ensureEventPartitions(database, NOON), 8)
  assert.equal(await ensureEventPartitions(database, NOON), 0)
  assert.equal(await ensureEventPartitions(database, NOON + DAY_MS), 1)
  const rows = await database.rows<{ name: string }>(sql`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = 'event'::regclass order by name`)
  assert.deepEqual(
    rows.map(({ name }) => name),
    [
      ...['event_20260731', 'event_20260801', 'event_20260802', 'event_20260803'],
      ...['event_20260804', 'event_20260805', 'event_20260806', 'event_20260807'],
      ...['event_20260808', 'event_default'],
    ],
  )
})

test('processes that start together do not block each other', async (t) => {
  const database = await testDatabase(t)
  const made = await Promise.all(
    Array.from({ length: 4 }, () => ensureEventPartitions(database, NOON)),
  )
  assert.equal(
    made.reduce((sum, count) => sum + count),
    8,
  )
})

test('events accepted before their partition existed move into it and stay in order', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const log = openPostgresEventLog(database.connection)
  scope.after(() => log.close())
  const events = [0, 1, 30].map((days) => eventAt(NOON + days * DAY_MS))
  await log.append(events)
  assert.deepEqual(await rowsByPartition(database), { event_default: 3 })
  const before = await log.read({ lane: 0, position: '0', limit: 10 })

  await ensureEventPartitions(database, NOON)
  assert.deepEqual(await rowsByPartition(database), {
    event_20260731: 1,
    event_20260801: 1,
    event_default: 1,
  })
  assert.deepEqual(await log.read({ lane: 0, position: '0', limit: 10 }), before)
  await log.append(events)
  assert.deepEqual(await log.read({ lane: 0, position: '0', limit: 10 }), before)
})

test('appends continue while partitions are created', async (t) => {
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  const log = openPostgresEventLog(database.connection)
  scope.after(() => log.close())
  await ensureEventPartitions(database, NOON)
  // Like the maintenance job, but left open so that its locks stay.
  const upkeep = await database.reserve()
  scope.after(async () => upkeep.release())
  await upkeep.run(sql`begin`)
  await upkeep.run(sql`select create_event_partition('2026-09-01')`)
  await log.append([eventAt(NOON), eventAt(NOON + DAY_MS)])
  await upkeep.run(sql`commit`)
  assert.equal((await log.read({ lane: 0, position: '0', limit: 10 })).length, 2)
})

/** A log whose partition of that day is being created: its locks stay until `done`. */
async function openWhileMade(scope: Scope, before: LogEvent) {
  const database = await testDatabase(scope)
  const log = openPostgresEventLog(database.connection)
  scope.after(() => log.close())
  const read = async () =>
    (await log.read({ lane: 0, position: '0', limit: 10 })).map(({ id }) => id)
  await ensureEventPartitions(database, NOON + DAY_MS)
  await log.append([before])
  assert.deepEqual(await read(), [before.id])
  const upkeep = await database.reserve()
  scope.after(async () => upkeep.release())
  await upkeep.run(sql`begin`)
  await upkeep.run(sql`select create_event_partition('2026-07-31')`)
  const done = async () => {
    await until(async () => {
      const row = await database.row<{ is_waited_for: boolean }>(sql`
        select exists (select from pg_locks
          where relation = 'event_default'::regclass and not granted) as is_waited_for`)
      return row?.is_waited_for === true
    })
    await upkeep.run(sql`commit`)
  }
  return { log, read, done }
}

test('events that move into their partition during a read are not skipped', async (t) => {
  const [early, later] = [eventAt(NOON), eventAt(NOON + DAY_MS)]
  const { log, read, done } = await openWhileMade(scopeOf(t), early)
  await log.append([later])
  const reading = read()
  await done()
  assert.deepEqual(await reading, [early.id, later.id])
})

test('an event that waits while its partition is created is not refused', async (t) => {
  const [early, waiting] = [eventAt(NOON), eventAt(NOON)]
  const { log, read, done } = await openWhileMade(scopeOf(t), early)
  const appending = log.append([waiting]).catch((error: unknown) => error)
  await done()
  assert.ok(!((await appending) instanceof EventRefused))
  await log.append([waiting])
  assert.deepEqual(await read(), [early.id, waiting.id])
})

test('a process that runs for weeks keeps partitions ahead of its clock', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const scope = scopeOf(t)
  const database = await testDatabase(scope)
  let clock = NOON
  // Also reported after the end: days are closed once the partitions exist.
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const upkeep = await startPartitionUpkeep({ db: database, now: () => clock, onError })
  scope.after(async () => clearInterval(upkeep))
  clock += 20 * DAY_MS
  t.mock.timers.tick(3_600_000)
  await until(async () => {
    const row = await database.row<{ is_ahead: boolean }>(sql`
      select to_regclass('event_20260820') is not null and to_regclass('event_20260827') is not null
        as is_ahead`)
    return row?.is_ahead === true
  })
  assert.deepEqual(errors, [])
})
