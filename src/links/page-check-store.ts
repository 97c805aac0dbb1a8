/** Checks of the pages of earning links in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { CheckedPage } from './page-check.ts'

/** Earned something within this time. */
const EARNING_DAYS = 14

export interface DuePage {
  readonly url_hash: Buffer
  readonly url: string
  readonly failed_at: Date | null
  readonly dead_since: Date | null
}

/** Adds links that earn now, and forgets those that have not for long. */
export async function chooseChecks(db: Db, now: Date): Promise<void> {
  const earning = sql`
    select distinct l.url_hash, l.url
    from figure_day f join smart_link l on l.auction_id = f.value::bigint
    where f.property = 'link' and f.earnings_micros > 0 and f.value <> '0'
      and f.day > (${now}::timestamptz at time zone 'UTC')::date - ${EARNING_DAYS}::int
      and l.url is not null and l.state = 'active'`
  await db.run(sql`
    insert into link_check (url_hash, url, due_at)
    select url_hash, url, ${now} from (${earning}) as earning
    on conflict do nothing`)
  await db.run(sql`
    delete from link_check where dead_since is null
      and url_hash not in (select url_hash from (${earning}) as earning)`)
}

export function listDuePages(
  db: Db,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<DuePage[]> {
  return db.rows(sql`
    select url_hash, url, failed_at, dead_since
    from link_check where due_at <= ${now} order by due_at limit ${limit}`)
}

export async function saveCheck(
  db: Db,
  { urlHash, at, ...check }: CheckedPage & { readonly urlHash: Buffer; readonly at: Date },
): Promise<void> {
  await db.run(sql`
    update link_check set failed_at = ${check.failedAt}, dead_since = ${check.deadSince},
      detail = ${check.detail}, due_at = ${check.dueAt}, checked_at = ${at}
    where url_hash = ${urlHash}`)
}
