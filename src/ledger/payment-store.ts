/** Merchants' payments in SQL. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

export async function hasPayment(
  db: Db,
  { merchId, reference }: { readonly merchId: number; readonly reference: string },
): Promise<boolean> {
  const row = await db.row(sql`
    select from merchant_payment where merch_id = ${merchId} and reference = ${reference}`)
  return row !== null
}
