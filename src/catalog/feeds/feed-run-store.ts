/** Imports of feeds in SQL: their progress, their results, and the rows they rejected. */
import type { Db } from '../../platform/postgres/postgres.ts'
import { type Sql, sql } from '../../platform/postgres/sql.ts'
import type { FoundColumn } from './feed-columns.ts'
import type { ImportResult } from './import-result.ts'
import { isImportLocked } from './offer-store.ts'

export const RUN_SOURCES = ['url', 'upload', 'schedule', 'command'] as const
export type RunSource = (typeof RUN_SOURCES)[number]
export const RUN_STATES = [
  'receiving',
  'waiting',
  'fetching',
  'importing',
  'done',
  'failed',
] as const
export type RunState = (typeof RUN_STATES)[number]

/** Rejected rows that are stored of one import: 3 MB of text at most. */
export const REJECTS_STORED_MAX = 10_000
/** The imports of a merchant that are listed: two weeks of a feed fetched every six hours. */
export const RUNS_KEPT = 60
/** How many imports keep their rejected rows, the latest first. */
export const RUNS_WITH_REJECTS = 5
/** An import whose process has not said for this long that it works has been stopped. */
const SILENT_SECONDS = 15

export interface FeedRun {
  readonly import_id: string
  readonly merch_id: number
  readonly source: RunSource
  readonly is_dry_run: boolean
  readonly state: RunState
  readonly url: string | null
  readonly rows: string
  readonly bytes_read: string
  readonly bytes_total: string | null
  readonly result: ImportResult | null
  readonly error: string | null
  readonly rejects_stored: number
  /** Null until they have been read. */
  readonly columns: readonly FoundColumn[] | null
  readonly started_at: Date
  readonly alive_at: Date
  readonly ended_at: Date | null
}

export const STOPPED = 'The import was stopped; nothing was changed'
const isStopped = sql`(ended_at is null
  and alive_at < now() - make_interval(secs => ${SILENT_SECONDS}))`
const COLUMNS = sql`import_id, merch_id, source, is_dry_run, url, rows, bytes_read, bytes_total,
  result, rejects_stored, columns, started_at, alive_at, ended_at,
  case when ${isStopped} then 'failed' else state end as state,
  case when ${isStopped} then ${STOPPED} else error end as error`

/** A new import; null while another one of the merchant runs. Deletes what is not kept longer. */
export async function insertRun(
  db: Db,
  run: Pick<FeedRun, 'merch_id' | 'source' | 'is_dry_run' | 'state' | 'url'>,
): Promise<string | null> {
  const { merch_id: merchId, source, is_dry_run, state, url } = run
  return db.transaction(async (tx) => {
    await tx.run(sql`select from merchant where merch_id = ${merchId} for no key update`)
    const running = await tx.row(sql`
      select from feed_run where merch_id = ${merchId} and ended_at is null and not ${isStopped}
        and (state <> 'importing' or ${isImportLocked(merchId)})
      limit 1`)
    if (running !== null) return null
    const row = await tx.row<{ import_id: string }>(sql`
      insert into feed_run (merch_id, source, is_dry_run, state, url)
      values (${merchId}, ${source}, ${is_dry_run}, ${state}, ${url}) returning import_id`)
    await pruneRuns(tx, merchId)
    return row?.import_id ?? null
  })
}

async function pruneRuns(tx: Db, merchId: number): Promise<void> {
  const older = (kept: number): Sql => sql`merch_id = ${merchId} and import_id <= (
    select import_id from feed_run where merch_id = ${merchId}
    order by import_id desc offset ${kept} limit 1)`
  await tx.run(sql`delete from feed_run where ${older(RUNS_KEPT)}`)
  await tx.run(sql`
    delete from feed_reject using feed_run
    where feed_reject.import_id = feed_run.import_id and rejects_stored > 0
      and feed_run.merch_id = ${merchId} and feed_run.import_id <= (
        select import_id from feed_run where merch_id = ${merchId}
        order by import_id desc offset ${RUNS_WITH_REJECTS} limit 1)`)
  await tx.run(sql`
    update feed_run set rejects_stored = 0
    where rejects_stored > 0 and ${older(RUNS_WITH_REJECTS)}`)
}

export interface RunProgress {
  readonly rows: number
  readonly bytes: number
  readonly totalBytes: number | null
}

/** Says that the import goes on, and how far it is. */
export async function updateRun(
  db: Db,
  { importId, state, progress }: { importId: string; state: RunState; progress: RunProgress },
): Promise<void> {
  const { rows, bytes, totalBytes } = progress
  await db.run(sql`
    update feed_run set state = ${state}, rows = ${rows}, bytes_read = ${bytes},
      bytes_total = ${totalBytes}, alive_at = now()
    where import_id = ${importId} and ended_at is null`)
}

/** Stores how an import ended; one that has ended already stays as it is. */
export async function endRun(
  db: Db,
  end: {
    readonly importId: string
    readonly result: ImportResult | null
    readonly error: string | null
    readonly rejectsStored: number
    readonly columns: readonly FoundColumn[] | null
  },
): Promise<void> {
  const { importId, error, rejectsStored } = end
  const stored = toJsonb(end.result)
  await db.run(sql`
    update feed_run set state = ${error === null ? 'done' : 'failed'},
      rows = coalesce((${stored}::jsonb ->> 'rows')::bigint, rows),
      bytes_read = case when ${error === null} then coalesce(bytes_total, bytes_read)
        else bytes_read end,
      result = ${stored}::jsonb, error = ${error?.replaceAll('\0', ' ') ?? null},
      rejects_stored = ${rejectsStored}, columns = ${toJsonb(end.columns)}::jsonb,
      alive_at = now(), ended_at = now()
    where import_id = ${importId} and ended_at is null`)
}

/** PostgreSQL stores no U+0000. */
const toJsonb = (value: object | null): string | null =>
  value === null ? null : JSON.stringify(value).replaceAll('\\u0000', ' ')

/** Newest first, from the one before `beforeId` on. */
export function listRuns(
  db: Db,
  { merchId, beforeId, limit }: { merchId: number; beforeId: string | null; limit: number },
): Promise<FeedRun[]> {
  return db.rows(sql`
    select ${COLUMNS} from feed_run
    where merch_id = ${merchId} and (${beforeId}::bigint is null or import_id < ${beforeId})
    order by import_id desc limit ${limit}`)
}

export function findRun(
  db: Db,
  { merchId, importId }: { merchId: number; importId: string },
): Promise<FeedRun | null> {
  return db.row(sql`
    select ${COLUMNS} from feed_run where merch_id = ${merchId} and import_id = ${importId}`)
}

export interface StoredReject {
  readonly reject_id: number
  readonly line: number
  readonly sku: string | null
  readonly field: string | null
  readonly value: string
  readonly reason: string
  readonly detail: string
}

export async function insertRejects(
  db: Db,
  importId: string,
  rejects: readonly StoredReject[],
): Promise<void> {
  if (rejects.length === 0) return
  await db.run(sql`
    insert into feed_reject (import_id, reject_id, line, sku, field, value, reason, detail)
    select ${importId}, reject_id, line, sku, field, value, reason, detail
    from jsonb_populate_recordset(null::feed_reject, ${JSON.stringify(rejects)}::jsonb)`)
}

/** In the order of the feed, from the one after `afterId` on; of one reason or all. */
export function listRejects(
  db: Db,
  page: { importId: string; reason: string | null; afterId: number; limit: number },
): Promise<StoredReject[]> {
  const { importId, reason, afterId, limit } = page
  return db.rows(sql`
    select reject_id, line, sku, field, value, reason, detail from feed_reject
    where import_id = ${importId} and reject_id > ${afterId}
      and (${reason}::text is null or reason = ${reason})
    order by reject_id limit ${limit}`)
}
