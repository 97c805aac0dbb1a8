/**
 * Figures by article, merchant and day in SQL, and page impressions by article and day: as they
 * are now, and as they were. `row-store.ts` makes rows of section 4.4 of them.
 */
import { EVENT_TYPE, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { SESSION_DAYS } from '../events/view-totals-store.ts'
import { type Sql, sql } from '../platform/sql.ts'
import type { DayRange } from './day-range.ts'

/** Days of a publisher, as they are or, with a time, as the report said them then. */
interface ToldDays extends DayRange {
  readonly asOf?: Date | null
}

/** The figures of several rows as those of one. */
export const SUMS = sql`
  sum(clicks)::bigint as clicks, sum(sales)::bigint as sales,
  sum(revenue_micros)::bigint as revenue_micros, sum(earnings_micros)::bigint as earnings_micros`

/** The figures of each row, by article, merchant and day. */
export function figuresOf({ asOf = null, ...days }: ToldDays): Sql {
  return asOf === null ? figuresNow(days) : figuresThen(days, asOf)
}

/** Page impressions of the publisher's articles, by article and day. */
export function seenOf({ asOf = null, ...days }: ToldDays): Sql {
  return asOf === null ? seenNow(days) : seenThen(days, asOf)
}

/** What robots alone made is no row (decisions 4.4 say what makes one). */
function figuresNow({ pubId, dayFrom, dayTo }: DayRange): Sql {
  return sql`
    select day, article_id, merch_id, clicks, sales, revenue_micros, earnings_micros
    from stats_day
    where pub_id = ${pubId} and day between ${dayFrom} and ${dayTo} and is_row`
}

function seenNow({ pubId, dayFrom, dayTo }: DayRange): Sql {
  return sql`
    select day, article_id, impressions
    from page_day join article using (pub_id, url_key)
    where pub_id = ${pubId} and day between ${dayFrom} and ${dayTo} and impressions > 0
      and ${IS_ARTICLE_THERE}`
}

/** Impressions of an address count from the day on which its article was created. */
export const IS_ARTICLE_THERE = sql`day >= (article.datetime_created at time zone 'UTC')::date`

/**
 * What the report said at a time: the sum of the changes until then. Placements make a row without
 * a change, and are looked up.
 */
function figuresThen({ pubId, dayFrom, dayTo }: DayRange, asOf: Date): Sql {
  return sql`
    select day, article_id, merch_id, ${SUMS} from (
      select day, article_id, merch_id, clicks, sales, revenue_micros, earnings_micros
      from stats_change
      where pub_id = ${pubId} and changed_at <= ${asOf} and day between ${dayFrom} and ${dayTo}
      union all
      select day, coalesce(article_id, 0), merch_id, 0, 0, 0, 0
      from event left join (select auction_id, article_id from smart_link) as link
        using (auction_id)
      where lane = ${viewLane(pubId)} and type = ${EVENT_TYPE.placement} and pub_id = ${pubId}
        and day between ${dayFrom} and ${dayTo} and at <= ${asOf} and reason = ${REASON.ok}
        and merch_id <> 0 and ${isInLog(pubId)}
      union all
      select day, coalesce(article_id, 0), merch_id, 0, 0, 0, 0
      from (${totals({ pubId, dayFrom, dayTo }, asOf)}) as total
      left join (select auction_id, article_id from smart_link) as link using (auction_id)
      where type = ${EVENT_TYPE.placement} and reason = ${REASON.ok} and merch_id <> 0
    ) as told
    group by day, article_id, merch_id`
}

/**
 * Views have no change rows: they are counted again from the log. A session's first event counts,
 * which for one that runs over midnight lies on the day before the range. What was seen before its
 * article was made is no row until then.
 */
function seenThen({ pubId, dayFrom, dayTo }: DayRange, asOf: Date): Sql {
  return sql`
    select day, article_id, sum(counted)::bigint as impressions
    from (
      select day, url_key, 0 as reason, 1 as counted
      from (
        select distinct on (session_key) day, url_key
        from event
        where lane = ${viewLane(pubId)} and type = ${EVENT_TYPE.pageImpression} and reason = 0
          and pub_id = ${pubId} and day between ${dayFrom}::date - 1 and ${dayTo} and at <= ${asOf}
        order by session_key, seq
      ) as first_view
      where day >= ${dayFrom} and ${isInLog(pubId)}
      union all
      select day, url_key, reason, counted
      from (${totals({ pubId, dayFrom, dayTo }, asOf)}) as total
      where type = ${EVENT_TYPE.pageImpression} and counted > 0
    ) as seen
    join article on article.pub_id = ${pubId} and article.url_key = seen.url_key
    where reason = 0 and ${IS_ARTICLE_THERE} and article.datetime_created <= ${asOf}
    group by day, article_id`
}

/**
 * The last day of a publisher whose views are counted by totals: as long after the last that was
 * dropped as its sessions may go on.
 */
function totalledTo(pubId: number): Sql {
  return sql`(
    select coalesce(max(day) + ${SESSION_DAYS}::int, '-infinity'::date) from view_day
    where lane = ${viewLane(pubId)} and state <> 'written')`
}

/**
 * Of a publisher's days: those whose views are counted from the log. `is true` hides the limit,
 * which the planner does not know, from the index of days: it would read all of each day by it
 * (measured over a year of 5 million views: 8.4 s, and 0.9 s without).
 */
function isInLog(pubId: number): Sql {
  return sql`(day > ${totalledTo(pubId)}) is true`
}

/** Totals know no time of day: they count from the end of their own on. */
function totals({ pubId, dayFrom, dayTo }: DayRange, asOf: Date): Sql {
  return sql`
    select * from view_total
    where lane = ${viewLane(pubId)} and pub_id = ${pubId} and day between ${dayFrom} and ${dayTo}
      and day <= ${totalledTo(pubId)} and day < (${asOf}::timestamptz at time zone 'UTC')::date`
}

/**
 * Rows of other networks' reports, of the imports shown at the time: their merchants have no id
 * here.
 */
export function networkFigures({ pubId, dayFrom, dayTo, asOf = null }: ToldDays): Sql {
  const isShown =
    asOf === null
      ? sql`until is null`
      : sql`network_partition.at <= ${asOf} and coalesce(until > ${asOf}, true)`
  return sql`
    select report_date as day, article_id, 0 as merch_id, ${SUMS}
    from network_row join network_partition using (import_id, report_date)
    where pub_id = ${pubId} and report_date between ${dayFrom} and ${dayTo} and ${isShown}
    group by report_date, article_id, network, advertiser`
}
