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
  readonly tried_at: Date | null
  readonly delivered_at: Date | null
  readonly error: string | null
}

export type NewReportDelivery = Omit<
  ReportDelivery,
  'delivery_id' | 'slug' | 'tried_at' | 'delivered_at' | 'error'
>

const COLUMNS = sql`delivery_id, pub_id, slug, target, endpoint, region, access_key, secret_key,
  is_gzip, tried_at, delivered_at, error`

/** Adds a target, or changes the credentials of an existing one; returns its id. */
export async function upsertReportDelivery(db: Db, wanted: NewReportDelivery): Promise<number> {
  const row = await db.row<{ delivery_id: number }>(sql`
    insert into report_delivery
      (pub_id, target, endpoint, region, access_key, secret_key, is_gzip)
    values (${wanted.pub_id}, ${wanted.target}, ${wanted.endpoint}, ${wanted.region},
      ${wanted.access_key}, ${wanted.secret_key}, ${wanted.is_gzip})
    on conflict (pub_id, target) do update set
      endpoint = excluded.endpoint, region = excluded.region, access_key = excluded.access_key,
      secret_key = excluded.secret_key, is_gzip = excluded.is_gzip, error = null
    returning delivery_id`)
  if (row === null) throw new Error('the delivery was not returned')
  return row.delivery_id
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
    update report_delivery set tried_at = ${at} where delivery_id = ${deliveryId}`)
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
