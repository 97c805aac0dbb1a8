/** Samples of the fold's lag over the last day, for the operator. */
import { DEAD_AFTER_SECONDS } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { countBehind, listLanesBehind } from './lane-store.ts'

/** Counting more takes longer than a page should. */
export const EVENTS_COUNTED_MAX = 100_000

export interface HealthSample {
  readonly at: Date
  readonly lag_seconds: number
  readonly events_waiting: number
  readonly nodes_alive: number
}

/** Stores the present state, and deletes samples that are older than a day. */
export async function takeHealthSample(db: Db, now: Date): Promise<void> {
  const behind = await listLanesBehind(db)
  const oldestMs = Math.min(now.getTime(), ...behind.map(({ waiting_since: at }) => at.getTime()))
  const waiting = behind.length === 0 ? 0 : await countBehind(db, EVENTS_COUNTED_MAX)
  await db.run(sql`
    insert into health_sample (at, lag_seconds, events_waiting, nodes_alive)
    select ${now}, ${(now.getTime() - oldestMs) / 1000}, ${waiting}, count(*)
    from node
    where roles <> 'command'
      and heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS})
    on conflict (at) do nothing`)
  await db.run(sql`
    delete from health_sample where at < ${new Date(now.getTime() - DAY_MS)}`)
}

/** The samples of the last day, oldest first. */
export function listHealthSamples(db: Db, now: Date): Promise<HealthSample[]> {
  return db.rows(sql`
    select at, lag_seconds, events_waiting, nodes_alive from health_sample
    where at > ${new Date(now.getTime() - DAY_MS)} order by at`)
}
