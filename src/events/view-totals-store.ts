/**
 * Daily totals of views, and the deletion of the events they replace, in SQL.
 *
 * A total is computed from the log, never from the figures, because it replaces the events when
 * those figures are recomputed.
 */
import { countOf, deleteInBatches } from '../platform/postgres/delete-in-batches.ts'
import { type Db, hasSqlState, LOCK_NOT_AVAILABLE } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { EVENT_TYPE } from './event.ts'

export interface LaneDay {
  readonly day: string
  readonly lane: number
}

/** A day of one lane, and the position up to which its totals reach. */
export interface ViewDay extends LaneDay {
  readonly seq: string
  readonly events: string
  readonly key_id: number
  readonly signature: Buffer
}

const { pageImpression, linkImpression, linkViewable, placement, shopView } = EVENT_TYPE

/** While the compaction waits for a reader, other readers wait behind it. */
const LOCK_TIMEOUT = '2s'
/** Session keys live 30 days, so events further apart are never of one session. */
export const SESSION_DAYS = 30

/** Days up to `dayTo` with folded views that no total contains yet, the oldest first. */
export function listDaysWithoutTotal(db: Db, dayTo: string): Promise<LaneDay[]> {
  return db.rows(sql`
    select days.day::date as day, lane.lane
    from generate_series((select min(day) from event), ${dayTo}::date, interval '1 day') days (day)
    cross join lane
    cross join lateral (
      select seq from event
      where event.day = days.day::date and event.lane = lane.lane and seq <= lane.position
      order by seq desc limit 1
    ) as last
    left join view_day on view_day.day = days.day::date and view_day.lane = lane.lane
    where lane.lane > 0 and (view_day.seq is null or view_day.seq < last.seq)
    order by days.day, lane.lane`)
}

/** Adds a day's folded events that its totals lack; returns the position reached and the count. */
export async function addTotals(
  tx: Db,
  { day, lane, after }: LaneDay & { readonly after: string },
): Promise<{ seq: string; events: string }> {
  // The planner does not know how many there are. It would assume one and use nested loops over two
  // months of views.
  await tx.run(sql`set local enable_nestloop to off`)
  const added = await tx.row<{ seq: string; events: string }>(sql`
    with seen as materialized (
      select seq, type, reason, pub_id, session_key, url_key, auction_id, merch_id
      from event
      where day = ${day} and lane = ${lane} and seq > ${after}
        and seq <= (select position from lane where lane = ${lane})
    ), repeated as (
      select distinct seen.seq
      from seen join event earlier using (pub_id, session_key)
      where seen.type = ${pageImpression} and seen.reason = 0
        and earlier.type = ${pageImpression} and earlier.reason = 0
        and earlier.lane = ${lane}
        and earlier.day between ${day}::date - ${SESSION_DAYS}::int
          and ${day}::date + ${SESSION_DAYS}::int
        and earlier.seq < seen.seq
    ), counted as (
      insert into view_total as total
        (day, lane, type, reason, pub_id, url_key, auction_id, merch_id, events, counted)
      select ${day}::date, ${lane}::smallint, type, reason, pub_id,
        case when type = ${pageImpression} then url_key end,
        case when type in (${linkImpression}, ${linkViewable}, ${placement}) then auction_id end,
        case when type in (${placement}, ${shopView}) then merch_id end,
        count(*), count(*) filter (where repeated.seq is null)
      from seen left join repeated using (seq)
      group by 3, 4, 5, 6, 7, 8
      on conflict (day, lane, type, reason, pub_id, url_key, auction_id, merch_id) do update set
        events = total.events + excluded.events, counted = total.counted + excluded.counted
    )
    select (select position from lane where lane = ${lane}) as seq, count(*) as events from seen`)
  if (added === null) throw new Error(`lane ${lane} is lost`)
  return added
}

/** Locks the row of a day for this transaction, so that two workers never add the same events. */
export async function lockViewDay(tx: Db, { day, lane }: LaneDay): Promise<ViewDay | null> {
  await tx.run(sql`select pg_advisory_xact_lock('view_day'::regclass::int, ${lane})`)
  return tx.row<ViewDay>(sql`
    select * from view_day where day = ${day} and lane = ${lane}`)
}

/** Stores a signed day. If its events were deleted before, it has new ones to delete. */
export async function saveViewDay(tx: Db, row: ViewDay): Promise<void> {
  const { day, lane, seq, events, key_id, signature } = row
  await tx.run(sql`
    insert into view_day as known (day, lane, seq, events, key_id, signature)
    values (${day}, ${lane}, ${seq}, ${events}, ${key_id}, ${signature})
    on conflict (day, lane) do update set
      seq = excluded.seq, events = excluded.events, key_id = excluded.key_id,
      signature = excluded.signature,
      state = case when known.state = 'dropped' and excluded.seq > known.seq
        then 'dropping' else known.state end`)
}

/** The hash of a day's current totals. */
export async function digestOf(db: Db, { day, lane }: LaneDay): Promise<string> {
  const row = await db.row<{ digest: string }>(sql`
    select encode(sha256(convert_to(coalesce(string_agg(
      concat_ws(' ', type, reason, coalesce(pub_id::text, '-'),
        coalesce(encode(url_key, 'hex'), '-'), coalesce(auction_id::text, '-'),
        coalesce(merch_id::text, '-'), events, counted), ','
      order by type, reason, pub_id, url_key, auction_id, merch_id), ''), 'UTF8')), 'hex') as digest
    from view_total where day = ${day} and lane = ${lane}`)
  return row?.digest ?? ''
}

/** Signed days of a range, the oldest first. */
export function listViewDays(db: Db, range: { from: string; to: string }): Promise<ViewDay[]> {
  return db.rows<ViewDay>(sql`
    select * from view_day where day between ${range.from} and ${range.to} order by day, lane`)
}

/** The first day of a lane with all its events; null if none was ever deleted. */
export async function findFirstDayWithViews(db: Db, lane: number): Promise<string | null> {
  const row = await db.row<{ day: string | null }>(sql`
    select max(day) + 1 as day from view_day where lane = ${lane} and state <> 'written'`)
  return row?.day ?? null
}

/** Days before `before` whose events are not completely deleted. */
export function listDaysToDrop(db: Db, before: string): Promise<ViewDay[]> {
  return db.rows<ViewDay>(sql`
    select * from view_day where day < ${before} and state <> 'dropped' order by day, lane`)
}

/** Days that were signed with another key. */
export function listDaysOfOtherKeys(db: Db, keyId: number): Promise<ViewDay[]> {
  return db.rows<ViewDay>(sql`
    select * from view_day where key_id <> ${keyId} order by day, lane`)
}

/** From now on the totals of these lanes replace their events. */
export async function markDropping(
  db: Db,
  { day, lanes }: { day: string; lanes: readonly number[] },
): Promise<void> {
  await db.run(sql`
    update view_day set state = 'dropping' where day = ${day} and lane = any(${lanes}::int[])`)
}

/** Deletes the events that a day's totals contain; returns how many. */
export function deleteViews(db: Db, { day, lane, seq }: ViewDay): Promise<number> {
  return deleteInBatches((limit) =>
    countOf(
      db,
      sql`
      with found as materialized (
        select id from event
        where day = ${day} and lane = ${lane} and seq <= ${seq}
        order by event.seq limit ${limit}
      ), gone as (
        -- The day as a value: else every day that there ever was is planned for and locked.
        delete from event where day = ${day} and id in (select id from found)
      )
      select count(*)::int as found from found`,
    ),
  )
}

/** Returns the space of a day's deleted events to the system, which completes the deletion. */
export async function finishDrop(db: Db, day: string): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      await tx.run(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`)
      await tx.run(sql`select compact_event_partition(${day}::date)`)
      await tx.run(sql`
        update view_day set state = 'dropped' where day = ${day} and state = 'dropping'`)
    })
  } catch (error) {
    // A reader was in the way; the space is returned another night.
    if (!hasSqlState(error, LOCK_NOT_AVAILABLE)) throw error
  }
}
