/** Which hosts a publisher's page tag reports from, and with which consent, by day. */
import type { StoredEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** Anybody may report any host: further ones of a day count under no name. */
const HOSTS_PER_DAY_MAX = 100
const HOST_LENGTH_MAX = 255

/** Counts readers' page views, each event once. */
export async function addTagViews(tx: Db, views: readonly StoredEvent[]): Promise<void> {
  if (views.length === 0) return
  await tx.run(sql`
    with viewed as (
      select pub_id, day, host, consent, count(*) as page_views, max(at) as last_at
      from unnest(
        ${views.map(({ pubId }) => pubId)}::int[],
        ${views.map(({ day }) => day)}::date[],
        ${views.map(({ url }) => hostOf(url))}::text[],
        ${views.map(({ consent }) => consent ?? 0)}::smallint[],
        ${views.map(({ atMs }) => new Date(atMs))}::timestamptz[]
      ) as event (pub_id, day, host, consent, at)
      where pub_id is not null group by 1, 2, 3, 4
    ), known as (
      select pub_id, day, count(distinct host) as hosts
      from tag_day where (pub_id, day) in (select pub_id, day from viewed) group by 1, 2
    ), named as (
      select pub_id, day, consent, page_views, last_at, case
        when coalesce(hosts, 0) + dense_rank() over (partition by pub_id, day order by host)
          <= ${HOSTS_PER_DAY_MAX}::int
        or exists (
          select from tag_day t
          where (t.pub_id, t.day, t.host) = (viewed.pub_id, viewed.day, viewed.host)
        ) then host else '' end as host
      from viewed left join known using (pub_id, day)
    )
    insert into tag_day as total (pub_id, day, host, consent, page_views, last_at)
    select pub_id, day, host, consent, sum(page_views), max(last_at)
    from named group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (pub_id, day, host, consent) do update set
      page_views = total.page_views + excluded.page_views,
      last_at = greatest(total.last_at, excluded.last_at)`)
}

function hostOf(url: string | null): string {
  return (URL.parse(url ?? '')?.host ?? '').slice(0, HOST_LENGTH_MAX)
}
