/** The health of links at the last look, in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { type Health, RISK_DAYS } from './link-health.ts'
import type { LinkOfMarket } from './link-market-store.ts'

export interface WatchedLink extends LinkOfMarket {
  readonly article_id: number
  readonly state: 'active' | 'disabled'
  readonly is_dead: boolean
  readonly has_clicks: boolean
  readonly datetime_created: Date
}

/** Links that were clicked or created since then, by auction id. */
export function listWatchedLinks(
  db: Db,
  wanted: {
    readonly pubId: number
    readonly after: string
    readonly since: Date
    readonly limitRows: number
  },
): Promise<WatchedLink[]> {
  const { pubId, after, since, limitRows } = wanted
  return db.rows(sql`
    with clicked as (
      select distinct value::bigint as auction_id from figure_day
      where pub_id = ${pubId} and property = 'link' and clicks > 0
        and day >= (${since}::timestamptz at time zone 'UTC')::date
    )
    select auction_id, l.url, unwraps, is_exclusive, article_id, state, datetime_created,
      clicked.auction_id is not null as has_clicks, c.dead_since is not null as is_dead
    from smart_link l left join clicked using (auction_id)
    left join link_check c using (url_hash)
    where pub_id = ${pubId} and auction_id > ${after}::bigint
      and (clicked.auction_id is not null or datetime_created >= ${since})
    order by auction_id limit ${limitRows}`)
}

/**
 * Saves the health of links. A link that stops earning keeps the time at which it did, and its
 * daily earnings over the 14 days that end with its last earnings.
 */
export async function saveHealth(
  db: Db,
  seen: {
    readonly pubId: number
    readonly now: Date
    readonly states: readonly {
      readonly auction_id: string
      readonly article_id: number
      readonly health: Health
      readonly is_losing: boolean
    }[]
  },
): Promise<void> {
  const { pubId, now, states } = seen
  if (states.length === 0) return
  await db.run(sql`
    with state as (
      select * from unnest(
        ${states.map(({ auction_id }) => auction_id)}::bigint[],
        ${states.map(({ article_id }) => article_id)}::int[],
        ${states.map(({ health }) => health)}::text[],
        ${states.map(({ is_losing }) => is_losing)}::boolean[]
      ) as state (auction_id, article_id, health, is_losing)
    ), earned as (
      select value::bigint as auction_id, day, earnings_micros,
        max(day) over (partition by value) as last_day
      from figure_day
      where pub_id = ${pubId} and property = 'link' and earnings_micros > 0
        and value = any(${states.map(({ auction_id }) => auction_id)}::text[])
    ), risk as (
      select auction_id, (sum(earnings_micros) / ${RISK_DAYS}::int)::bigint as risk_micros
      from earned where day > last_day - ${RISK_DAYS}::int group by 1
    )
    insert into link_health as known
      (auction_id, pub_id, article_id, health, since, risk_micros, checked_at)
    select auction_id, ${pubId}, article_id, health, ${now},
      case when is_losing then coalesce(risk_micros, 0) else 0 end, ${now}
    from state left join risk using (auction_id)
    on conflict (auction_id) do update set
      health = excluded.health,
      since = case when known.health = excluded.health then known.since else excluded.since end,
      risk_micros = excluded.risk_micros, checked_at = excluded.checked_at`)
}
