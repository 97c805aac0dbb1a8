/** Targets of report deliveries, in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export interface ReportDelivery {
  readonly delivery_id: number
  readonly pub_id: number
  readonly slug: string
  readonly target: string // A folder, or s3://bucket/prefix.
  readonly endpoint: string | null
  readonly region: string | null
  readonly access_key: string | null
  readonly secret_key: string | null
  readonly is_gzip: boolean
  /** Set by its publisher: its storage must have a public address. */
  readonly is_guarded: boolean
  /** Somebody wants it at once; null: nobody does. */
  readonly requested_at: Date | null
  readonly tried_at: Date | null
  readonly delivered_at: Date | null
  readonly error: string | null
}

export type NewReportDelivery = Omit<
  ReportDelivery,
  'delivery_id' | 'slug' | 'requested_at' | 'tried_at' | 'delivered_at' | 'error'
>

const COLUMNS = sql`delivery_id, pub_id, slug, target, endpoint, region, access_key, secret_key,
  is_gzip, is_guarded, requested_at, tried_at, delivered_at, error`

/** Adds a target, or changes the credentials of an existing one; returns its id. */
export async function upsertReportDelivery(db: Db, wanted: NewReportDelivery): Promise<number> {
  const row = await db.row<{ delivery_id: number }>(sql`
    insert into report_delivery
      (pub_id, target, endpoint, region, access_key, secret_key, is_gzip, is_guarded)
    values (${wanted.pub_id}, ${wanted.target}, ${wanted.endpoint}, ${wanted.region},
      ${wanted.access_key}, ${wanted.secret_key}, ${wanted.is_gzip}, ${wanted.is_guarded})
    on conflict (pub_id, target) do update set
      endpoint = excluded.endpoint, region = excluded.region, access_key = excluded.access_key,
      secret_key = excluded.secret_key, is_gzip = excluded.is_gzip,
      is_guarded = excluded.is_guarded, error = null
    returning delivery_id`)
  if (row === null) throw new Error('the delivery was not returned')
  return row.delivery_id
}

/** Changes the storage of a target; the error was that of the former one. */
export async function updateReportDelivery(
  db: Db,
  wanted: Omit<NewReportDelivery, 'pub_id' | 'target' | 'is_guarded'> & {
    readonly delivery_id: number
  },
): Promise<void> {
  await db.run(sql`
    update report_delivery set endpoint = ${wanted.endpoint}, region = ${wanted.region},
      access_key = ${wanted.access_key}, secret_key = ${wanted.secret_key},
      is_gzip = ${wanted.is_gzip}, error = null
    where delivery_id = ${wanted.delivery_id}`)
}

/** Lets a worker run a delivery at its next look, within a minute. */
export async function requestDelivery(
  db: Db,
  { deliveryId, at }: { readonly deliveryId: number; readonly at: Date },
): Promise<void> {
  await db.run(sql`
    update report_delivery set requested_at = coalesce(requested_at, ${at})
    where delivery_id = ${deliveryId}`)
}

export async function hasRequestedDeliveries(db: Db): Promise<boolean> {
  const row = await db.row(sql`
    select 1 from report_delivery where requested_at is not null limit 1`)
  return row !== null
}

/** Of one publisher, in the order of their ids. */
export function listDeliveriesOf(
  db: Db,
  page: { readonly pubId: number; readonly after: string | null; readonly limit: number | null },
): Promise<ReportDelivery[]> {
  return db.rows(sql`
    select ${COLUMNS} from report_delivery join publisher using (pub_id)
    where pub_id = ${page.pubId} and delivery_id > coalesce(${page.after}::bigint, 0)
    order by delivery_id limit ${page.limit}`)
}

export function listReportDeliveries(db: Db): Promise<ReportDelivery[]> {
  return db.rows(sql`
    select ${COLUMNS} from report_delivery join publisher using (pub_id) order by delivery_id`)
}

export function findReportDelivery(db: Db, deliveryId: number): Promise<ReportDelivery | null> {
  return db.row(sql`
    select ${COLUMNS} from report_delivery join publisher using (pub_id)
    where delivery_id = ${deliveryId}`)
}

/** False if there is no such target. */
export async function deleteReportDelivery(db: Db, deliveryId: number): Promise<boolean> {
  return (await db.run(sql`delete from report_delivery where delivery_id = ${deliveryId}`)) === 1
}

/** Records that a run has reached the target, before its result is known. */
export async function recordTried(
  db: Db,
  { deliveryId, at }: { readonly deliveryId: number; readonly at: Date },
): Promise<void> {
  await db.run(sql`
    update report_delivery set tried_at = ${at}, requested_at = null
    where delivery_id = ${deliveryId}`)
}

/** Records the result of a run. */
export async function recordDelivered(
  db: Db,
  run: { readonly deliveryId: number; readonly at: Date; readonly error: string | null },
): Promise<void> {
  await db.run(sql`
    update report_delivery set error = ${run.error},
      delivered_at = case when ${run.error}::text is null then ${run.at} else delivered_at end
    where delivery_id = ${run.deliveryId}`)
}
