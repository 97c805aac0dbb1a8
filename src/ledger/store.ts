/** Writes entries to the ledger; nothing here changes or deletes one. */
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import type { LedgerEntry } from './entries.ts'

/**
 * Posts entries and their lines in the caller's transaction, together with their causes. The
 * numbers are drawn first, because joining lines to entries by key took longer than writing them.
 * An existing idempotency key is a broken invariant and fails the transaction.
 */
export async function insertLedgerEntries(tx: Db, entries: readonly LedgerEntry[]): Promise<void> {
  if (entries.length === 0) return
  const drawn = await tx.rows<{ transaction_id: string }>(sql`
    select nextval('ledger_transaction_transaction_id_seq') as transaction_id
    from generate_series(1, ${entries.length})`)
  const ids = drawn.map(({ transaction_id }) => transaction_id)
  await tx.run(sql`
    insert into ledger_transaction
      (transaction_id, idempotency_key, kind, day, at, event_id, corrects)
    overriding system value
    select * from unnest(
      ${ids}::bigint[],
      ${entries.map((entry) => entry.idempotencyKey)}::text[],
      ${entries.map((entry) => entry.kind)}::text[],
      ${entries.map((entry) => entry.day)}::date[],
      ${entries.map((entry) => new Date(entry.atMs))}::timestamptz[],
      ${entries.map((entry) => entry.eventId)}::bigint[],
      ${entries.map((entry) => entry.corrects)}::text[])`)
  const lines = entries.flatMap((entry, at) =>
    entry.lines.map((line, index) => ({ ...line, index, day: entry.day, id: ids[at] })),
  )
  await tx.run(sql`
    insert into ledger_line
      (transaction_id, line, account, day, merch_id, pub_id, article_id, amount_micros)
    select * from unnest(
      ${lines.map((line) => line.id)}::bigint[],
      ${lines.map((line) => line.index)}::smallint[],
      ${lines.map((line) => line.account)}::text[],
      ${lines.map((line) => line.day)}::date[],
      ${lines.map((line) => line.merchId)}::int[],
      ${lines.map((line) => line.pubId)}::int[],
      ${lines.map((line) => line.articleId)}::int[],
      ${lines.map((line) => line.amountMicros)}::bigint[])`)
  await addClickDebts(tx, entries)
}

/** Adds debts for clicks to the days of their entries; orders are owed line by line. */
async function addClickDebts(tx: Db, entries: readonly LedgerEntry[]): Promise<void> {
  const ofClicks = entries.filter(({ clickDay }) => clickDay !== null)
  const lines = ofClicks.flatMap(({ day, clickDay, lines }) =>
    lines.map((line) => ({ ...line, day, clickDay })),
  )
  if (lines.length === 0) return
  await tx.run(sql`
    insert into click_debt (merch_id, pub_id, day, click_day, cost_micros, earnings_micros)
    select merch_id, pub_id, day, click_day,
      -coalesce(sum(amount_micros) filter (where account = 'merchant'), 0),
      coalesce(sum(amount_micros) filter (where account = 'publisher'), 0)
    from unnest(
      ${lines.map((line) => line.account)}::text[],
      ${lines.map((line) => line.merchId)}::int[],
      ${lines.map((line) => line.pubId)}::int[],
      ${lines.map((line) => line.day)}::date[],
      ${lines.map((line) => line.clickDay)}::date[],
      ${lines.map((line) => line.amountMicros)}::bigint[]
    ) as line (account, merch_id, pub_id, day, click_day, amount_micros)
    group by merch_id, pub_id, day, click_day
    on conflict (merch_id, pub_id, day, click_day) do update set
      cost_micros = click_debt.cost_micros + excluded.cost_micros,
      earnings_micros = click_debt.earnings_micros + excluded.earnings_micros`)
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

/** The lines of entries that these events caused. */
export function listEntriesOfEvents(db: Db, eventIds: readonly string[]): Promise<StoredLine[]> {
  return listLines(db, sql`event_id = any(${eventIds}::bigint[])`)
}

/** The lines of an entry and of all its corrections. */
export function listEntriesOfKey(db: Db, key: string): Promise<StoredLine[]> {
  return listLines(db, sql`idempotency_key = ${key} or corrects = ${key}`)
}

function listLines(db: Db, condition: Sql): Promise<StoredLine[]> {
  return db.rows(sql`
    select idempotency_key, kind, entry.day, event_id, corrects, account, merch_id, pub_id,
      article_id, amount_micros
    from ledger_transaction entry join ledger_line using (transaction_id)
    where ${condition}
    order by transaction_id, line`)
}
