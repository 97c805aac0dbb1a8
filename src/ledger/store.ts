/** Writes entries to the ledger; nothing here changes or deletes one. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import type { LedgerEntry } from './entries.ts'

/**
 * Posts entries in one round trip; the caller's transaction makes them one with their causes.
 * An entry whose idempotency key is there already is a broken invariant and fails the transaction.
 */
export async function insertLedgerEntries(tx: Db, entries: readonly LedgerEntry[]): Promise<void> {
  if (entries.length === 0) return
  const lines = entries.flatMap((entry) =>
    entry.lines.map((line, index) => ({
      ...line,
      index,
      day: entry.day,
      key: entry.idempotencyKey,
    })),
  )
  await tx.run(sql`
    with entry as (
      insert into ledger_transaction (idempotency_key, kind, day, at, event_id, corrects)
      select * from unnest(
        ${entries.map((entry) => entry.idempotencyKey)}::text[],
        ${entries.map((entry) => entry.kind)}::text[],
        ${entries.map((entry) => entry.day)}::date[],
        ${entries.map((entry) => new Date(entry.atMs))}::timestamptz[],
        ${entries.map((entry) => entry.eventId)}::bigint[],
        ${entries.map((entry) => entry.corrects)}::text[])
      returning transaction_id, idempotency_key
    )
    insert into ledger_line
      (transaction_id, line, account, day, merch_id, pub_id, article_id, amount_micros)
    select transaction_id, line, account, day, merch_id, pub_id, article_id, amount_micros
    from unnest(
      ${lines.map((line) => line.key)}::text[],
      ${lines.map((line) => line.index)}::int[],
      ${lines.map((line) => line.account)}::text[],
      ${lines.map((line) => line.day)}::date[],
      ${lines.map((line) => line.merchId)}::int[],
      ${lines.map((line) => line.pubId)}::int[],
      ${lines.map((line) => line.articleId)}::int[],
      ${lines.map((line) => line.amountMicros)}::bigint[]
    ) as line (key, line, account, day, merch_id, pub_id, article_id, amount_micros)
    join entry on entry.idempotency_key = line.key`)
}

export interface StoredLine {
  readonly idempotency_key: string
  readonly kind: string
  readonly day: string
  readonly event_id: string
  readonly corrects: string | null
  readonly account: string
  readonly merch_id: number
  readonly pub_id: number
  readonly article_id: number
  readonly amount_micros: string
}

/** The entries that events caused, line by line. */
export function listEntriesOfEvents(db: Db, eventIds: readonly string[]): Promise<StoredLine[]> {
  return db.rows(sql`
    select idempotency_key, kind, entry.day, event_id, corrects, account, merch_id, pub_id,
      article_id, amount_micros
    from ledger_transaction entry join ledger_line using (transaction_id)
    where event_id = any(${eventIds}::bigint[])
    order by transaction_id, line`)
}
