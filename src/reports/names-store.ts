/** Names for reports. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

export async function listMerchantNames(db: Db): Promise<Map<number, string>> {
  const rows = await db.rows<{ merch_id: number; name: string }>(
    sql`select merch_id, name from merchant`,
  )
  return new Map(rows.map(({ merch_id, name }) => [merch_id, name]))
}
