/**
 * Figures by article, merchant and day in SQL, and page impressions by article and day: the current
 * ones, and those at an earlier time. `row-store.ts` turns them into rows.
 */
import { EVENT_TYPE, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { SESSION_DAYS } from '../events/view-totals-store.ts'
import { IS_ARTICLE_THERE } from '../links/article-views-store.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import type { DayRange } from './day-range.ts'

/** Days of a publisher, currently or, with a time, as reported at that time. */
interface FigureDays extends DayRange {
  readonly asOf?: Date | null
}

/** The sums over several rows. */
export const SUMS = sql`
  sum(clicks)::bigint as clicks, sum(sales)::bigint as sales,
  sum(revenue_micros)::bigint as revenue_micros, sum(earnings_micros)::bigint as earnings_micros`

/** The figures of each row, by article, merchant and day. */
export function dailyFigures({ asOf = null, ...days }: FigureDays): Sql {
  return asOf === null ? figuresNow(days) : figuresThen(days, asOf)
}

/** Page impressions of the publisher's articles, by article and day. */
export function seenOf({ asOf = null, ...days }: FigureDays): Sql {
  return asOf === null ? seenNow(days) : seenThen(days, asOf)
}

/** Rows with robots' clicks only are left out. */
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

/**
 * The figures at a time: the sum of the changes until then. Placements create rows without a
 * change, so they are looked up.
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
    ) as figure
    group by day, article_id, merch_id`
}

/**
 * Views have no change rows, so they are counted again from the log. A session counts at its first
 * event, which for a session across midnight lies on the day before the range. Views before the
 * article was created count from its creation.
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
 * The last day of a publisher whose views are counted from totals: the last deleted day plus the
 * longest session.
 */
function totalledTo(pubId: number): Sql {
  return sql`(
    select coalesce(max(day) + ${SESSION_DAYS}::int, '-infinity'::date) from view_day
    where lane = ${viewLane(pubId)} and state <> 'written')`
}

/**
 * The days whose views are counted from the log. `is true` hides the limit, which the planner
 * cannot estimate, from the day index; otherwise the query reads all of each day (measured over a
 * year of 5 million views: 8.4 s, instead of 0.9 s).
 */
function isInLog(pubId: number): Sql {
  return sql`(day > ${totalledTo(pubId)}) is true`
}

/** Totals have no time of day. They count from the end of their day. */
function totals({ pubId, dayFrom, dayTo }: DayRange, asOf: Date): Sql {
  return sql`
    select * from view_total
    where lane = ${viewLane(pubId)} and pub_id = ${pubId} and day between ${dayFrom} and ${dayTo}
      and day <= ${totalledTo(pubId)} and day < (${asOf}::timestamptz at time zone 'UTC')::date`
}

/**
 * Rows of the other networks' reports that had been imported by the time. Their merchants have no
 * id here.
 */
export function networkFigures({ pubId, dayFrom, dayTo, asOf = null }: FigureDays): Sql {
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
