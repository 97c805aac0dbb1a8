/** Checks of publishers' own pages, in SQL. Times are the database's. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { TagCheckResult } from './tag-check.ts'

/** Older checks describe a page that has changed since. */
const KEPT_DAYS = 7
/** Pictures of a publisher that are stored, the newest: at most 20 MB. */
const PICTURES_KEPT = 10

export const TAG_CHECK_STATES = ['waiting', 'running', 'done', 'failed'] as const

export interface TagCheck {
  readonly check_id: number
  readonly pub_id: number
  readonly url: string
  readonly state: (typeof TAG_CHECK_STATES)[number]
  readonly error: string | null
  readonly result: TagCheckResult | null
  readonly has_screenshot: boolean
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

const COLUMNS = sql`check_id, pub_id, url, state, error, result,
  screenshot is not null as has_screenshot, datetime_created, datetime_updated`

/** Null while another check of the publisher waits or runs. */
export function insertTagCheck(
  db: Db,
  { pubId, url }: { readonly pubId: number; readonly url: string },
): Promise<TagCheck | null> {
  return db.row(sql`
    insert into tag_check (pub_id, url) values (${pubId}, ${url})
    on conflict (pub_id) where state in ('waiting', 'running') do nothing
    returning ${COLUMNS}`)
}

export async function countLastDay(db: Db, pubId: number): Promise<number> {
  const row = await db.row<{ checks: number }>(sql`
    select count(*)::int as checks from tag_check
    where pub_id = ${pubId} and datetime_created > now() - interval '1 day'`)
  return row?.checks ?? 0
}

export async function hasOpenTagChecks(db: Db): Promise<boolean> {
  const row = await db.row(sql`
    select 1 from tag_check where state in ('waiting', 'running') limit 1`)
  return row !== null
}

interface Own {
  readonly pubId: number
  readonly checkId: number
}

export function findTagCheck(db: Db, { pubId, checkId }: Own): Promise<TagCheck | null> {
  return db.row(sql`
    select ${COLUMNS} from tag_check where pub_id = ${pubId} and check_id = ${checkId}`)
}

/** Null: none was taken, or it is no longer stored. */
export async function findScreenshot(db: Db, { pubId, checkId }: Own): Promise<Buffer | null> {
  const row = await db.row<{ screenshot: Buffer | null }>(sql`
    select screenshot from tag_check where pub_id = ${pubId} and check_id = ${checkId}`)
  return row?.screenshot ?? null
}

export type ListedCheck = Omit<TagCheck, 'result'>

/** The newest first. */
export function listTagChecks(
  db: Db,
  page: { readonly pubId: number; readonly before: string | null; readonly limit: number },
): Promise<ListedCheck[]> {
  return db.rows(sql`
    select check_id, pub_id, url, state, error, screenshot is not null as has_screenshot,
      datetime_created, datetime_updated
    from tag_check
    where pub_id = ${page.pubId}
      and (${page.before}::bigint is null or check_id < ${page.before}::bigint)
    order by check_id desc limit ${page.limit}`)
}

export interface TakenCheck {
  readonly check_id: number
  readonly pub_id: number
  readonly url: string
  readonly slug: string
  readonly domains: readonly string[]
}

/** The oldest waiting check, from now on running; null if none waits. */
export function takeTagCheck(db: Db): Promise<TakenCheck | null> {
  return db.row(sql`
    with taken as (
      update tag_check set state = 'running', datetime_updated = now()
      where check_id = (
        select check_id from tag_check where state = 'waiting'
        order by check_id limit 1 for update skip locked)
      returning check_id, pub_id, url
    )
    select check_id, pub_id, url, slug, domains from taken join publisher using (pub_id)`)
}

export type TagCheckEnd =
  | { readonly result: TagCheckResult; readonly screenshot: Buffer | null }
  | { readonly error: string }

/** Stores the end of a check, and drops the older pictures of its publisher. */
export async function finishTagCheck(
  db: Db,
  { check_id, pub_id }: Pick<TakenCheck, 'check_id' | 'pub_id'>,
  end: TagCheckEnd,
): Promise<void> {
  const { error, result, screenshot } = {
    ...{ error: null, result: null, screenshot: null },
    ...end,
  }
  await db.run(sql`
    update tag_check set state = ${error === null ? 'done' : 'failed'}, error = ${error},
      result = ${result === null ? null : JSON.stringify(result)}::jsonb,
      screenshot = ${screenshot}, datetime_updated = now()
    where check_id = ${check_id} and state = 'running'`)
  await db.run(sql`
    update tag_check set screenshot = null
    where pub_id = ${pub_id} and screenshot is not null and check_id not in (
      select check_id from tag_check where pub_id = ${pub_id} and screenshot is not null
      order by check_id desc limit ${PICTURES_KEPT})`)
}

/** One job runs at a time, so a check that runs before it starts has lost its worker. */
export async function failInterrupted(db: Db, error: string): Promise<void> {
  await db.run(sql`
    update tag_check set state = 'failed', error = ${error}, datetime_updated = now()
    where state = 'running'`)
}

export async function deleteOldTagChecks(db: Db): Promise<void> {
  await db.run(sql`
    delete from tag_check where datetime_created < now() - make_interval(days => ${KEPT_DAYS})`)
}
