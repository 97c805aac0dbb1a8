/** Payouts in SQL: the statements of publishers that have an amount to pay. */
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'

export interface PayoutRow {
  readonly pub_id: number
  readonly slug: string
  readonly name: string
  readonly month: string // YYYY-MM
  readonly payout_micros: string
  readonly issued_at: Date
  readonly paid_on: string | null
  readonly paid_reference: string | null
  readonly paid_confirmed_at: Date | null
}

const selectPayouts = (condition: Sql): Sql => sql`
  select pub_id, slug, name, to_char(statement.month, 'YYYY-MM') as month, payout_micros, issued_at,
    paid_on, reference as paid_reference, confirmed_at as paid_confirmed_at
  from statement join publisher using (pub_id) left join paid_payout using (pub_id, month)
  where payout_micros > 0 and ${condition}`

/** All payouts, of a month or in a state; the latest month first. */
export function listPayoutRows(
  db: Db,
  { month, isPaid }: { readonly month: string | null; readonly isPaid: boolean | null },
): Promise<PayoutRow[]> {
  const first = month === null ? null : `${month}-01`
  const isWanted = sql`(${first}::date is null or statement.month = ${first}::date)
    and (${isPaid}::boolean is null or ${isPaid} = (confirmed_at is not null))`
  return db.rows(sql`${selectPayouts(isWanted)} order by statement.month desc, pub_id`)
}

interface PayoutKey {
  readonly pubId: number
  readonly month: string
}

/** The payout of a statement; null if it pays nothing. */
export function findPayout(tx: Db, { pubId, month }: PayoutKey): Promise<PayoutRow | null> {
  const isWanted = sql`pub_id = ${pubId} and statement.month = ${`${month}-01`}`
  return tx.row(selectPayouts(isWanted))
}

/** False if it was confirmed before. */
export async function insertPaidPayout(
  tx: Db,
  { pubId, month }: PayoutKey,
  paid: { readonly on: string; readonly reference: string | null; readonly at: Date },
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into paid_payout (pub_id, month, paid_on, reference, confirmed_at)
    values (${pubId}, ${`${month}-01`}, ${paid.on}, ${paid.reference}, ${paid.at})
    on conflict do nothing`)
  return inserted === 1
}

/** Whether statements of this month were issued. */
export async function areStatementsIssued(db: Db, month: string): Promise<boolean> {
  const first = `${month}-01`
  return (await db.row(sql`select from statement where month = ${first} limit 1`)) !== null
}
