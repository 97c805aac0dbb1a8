/** What anonymous clients made us store, by day, in SQL (storage-quota.ts). */
import type { Db } from '../postgres/postgres.ts'
import { sql } from '../postgres/sql.ts'
import type { StoredBytes } from './storage-quota.ts'

const KEPT = '30 days'

/** Adds to the totals; the totals of the same days, of all nodes. */
export async function addStoredBytes(
  db: Db,
  changes: readonly StoredBytes[],
): Promise<StoredBytes[]> {
  const rows = await db.rows<Row>(sql`
    insert into stored_bytes as known (day, kind, organization_id, bytes, left_out)
    select * from unnest(
      ${changes.map(({ day }) => day)}::date[],
      ${changes.map(({ kind }) => kind)}::text[],
      ${changes.map(({ organizationId }) => organizationId)}::int[],
      ${changes.map(({ bytes }) => bytes)}::bigint[],
      ${changes.map(({ leftOut }) => leftOut)}::bigint[]
    ) as change (day, kind, organization_id, bytes, left_out)
    order by day, kind, organization_id
    on conflict (day, kind, organization_id) do update set
      bytes = known.bytes + excluded.bytes, left_out = known.left_out + excluded.left_out
    returning day, kind, organization_id, bytes, left_out`)
  return rows.map(toStoredBytes)
}

/**
 * Takes bytes of an organization's day; false where they are not there. The row stays locked until
 * the transaction ends, so whatever it stores is stored once for each time.
 */
export async function takeStoredBytes(
  tx: Db,
  { day, kind, organizationId, bytes }: Omit<StoredBytes, 'leftOut'>,
  bytesMax: number,
): Promise<boolean> {
  if (bytes > bytesMax) return false
  const taken = await tx.run(sql`
    insert into stored_bytes as known (day, kind, organization_id, bytes, left_out)
    values (${day}, ${kind}, ${organizationId}, ${bytes}, 0)
    on conflict (day, kind, organization_id) do update set bytes = known.bytes + excluded.bytes
    where known.bytes + excluded.bytes <= ${bytesMax}`)
  return taken === 1
}

/** The totals of a day and those after it. */
export async function listStoredBytes(db: Db, from: string): Promise<StoredBytes[]> {
  const rows = await db.rows<Row>(sql`
    select day, kind, organization_id, bytes, left_out from stored_bytes
    where day >= ${from} order by day, kind, organization_id`)
  return rows.map(toStoredBytes)
}

export async function deleteOldStoredBytes(db: Db, now: Date): Promise<void> {
  await db.run(sql`
    delete from stored_bytes where day < ${now}::timestamptz - ${KEPT}::interval`)
}

interface Row {
  readonly day: string
  readonly kind: string
  readonly organization_id: number
  readonly bytes: string
  readonly left_out: string
}

function toStoredBytes({ day, kind, organization_id, bytes, left_out }: Row): StoredBytes {
  return {
    day,
    kind,
    organizationId: organization_id,
    bytes: Number(bytes),
    leftOut: Number(left_out),
  }
}
