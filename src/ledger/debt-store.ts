/**
 * What merchants owe and paid, in SQL, and what that releases.
 *
 * Clicks are owed per publisher and day, due when the day is over; sales per line of an order, due
 * when the order locks, which one that is held does not. What comes back before the lock, or the
 * day's end, lowers the debt; what comes back later is a debt below zero, due when it came. A
 * payment that was taken back is owed again since then: what it released before stays released.
 */
import { micros } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { type Sql, sql } from '../platform/sql.ts'
import { type Debt, ownKeyOf, type Payment, type Settlement, settle } from './release.ts'

interface DebtRow {
  readonly key: string
  readonly pub_id: number
  readonly due_ms: number
  readonly cost_micros: string
  readonly earnings_micros: string
}

/** Settles one merchant's debts that were due, and payments that had come, by a time. */
export async function settleMerchant(
  db: Db,
  { merchId, until }: { readonly merchId: number; readonly until: Date },
): Promise<Settlement> {
  const [debts, payments] = [
    await listDebts(db, { merchId, until }),
    await listPayments(db, { merchId, until }),
  ]
  return settle(debts, payments)
}

/** The merchants that publishers ever got clicks or orders from; of all publishers for null. */
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

/** Times come as numbers: of a hundred thousand debts, reading dates would take half the time. */
async function listDebts(
  db: Db,
  { merchId, until }: { readonly merchId: number; readonly until: Date },
): Promise<Debt[]> {
  const rows = await db.rows<DebtRow>(sql`
    select key, pub_id, cost_micros, earnings_micros,
      floor(extract(epoch from due_at) * 1000)::float8 as due_ms
    from (${debts(merchId)}) as debt
    where due_at <= ${until} and (cost_micros, earnings_micros) <> (0, 0)`)
  return rows.map((row) => ({
    key: row.key,
    pubId: row.pub_id,
    dueAtMs: row.due_ms,
    costMicros: micros(Number(row.cost_micros)),
    earningsMicros: micros(Number(row.earnings_micros)),
  }))
}

/** What of a publisher's earnings at a merchant is not due by a time, and may still change. */
export async function sumNotDue(
  db: Db,
  { merchId, pubId, until }: { readonly merchId: number; readonly pubId: number; until: Date },
): Promise<bigint> {
  const row = await db.row<{ earnings_micros: string | null }>(sql`
    select sum(earnings_micros)::text as earnings_micros from (${debts(merchId)}) as debt
    where pub_id = ${pubId} and due_at > ${until}`)
  return BigInt(row?.earnings_micros ?? 0)
}

function debts(merchId: number): Sql {
  return sql`
    ${clickDebts(merchId)} union all (${saleDebts(merchId)}) union all ${moneyBack(merchId)}`
}

/** The key of a day of clicks, which `clickDayOf` reads back, or of what another day took back. */
function clickDebts(merchId: number): Sql {
  return sql`
    select 'clicks:' || pub_id || ':' || click_day
        || case when click_day = day then '' else ' ' || day end as key, pub_id,
      (greatest(day, click_day) + 1)::timestamp at time zone 'UTC' as due_at,
      cost_micros, earnings_micros
    from click_debt where merch_id = ${merchId}`
}

/** The day of the clicks of a key of `clickDebts`, null for the key of an order's line. */
export function clickDayOf(key: string): string | null {
  return /^clicks:\d+:(\d{4}-\d{2}-\d{2})$/.exec(ownKeyOf(key))?.[1] ?? null
}

function saleDebts(merchId: number): Sql {
  return sql`
    with sale as (
      select line.merch_id, line.order_id, line.line, order_product_id, pub_id, locks_at,
        line.commission_micros, line.earnings_micros
      from merchant_order bought join order_line line using (merch_id, order_id)
      where merch_id = ${merchId} and pub_id is not null and locks_at is not null
        and rejected_at is null
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
    select 'payment:' || event_id, 0, reversed_at, amount_micros, 0
    from merchant_payment where merch_id = ${merchId} and reversed_at is not null`
}

async function listPayments(
  db: Db,
  { merchId, until }: { readonly merchId: number; readonly until: Date },
): Promise<Payment[]> {
  const rows = await db.rows<{ event_id: string; at: Date; amount_micros: string }>(sql`
    select event_id, at, amount_micros from merchant_payment
    where merch_id = ${merchId} and at <= ${until} order by at, event_id`)
  return rows.map(({ event_id: paymentId, at, amount_micros }) => ({
    paymentId,
    atMs: at.getTime(),
    amountMicros: micros(Number(amount_micros)),
  }))
}
