/** A publisher's links and articles with their figures, those that lose most first. */
import { IS_ARTICLE_THERE } from '../links/article-views-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { Health } from './link-health.ts'
import type { LinkOfMarket } from './link-market-store.ts'

export interface FiguredRow {
  readonly clicks: string
  readonly invalid_clicks: string
  readonly orders: string
  readonly revenue_micros: string
  readonly earnings_micros: string
}

export interface ListedLink extends LinkOfMarket, FiguredRow {
  readonly smart_link_id: number
  readonly state: 'active' | 'disabled'
  readonly article_id: number
  readonly article_name: string
  readonly article_url: string
  readonly impressions: string
  readonly risk_micros: string
  readonly is_dead: boolean
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

export interface ListWanted {
  readonly pubId: number
  readonly dayFrom: string
  readonly limitRows: number
  readonly skipRows: number
}

export function listLinksWithFigures(
  db: Db,
  wanted: ListWanted & {
    readonly articleId: number | null
    readonly health: Health | null
    /** Either id of one link. */
    readonly link: string | null
    /** In lower case; empty: all. */
    readonly search: string
  },
): Promise<ListedLink[]> {
  const { pubId, dayFrom, limitRows, skipRows, articleId, health, link, search } = wanted
  return db.rows(sql`
    with figure as (
      select value::bigint as auction_id, sum(clicks)::bigint as clicks,
        sum(invalid_clicks)::bigint as invalid_clicks, sum(orders)::bigint as orders,
        sum(revenue_micros)::bigint as revenue_micros,
        sum(earnings_micros)::bigint as earnings_micros
      from figure_day
      where pub_id = ${pubId} and property = 'link' and day >= ${dayFrom} group by 1
    ), seen as (
      select auction_id, sum(impressions)::bigint as impressions
      from link_day where pub_id = ${pubId} and day >= ${dayFrom} group by 1
    )
    select smart_link_id, auction_id, l.url, unwraps, is_exclusive, l.state, l.article_id,
      a.name as article_name, a.url as article_url, coalesce(clicks, 0) as clicks,
      coalesce(invalid_clicks, 0) as invalid_clicks, coalesce(orders, 0) as orders,
      coalesce(revenue_micros, 0) as revenue_micros,
      coalesce(earnings_micros, 0) as earnings_micros, coalesce(impressions, 0) as impressions,
      coalesce(risk_micros, 0) as risk_micros, checked.dead_since is not null as is_dead,
      l.datetime_created, l.datetime_updated
    from smart_link l join article a using (article_id)
    left join figure using (auction_id) left join seen using (auction_id)
    left join link_health using (auction_id)
    left join link_check checked on checked.url_hash = l.url_hash
    where l.pub_id = ${pubId}
      and (${articleId}::int is null or l.article_id = ${articleId})
      and (${health}::text is null or health = ${health})
      and (${link}::bigint is null or ${link}::bigint in (auction_id, smart_link_id))
      and (${search} = '' or position(${search} in
        lower(concat_ws(' ', l.url, a.name, a.url, auction_id::text))) > 0)
    order by coalesce(risk_micros, 0) desc, coalesce(earnings_micros, 0) desc, auction_id desc
    limit ${limitRows} offset ${skipRows}`)
}

/** What links earned by UTC day; days without earnings are absent. */
export function listDailyEarnings(
  db: Db,
  of: {
    readonly pubId: number
    readonly dayFrom: string
    readonly auctionIds: readonly string[]
  },
): Promise<
  { readonly auction_id: string; readonly day: string; readonly earnings_micros: string }[]
> {
  const { pubId, dayFrom, auctionIds } = of
  return db.rows(sql`
    select value as auction_id, day::text, earnings_micros from figure_day
    where pub_id = ${pubId} and property = 'link' and day >= ${dayFrom}
      and value = any(${auctionIds}::text[])`)
}

export interface ListedArticle extends FiguredRow {
  readonly article_id: number
  readonly name: string
  readonly url: string
  readonly publication_date: Date | null
  readonly page_views: string
  readonly links: number
  readonly links_in_trouble: number
  readonly risk_micros: string
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

export function listArticles(
  db: Db,
  { pubId, dayFrom, limitRows, skipRows }: ListWanted,
): Promise<ListedArticle[]> {
  return db.rows(sql`
    with figure as (
      select article_id, sum(clicks)::bigint as clicks,
        sum(invalid_clicks)::bigint as invalid_clicks, sum(sales)::bigint as orders,
        sum(revenue_micros)::bigint as revenue_micros,
        sum(earnings_micros)::bigint as earnings_micros
      from stats_day where pub_id = ${pubId} and day >= ${dayFrom} group by 1
    ), viewed as (
      select article_id, sum(impressions)::bigint as page_views
      from page_day join article using (pub_id, url_key)
      where pub_id = ${pubId} and day >= ${dayFrom} and ${IS_ARTICLE_THERE} group by 1
    ), linked as (
      select article_id, count(*)::int as links from smart_link where pub_id = ${pubId} group by 1
    ), troubled as (
      select article_id, count(*)::int as links_in_trouble, sum(risk_micros)::bigint as risk_micros
      from link_health where pub_id = ${pubId} and risk_micros > 0 group by 1
    )
    select article_id, name, url, publication_date, coalesce(page_views, 0) as page_views,
      coalesce(clicks, 0) as clicks, coalesce(invalid_clicks, 0) as invalid_clicks,
      coalesce(orders, 0) as orders, coalesce(revenue_micros, 0) as revenue_micros,
      coalesce(earnings_micros, 0) as earnings_micros, coalesce(links, 0) as links,
      coalesce(links_in_trouble, 0) as links_in_trouble, coalesce(risk_micros, 0) as risk_micros,
      datetime_created, datetime_updated
    from article left join figure using (article_id) left join viewed using (article_id)
    left join linked using (article_id) left join troubled using (article_id)
    where pub_id = ${pubId}
    order by coalesce(risk_micros, 0) desc, coalesce(earnings_micros, 0) desc, article_id desc
    limit ${limitRows} offset ${skipRows}`)
}
