/**
 * Keeps the event table's partitions ahead of time: one a UTC day, and closes those that are over.
 *
 * Nothing breaks without them, since the default partition takes what has no other; it would only
 * grow. A day that is not closed only costs whoever reads on from a position a look into it.
 */
import type { Db } from '../platform/postgres.ts'
import { startPulse } from '../platform/pulse.ts'
import { type Sql, sql } from '../platform/sql.ts'
import { DAY_MS, HOUR_MS, utcDay } from '../platform/timestamp.ts'

/** Today and a week more: upkeep may fail for days before the default partition is touched. */
const DAYS_AHEAD = 7
/** Often enough that a failure or two do not matter either. */
const UPKEEP_MS = HOUR_MS
/** While a partition waits for its lock, readers of the log wait behind it. */
const LOCK_TIMEOUT = '2s'

/** Makes what is missing of today's and the next days' partitions; how many it made. */
export async function ensureEventPartitions(db: Db, nowMs: number): Promise<number> {
  let made = 0
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead += 1) {
    const day = utcDay(nowMs + ahead * DAY_MS)
    if (await isChanged(db, sql`create_event_partition(${day}::date)`)) made += 1
  }
  return made
}

/**
 * Closes days before yesterday by the database's clock; how many. What comes late to a closed day
 * is found as well, for a few microseconds more an event. A day takes some 13 ms, so the first
 * start after an upgrade waits ten seconds where the log is two years old.
 */
export async function closeEventDays(db: Db): Promise<number> {
  const next = sql`close_next_event_day((now() at time zone 'utc')::date - 1)`
  let closed = 0
  while (await isChanged(db, next)) closed += 1
  return closed
}

/** Whether a function of the partitions had anything to do. */
function isChanged(db: Db, change: Sql): Promise<boolean> {
  return db.transaction(async (tx) => {
    await tx.run(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`)
    const row = await tx.row<{ is_changed: boolean }>(sql`select ${change} as is_changed`)
    return row?.is_changed === true
  })
}

/** Makes and closes partitions now and then every hour, until the timer is cleared. */
export async function startPartitionUpkeep(options: {
  db: Db
  now: () => number
  onError: (error: unknown) => void // also at the start: nothing depends on it at once
}): Promise<NodeJS.Timeout> {
  const { db, now, onError } = options
  const run = async () => {
    await ensureEventPartitions(db, now())
    await closeEventDays(db)
  }
  await run().catch(onError)
  return startPulse(run, { everyMs: UPKEEP_MS, onError })
}
