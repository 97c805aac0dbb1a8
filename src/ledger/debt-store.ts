/**
 * What merchants owe and paid, in SQL, and which earnings that releases.
 *
 * Clicks are owed per publisher and day and fall due when the day is over. Sales are owed per line
 * of an order and fall due when the order locks; a held order does not lock. Returns before the
 * lock, or before the day's end, lower the debt. Later returns are a negative debt, due on their
 * arrival. A reversed payment is owed again from the reversal on: what it released stays released.
 */
import { micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import {
  accountOf,
  type Debt,
  type MatchedDebts,
  type MerchantAccount,
  matchDebts,
  ownKeyOf,
  type Payment,
} from './release.ts'

interface DebtRow {
  readonly key: string
  readonly pub_id: number
  readonly due_ms: number
  readonly cost_micros: string
  readonly earnings_micros: string
}

/** Stands for no publisher: for joined debts of others, and for reversed payments. */
const NOBODY = 0

interface Asked {
  readonly merchId: number
  readonly until: Date
}

/** Settles one merchant's debts that were due, and its payments, by a time. */
export function matchMerchantDebts(db: Db, asked: Asked): Promise<MatchedDebts> {
  return matchDueDebts(db, asked, dueDebts(asked))
}

/**
 * The same for one publisher: its own releases and debts one by one, and the other publishers'
 * debts as sums. A merchant may have a hundred thousand debts, and readers wait for this thread.
 */
export function matchPublisherDebts(
  db: Db,
  asked: Asked & { readonly pubId: number },
): Promise<MatchedDebts> {
  return matchDueDebts(db, asked, withOthersJoined(dueDebts(asked), asked.pubId))
}

/** What a merchant owes, and its unused money, as in the API. */
export async function readAccount(db: Db, asked: Asked): Promise<MerchantAccount> {
  return accountOf(await matchPublisherDebts(db, { ...asked, pubId: NOBODY }))
}

async function matchDueDebts(db: Db, asked: Asked, due: Sql): Promise<MatchedDebts> {
  const debts = await listDebts(db, due)
  return matchDebts(debts, await listPayments(db, asked))
}

/** The merchants from which publishers ever got clicks or orders; of all publishers if null. */
export async function listMerchantsOf(db: Db, pubIds: readonly number[] | null): Promise<number[]> {
  const own = pubIds === null ? sql`true` : sql`pub_id = any(${pubIds}::int[])`
  const rows = await db.rows<{ merch_id: number }>(sql`
    select merch_id from click_debt where ${own}
    union
    select merch_id from merchant_order where ${own}
    union
    select merch_id from merchant_payment where ${pubIds === null}
    order by merch_id`)
  return rows.map(({ merch_id }) => merch_id)
}

/** Times are numbers: for a hundred thousand debts, parsing dates would take half the time. */
function dueDebts({ merchId, until }: Asked): Sql {
  return sql`
    select key, pub_id, cost_micros, earnings_micros,
      floor(extract(epoch from due_at) * 1000)::float8 as due_ms
    from (${debts(merchId)}) as debt
    where due_at <= ${until} and (cost_micros, earnings_micros) <> (0, 0)`
}

/**
 * All debts to others between two debts of the publisher become one debt, due and named like the
 * last of them: money passes all of them before it reaches the next. The order is that of
 * `matchDebts`. A reversal closes its own debt out of this order, so both stay separate.
 */
function withOthersJoined(due: Sql, pubId: number): Sql {
  return sql`
    with due as (${due}), marked as (
      select *, pub_id = ${pubId} or cost_micros <= 0
        or key in (select split_part(key, ' ', 1) from due where cost_micros < 0) as is_alone
      from due
    ), placed as (
      select *, count(*) filter (where is_alone) over in_order as place,
        coalesce(lead(is_alone) over in_order, true) as is_last
      from marked
      window in_order as (order by due_ms, cost_micros = 0, key collate "C")
    )
    select max(key) filter (where is_last or is_alone) as key,
      case when is_alone then max(pub_id) else ${NOBODY} end as pub_id, max(due_ms) as due_ms,
      sum(cost_micros) as cost_micros,
      case when is_alone then sum(earnings_micros) else 0 end as earnings_micros
    from placed group by place, is_alone`
}

async function listDebts(db: Db, due: Sql): Promise<Debt[]> {
  const rows = await db.rows<DebtRow>(due)
  return rows.map((row) => ({
    key: row.key,
    pubId: row.pub_id,
    dueAtMs: row.due_ms,
    costMicros: micros(Number(row.cost_micros)),
    earningsMicros: micros(Number(row.earnings_micros)),
  }))
}

/**
 * What is not due by a time and may still change, of everything a merchant owes or only for one
 * publisher: its cost and the publishers' part.
 */
export async function sumNotDue(
  db: Db,
  { merchId, pubId = null, until }: Asked & { readonly pubId?: number | null },
): Promise<{ readonly costMicros: bigint; readonly earningsMicros: bigint }> {
  const row = await db.row<Record<'cost' | 'earnings', string | null>>(sql`
    select sum(cost_micros)::text as cost, sum(earnings_micros)::text as earnings
    from (${debts(merchId, pubId)}) as debt
    where due_at > ${until}`)
  return { costMicros: BigInt(row?.cost ?? 0), earningsMicros: BigInt(row?.earnings ?? 0) }
}

/** Everything a merchant ever owed, or only its debts for one publisher. */
function debts(merchId: number, pubId: number | null = null): Sql {
  const isWanted = pubId === null ? sql`true` : sql`pub_id = ${pubId}`
  const earned = sql`
    ${clickDebts(merchId, isWanted)} union all (${saleDebts(merchId, isWanted)})`
  return pubId === null ? sql`${earned} union all ${moneyBack(merchId)}` : earned
}

/** The key of a day of clicks, which `clickDayOf` reads, or of a reversal on another day. */
function clickDebts(merchId: number, isWanted: Sql): Sql {
  return sql`
    select 'clicks:' || pub_id || ':' || click_day
        || case when click_day = day then '' else ' ' || day end as key, pub_id,
      (greatest(day, click_day) + 1)::timestamp at time zone 'UTC' as due_at,
      cost_micros, earnings_micros
    from click_debt where merch_id = ${merchId} and ${isWanted}`
}

/** The day in a key of `clickDebts`; null for the key of an order's line. */
export function clickDayOf(key: string): string | null {
  return /^clicks:\d+:(\d{4}-\d{2}-\d{2})$/.exec(ownKeyOf(key))?.[1] ?? null
}

function saleDebts(merchId: number, isWanted: Sql): Sql {
  return sql`
    with sale as (
      select line.merch_id, line.order_id, line.line, order_product_id, pub_id, locks_at,
        line.commission_micros, line.earnings_micros
      from merchant_order bought join order_line line using (merch_id, order_id)
      where merch_id = ${merchId} and pub_id is not null and locks_at is not null
        and rejected_at is null and ${isWanted}
    ), back as (
      select sale.*, return_id, accepted_at, part.commission_micros as back_commission,
        part.earnings_micros as back_earnings
      from sale
      join order_return_line part using (merch_id, order_id, line)
      join order_return using (merch_id, order_id, return_id)
    )
    select order_product_id, pub_id, locks_at,
      commission_micros - coalesce(early.commission, 0)::bigint,
      earnings_micros - coalesce(early.earnings, 0)::bigint
    from sale
    left join (
      select order_id, line, sum(back_commission) as commission, sum(back_earnings) as earnings
      from back where accepted_at < locks_at group by order_id, line
    ) as early using (order_id, line)
    union all
    select order_product_id || ' ' || return_id, pub_id, accepted_at,
      -back_commission, -back_earnings
    from back where accepted_at >= locks_at`
}

function moneyBack(merchId: number): Sql {
  return sql`
    select 'payment:' || event_id, ${NOBODY}::int, reversed_at, amount_micros, 0
    from merchant_payment where merch_id = ${merchId} and reversed_at is not null`
}

async function listPayments(db: Db, { merchId, until }: Asked): Promise<Payment[]> {
  const rows = await db.rows<{ event_id: string; at: Date; amount_micros: string }>(sql`
    select event_id, at, amount_micros from merchant_payment
    where merch_id = ${merchId} and at <= ${until} order by at, event_id`)
  return rows.map(({ event_id: paymentId, at, amount_micros }) => ({
    paymentId,
    atMs: at.getTime(),
    amountMicros: micros(Number(amount_micros)),
  }))
}
