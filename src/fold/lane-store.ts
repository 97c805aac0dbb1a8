/** How far the lanes of the log have been folded. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LANES, type LogEvent, MONEY_LANE } from '../events/event.ts'
import { firstUnfoldedDay } from '../events/unfolded-days-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'

const POLL_MS = 50

/** Whether the fold has processed all of these money events: none waits, and none is set aside. */
export async function areFolded(
  db: Db,
  events: readonly { readonly id: string; readonly atMs: number }[],
): Promise<boolean> {
  // Days are passed as values, because otherwise the planner considers every day.
  const row = await db.row<{ folded: number }>(sql`
    select count(*)::int as folded from event join lane using (lane)
    where lane = ${MONEY_LANE} and seq <= position
      and not exists (select from unfolded_event where lane = event.lane and seq = event.seq)
      and day = any(${[...new Set(events.map(({ atMs }) => utcDay(atMs)))]}::date[])
      and id = any(${events.map(({ id }) => id)}::bigint[])`)
  return row?.folded === events.length
}

/** Waits until the worker has folded these events of the money lane. False on timeout. */
export async function waitUntilFolded(
  db: Db,
  events: readonly LogEvent[],
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_MS) {
    if (await areFolded(db, events)) return true
    await sleep(POLL_MS)
  }
  return areFolded(db, events)
}

export interface LaneBehind {
  readonly lane: number
  readonly waiting_since: Date
}

/** Lanes with waiting events, and the age of the oldest. */
export async function listLanesBehind(db: Db): Promise<LaneBehind[]> {
  const waiting = await waitingEvents(db)
  return db.rows(sql`
    select lane.lane, first.at as waiting_since
    from lane
    cross join lateral (select at ${waiting} limit 1) as first
    order by lane.lane
  `)
}

/** The number of waiting events, counted up to `max`. */
export async function countBehind(db: Db, max: number): Promise<number> {
  const waiting = await waitingEvents(db)
  const row = await db.row<{ events: number }>(sql`
    select count(*)::int as events from (
      select from lane cross join lateral (select ${waiting} limit ${max}) as behind limit ${max}
    ) as counted`)
  return row?.events ?? 0
}

/** The waiting events of one lane, in order, by index. */
async function waitingEvents(db: Db): Promise<Sql> {
  const dayFrom = await firstUnfoldedDay(db, LANES)
  return sql`
    from event
    where event.lane = lane.lane and event.seq > lane.position and event.day >= ${dayFrom}
    order by seq`
}
