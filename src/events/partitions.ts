/**
 * Creates the event table's daily partitions ahead of time, and closes past days.
 *
 * Nothing breaks without them: the default partition takes every other day, but would grow. An open
 * past day only costs readers a look into it.
 */

import { startPoller } from '../platform/concurrency/poller.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS, utcDay } from '../platform/time/timestamp.ts'

/** Today and one more week, so the job may fail for days before the default partition is used. */
const DAYS_AHEAD = 7
/** Often enough that one or two failures do not matter. */
const UPKEEP_MS = HOUR_MS
/** While a partition waits for its lock, readers of the log wait behind it. */
const LOCK_TIMEOUT = '2s'

/** Creates missing partitions of today and the next days; returns how many. */
export async function ensureEventPartitions(db: Db, nowMs: number): Promise<number> {
  let made = 0
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead += 1) {
    const day = utcDay(nowMs + ahead * DAY_MS)
    if (await isChanged(db, sql`create_event_partition(${day}::date)`)) made += 1
  }
  return made
}

/**
 * Closes days before yesterday by the database's clock; returns how many. Late events on a closed
 * day are still found, at a few microseconds more per event. A day takes about 13 ms, so the first
 * start after an upgrade waits ten seconds if the log is two years old.
 */
export async function closeEventDays(db: Db): Promise<number> {
  const next = sql`close_next_event_day((now() at time zone 'utc')::date - 1)`
  let closed = 0
  while (await isChanged(db, next)) closed += 1
  return closed
}

/** Whether a partition function changed anything. */
function isChanged(db: Db, change: Sql): Promise<boolean> {
  return db.transaction(async (tx) => {
    await tx.run(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`)
    const row = await tx.row<{ is_changed: boolean }>(sql`select ${change} as is_changed`)
    return row?.is_changed === true
  })
}

/** Creates and closes partitions now and every hour, until the timer is cleared. */
export async function startPartitionUpkeep(options: {
  db: Db
  now: () => number
  // Also called at the start, because nothing depends on it at once.
  onError: (error: unknown) => void
}): Promise<NodeJS.Timeout> {
  const { db, now, onError } = options
  const run = async () => {
    await ensureEventPartitions(db, now())
    await closeEventDays(db)
  }
  await run().catch(onError)
  return startPoller(run, { everyMs: UPKEEP_MS, onError })
}
