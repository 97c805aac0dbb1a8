/** Merchants' payments in SQL. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

/** The event that recorded a merchant's payment of this reference; null when none has. */
export async function findPayment(
  db: Db,
  { merchId, reference }: { readonly merchId: number; readonly reference: string },
): Promise<string | null> {
  const row = await db.row<{ event_id: string }>(sql`
    select event_id from merchant_payment
    where merch_id = ${merchId} and reference = ${reference}`)
  return row?.event_id ?? null
}
