/** Merchants' payments in SQL. */
import { formatExact, type Micros, micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'

/** The body of a payment event. */
export interface PaymentBody {
  readonly reference: string
  readonly paid_on: string // YYYY-MM-DD
  readonly amount_micros: number
}

/** The body of a payment reversal event. */
export interface PaymentReversalBody {
  readonly reference: string
  readonly reason: string
}

export interface RecordedPayment {
  readonly eventId: string
  readonly amountMicros: Micros
  /** The event that reversed it. */
  readonly reversalId: string | null
}

interface PaymentRow {
  readonly event_id: string
  readonly amount_micros: string
  readonly reversal_event_id: string | null
}

interface ListedRow extends Omit<PaymentRow, 'reversal_event_id'> {
  readonly merch_id: number
  readonly name: string
  readonly reference: string
  readonly paid_on: string
  readonly at: Date
  readonly reversed_at: Date | null
  readonly reverse_reason: string | null
}

/** The merchant's payment with this reference; null if none is recorded. */
export async function findPayment(
  db: Db,
  { merchId, reference }: { readonly merchId: number; readonly reference: string },
): Promise<RecordedPayment | null> {
  const row = await db.row<PaymentRow>(sql`
    select event_id, amount_micros, reversal_event_id from merchant_payment
    where merch_id = ${merchId} and reference = ${reference}`)
  if (row === null) return null
  const amountMicros = micros(Number(row.amount_micros))
  return { eventId: row.event_id, amountMicros, reversalId: row.reversal_event_id }
}

const LISTED = sql`
  select event_id, merch_id, coalesce(name, '') as name, reference, paid_on, at,
    amount_micros, reversed_at, reverse_reason
  from merchant_payment left join merchant using (merch_id)`

/** All recorded payments, the latest first; of one merchant, or of all if null. */
export async function listPayments(db: Db, merchId: number | null) {
  const rows = await db.rows<ListedRow>(sql`
    ${LISTED}
    where ${merchId}::int is null or merch_id = ${merchId}
    order by at desc, event_id desc`)
  return rows.map(toListedPayment)
}

/** A page of payments, the latest first, with one more row than `limit` if there is one. */
export async function listPaymentPage(
  db: Db,
  page: { readonly merchId: number | null; readonly before: string | null; readonly limit: number },
): Promise<ListedPayment[]> {
  const rows = await db.rows<ListedRow>(sql`
    ${LISTED}
    where (${page.merchId}::int is null or merch_id = ${page.merchId})
      and (${page.before}::bigint is null or event_id < ${page.before})
    order by event_id desc limit ${page.limit + 1}`)
  return rows.map(toListedPayment)
}

/** The payment with this id; null if there is none. */
export async function findPaymentById(db: Db, paymentId: string): Promise<ListedPayment | null> {
  const row = await db.row<ListedRow>(sql`${LISTED} where event_id = ${paymentId}`)
  return row === null ? null : toListedPayment(row)
}

export type ListedPayment = ReturnType<typeof toListedPayment>

function toListedPayment(row: ListedRow) {
  return {
    payment_id: row.event_id,
    merch_id: row.merch_id,
    merchant: row.name,
    reference: row.reference,
    paid_on: row.paid_on,
    recorded_at: formatTimestamp(row.at),
    amount_usd: formatExact(row.amount_micros),
    reversed_at: formatTimestampOrNull(row.reversed_at),
    reverse_reason: row.reverse_reason,
  }
}
