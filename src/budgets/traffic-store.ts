/** The clicks of each publisher by hour of the week: learned from the log, read by every node. */
import { MONEY_LANE } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import { HOURS_PER_WEEK, type HoursOfWeek } from './traffic-curve.ts'

/** Whole weeks, so that each hour of the week is counted equally often. */
const WEEKS = 4

/** Paid clicks and those that a spent budget missed: both are traffic. */
const READERS = [REASON.ok, REASON.unfunded, REASON.spooledLate]

/**
 * Recounts the last weeks, without robots, broken seals and repeats: they are free, so a sender
 * could shift the budgets of others to the night. Free clicks of one address count once an hour for
 * the same reason; carriers share enough addresses to keep the shape of a day.
 */
export async function learnTraffic(db: Db, nowMs: number): Promise<void> {
  const until = new Date(nowMs)
  const from = new Date(nowMs - WEEKS * 7 * DAY_MS)
  await db.transaction(async (tx) => {
    await tx.run(sql`delete from traffic_hour`)
    await tx.run(sql`
      insert into traffic_hour (pub_id, hour_of_week, clicks)
      select pub_id, (extract(isodow from at) - 1) * 24 + extract(hour from at) as hour, count(*)
      from (
        select distinct on (date_trunc('hour', click.at), coalesce(event.address_key, click.click_id))
          click.pub_id, click.at
        from click left join event on event.day = click.day and event.id = click.event_id
          and event.lane = ${MONEY_LANE}
          and event.day between ${utcDay(from.getTime())} and ${utcDay(nowMs)}
        where click.at >= ${from} and click.at < ${until} and click.merch_id <> 0
          and click.reason = any(${READERS}::int[]) and reversed_at is null
        order by date_trunc('hour', click.at), coalesce(event.address_key, click.click_id),
          click.at, click.event_id
      ) as reader
      group by pub_id, hour`)
  })
}

/** The counts of each publisher that had any. */
export async function loadTraffic(db: Db): Promise<Map<number, HoursOfWeek>> {
  const rows = await db.rows<{ pub_id: number; hour_of_week: number; clicks: string }>(sql`
    select pub_id, hour_of_week, clicks from traffic_hour`)
  const publishers = new Map<number, HoursOfWeek>()
  for (const { pub_id, hour_of_week, clicks } of rows) {
    const hours = publishers.getOrInsertComputed(pub_id, () => new Float64Array(HOURS_PER_WEEK))
    hours[hour_of_week] = Number(clicks)
  }
  return publishers
}
