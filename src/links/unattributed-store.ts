/** Counted wrapper redirects that name no known publisher, in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

export interface UnattributedNames {
  /** As the link names its publisher, lower case; empty: it names none. */
  readonly slug: string
  /** Of the page with the link; empty: the browser does not say. */
  readonly host: string
  readonly targetHost: string
}

/** Redirects beyond the limit of names count under these. */
export const NO_NAMES: UnattributedNames = { slug: '', host: '', targetHost: '' }

export interface UnattributedRow {
  readonly slug: string
  readonly host: string
  readonly target_host: string
  readonly redirects: string
  readonly last_day: string
}

/** As answers and the command show it. */
export const toUnattributed = ({ redirects, ...row }: UnattributedRow) => ({
  ...row,
  redirects: Number(redirects),
})

/** A day has at most this many different names, whatever third parties write. */
const DAY_NAMES_MAX = 1_000
const KEPT_DAYS = 90
const SHOWN_DAYS = 30

/** Adds to the counts of a day. */
export async function addUnattributed(
  db: Db,
  { day, rows }: { day: string; rows: readonly (UnattributedNames & { redirects: number })[] },
): Promise<void> {
  await db.run(sql`
    with wanted as (
      select *, (select count(*) from unattributed_redirect where day = ${day}) < ${DAY_NAMES_MAX}
        or exists (
          select from unattributed_redirect
          where (day, slug, host, target_host) =
            (${day}, wanted.slug, wanted.host, wanted.target_host)
        ) as fits
      from unnest(
        ${rows.map(({ slug }) => slug)}::text[],
        ${rows.map(({ host }) => host)}::text[],
        ${rows.map(({ targetHost }) => targetHost)}::text[],
        ${rows.map(({ redirects }) => redirects)}::bigint[]
      ) as wanted (slug, host, target_host, redirects)
    )
    insert into unattributed_redirect as counted (day, slug, host, target_host, redirects)
    select ${day}::date, case when fits then slug else '' end,
      case when fits then host else '' end,
      case when fits then target_host else '' end, sum(redirects)
    from wanted group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (day, slug, host, target_host)
    do update set redirects = counted.redirects + excluded.redirects`)
}

/** Counts of the last 30 days, the largest first. */
export function listUnattributed(db: Db, now: Date): Promise<UnattributedRow[]> {
  return db.rows(sql`
    select slug, host, target_host, sum(redirects)::text as redirects, max(day)::text as last_day
    from unattributed_redirect where day > ${shownAfter(now)}
    group by slug, host, target_host order by sum(redirects) desc, slug, host, target_host
    limit ${DAY_NAMES_MAX}`)
}

/**
 * The same for one publisher: links on pages of its domains, and links whose slug is its own but
 * for the characters around it.
 */
export function listUnattributedOf(
  db: Db,
  { slug, domains, now }: { slug: string; domains: readonly string[]; now: Date },
): Promise<UnattributedRow[]> {
  return db.rows(sql`
    select slug, host, target_host, sum(redirects)::text as redirects, max(day)::text as last_day
    from unattributed_redirect
    where day > ${shownAfter(now)} and (
      substring(slug, '[a-z0-9_-]+') = ${slug.toLowerCase()}
      or exists (
        select from unnest(${domains}::text[]) as domain
        where host = domain or right(host, length(domain) + 1) = '.' || domain
      )
    )
    group by slug, host, target_host order by sum(redirects) desc, slug, host, target_host
    limit ${DAY_NAMES_MAX}`)
}

export function deleteOldUnattributed(db: Db, now: Date): Promise<number> {
  const before = utcDay(now.getTime() - KEPT_DAYS * DAY_MS)
  return db.run(sql`delete from unattributed_redirect where day < ${before}`)
}

function shownAfter(now: Date): string {
  return utcDay(now.getTime() - SHOWN_DAYS * DAY_MS)
}
