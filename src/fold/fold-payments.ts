/** Folds merchants' payments and their reversals: once per reference each. */
import type { StoredEvent } from '../events/event.ts'
import { paymentEntry, paymentReversalEntry } from '../ledger/entries.ts'
import type { PaymentBody, PaymentReversalBody } from '../ledger/payment-store.ts'
import { insertLedgerEntries } from '../ledger/store.ts'
import { micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export async function foldPayments(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  const payments = events.map((event) => ({
    event,
    merchId: event.merchId ?? 0,
    body: JSON.parse(event.body ?? 'null') as PaymentBody,
  }))
  const fresh = await tx.rows<{ event_id: string }>(sql`
    insert into merchant_payment (event_id, merch_id, reference, paid_on, amount_micros, day, at)
    select * from unnest(
      ${payments.map(({ event }) => event.id)}::bigint[],
      ${payments.map(({ merchId }) => merchId)}::int[],
      ${payments.map(({ body }) => body.reference)}::text[],
      ${payments.map(({ body }) => body.paid_on)}::date[],
      ${payments.map(({ body }) => body.amount_micros)}::bigint[],
      ${payments.map(({ event }) => event.day)}::date[],
      ${payments.map(({ event }) => new Date(event.atMs))}::timestamptz[])
    on conflict do nothing
    returning event_id`)
  const isFresh = new Set(fresh.map(({ event_id }) => event_id))
  await insertLedgerEntries(
    tx,
    payments
      .filter(({ event }) => isFresh.has(event.id))
      .map(({ event, merchId, body }) =>
        paymentEntry(event, {
          merchId,
          reference: body.reference,
          amountMicros: micros(body.amount_micros),
        }),
      ),
  )
}

/** Ignores unknown payments and payments that were reversed before. */
export async function foldPaymentReversals(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  for (const event of events) {
    const merchId = event.merchId ?? 0
    const { reference, reason } = JSON.parse(event.body ?? 'null') as PaymentReversalBody
    const payment = await tx.row<{ amount_micros: string }>(sql`
      update merchant_payment set reversal_event_id = ${event.id},
        reversed_at = ${new Date(event.atMs)}, reverse_reason = ${reason}
      where merch_id = ${merchId} and reference = ${reference} and reversed_at is null
      returning amount_micros`)
    if (payment === null) continue
    const amountMicros = micros(Number(payment.amount_micros))
    const entry = paymentReversalEntry(event, { merchId, reference, amountMicros })
    await insertLedgerEntries(tx, [entry])
  }
}
