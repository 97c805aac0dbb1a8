import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scope, testDatabase } from '../../test/support/database.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { makeIdSource } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { EVENT_TYPE, type LogEvent, newEvent } from './event.ts'
import type { EventLog } from './event-log.ts'
import { openPostgresEventLog } from './event-log-postgres.ts'
import { closeEventDays, ensureEventPartitions } from './partitions.ts'
import { firstUnfoldedDay } from './unfolded-days-store.ts'

const LANE = 3
const { next } = makeIdSource({ nodeId: 1, now: Date.now })
const daysAgo = (days: number): LogEvent =>
  newEvent({ id: next(), atMs: Date.now() - days * DAY_MS, lane: LANE, type: EVENT_TYPE.click })

/** A log of some days whose partitions were created in time. */
async function openOldLog(scope: Scope): Promise<{ db: Database; log: EventLog }> {
  const db = await testDatabase(scope)
  for (const days of [14, 6]) await ensureEventPartitions(db, Date.now() - days * DAY_MS)
  await ensureEventPartitions(db, Date.now())
  const log = openPostgresEventLog(db.connection)
  scope.after(() => log.close())
  return { db, log }
}

const ids = (events: readonly LogEvent[]): string[] => events.map(({ id }) => id)

async function readAfter(log: EventLog, position: string): Promise<string[]> {
  return ids(await log.read({ lane: LANE, position, limit: 100 }))
}

test('days before yesterday are closed, each once', async (t) => {
  const { db } = await openOldLog(scopeOf(t))
  assert.equal(await closeEventDays(db), 13)
  assert.equal(await closeEventDays(db), 0)
})

test('events unread when their day was closed, and late events, are read in order', async (t) => {
  const { db, log } = await openOldLog(scopeOf(t))
  const early = [daysAgo(10), daysAgo(0), daysAgo(10)]
  await log.append(early)
  await closeEventDays(db)
  assert.deepEqual(await readAfter(log, '0'), ids(early))
  const [last] = (await log.read({ lane: LANE, position: '0', limit: 100 })).slice(-1)
  assert.deepEqual(await readAfter(log, last?.seq ?? ''), [])
  const late = [daysAgo(9), daysAgo(0), daysAgo(12), daysAgo(0)]
  for (const event of late) await log.append([event])
  assert.deepEqual(await readAfter(log, last?.seq ?? ''), ids(late))
  assert.deepEqual(await readAfter(log, '0'), ids([...early, ...late]))
})

test('days without a partition, and partitions created later, hide no event', async (t) => {
  const { db, log } = await openOldLog(scopeOf(t))
  await closeEventDays(db)
  const events = [daysAgo(0), daysAgo(100), daysAgo(1)]
  await log.append(events)
  assert.deepEqual(await readAfter(log, '0'), ids(events))
  await ensureEventPartitions(db, Date.now() - 100 * DAY_MS)
  const later = [daysAgo(0), daysAgo(98), daysAgo(100)]
  await log.append(later)
  assert.deepEqual(await readAfter(log, '0'), ids([...events, ...later]))
})

test('a day that was read to its end is not opened again', async (t) => {
  const scope = scopeOf(t)
  const { db, log } = await openOldLog(scope)
  await log.append([daysAgo(10)])
  await closeEventDays(db)
  const [first] = await log.read({ lane: LANE, position: '0', limit: 1 })
  const position = first?.seq ?? ''
  await log.read({ lane: LANE, position, limit: 1 })
  await db.run(sql`update lane set position = ${position} where lane = ${LANE}`)
  const other = await db.reserve()
  scope.after(async () => other.release())
  const name = `event_${first?.day.replaceAll('-', '')}`
  await other.run(sql`begin`)
  await other.run(sql`select set_config('souk.test', ${name}, false)`)
  await other.run(sql`do $$ begin
    execute format('lock table %I in access exclusive mode', current_setting('souk.test')); end $$`)
  await log.append([daysAgo(0)])
  assert.equal((await readAfter(log, position)).length, 1)
  const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)
  assert.equal(await firstUnfoldedDay(db, [LANE]), yesterday)
})

test('a reader misses nothing while days are closed and late events arrive', async (t) => {
  const { db, log } = await openOldLog(scopeOf(t))
  const appended: LogEvent[] = []
  const seen: string[] = []
  let isOver = false
  const write = async (daysAt: (round: number) => number) => {
    for (let round = 0; round < 60; round += 1) {
      const event = daysAgo(daysAt(round))
      appended.push(event)
      await log.append([event])
    }
  }
  const follow = async () => {
    let position = '0'
    for (;;) {
      const wasOver = isOver
      const events = await log.read({ lane: LANE, position, limit: 7 })
      seen.push(...ids(events))
      position = events.at(-1)?.seq ?? position
      if (events.length === 0 && wasOver) return
    }
  }
  const following = follow()
  const closing = closeEventDays(db)
  await Promise.all([write(() => 0), write((round) => (5 * round) % 13), closing])
  isOver = true
  await following
  assert.deepEqual(seen.toSorted(), ids(appended).toSorted())
})
