/** A merchant's orders in SQL, newest first, with their states. */
import { matchMerchantDebts } from '../ledger/debt-store.ts'
import type { OrderState } from '../orders/order-states.ts'
import { ORDER_COLUMNS, type OrderRow, stateOfOrder } from '../orders/order-view.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'

/** What callers filter by: a held order is also pending. */
export const ORDER_FILTERS = ['PENDING', 'HELD', 'LOCKED', 'PAID', 'REJECTED'] as const
export type OrderFilter = (typeof ORDER_FILTERS)[number]

export interface MerchantOrdersQuery {
  readonly merchId: number
  readonly filter: OrderFilter | null
  readonly dayFrom: string | null
  readonly dayTo: string | null
  readonly after: OrderPlace | null
  readonly limit: number
  readonly now: Date
}

/** Where a page ended: microseconds since 1970, and the merchant's own id. */
export interface OrderPlace {
  readonly acceptedAt: string
  readonly orderId: string
}

interface ListedOrder extends OrderRow {
  readonly accepted_at: Date
  readonly accepted_us: string
  readonly publisher_name: string | null
  readonly waiting_value: string | null
  readonly waiting_currency: string | null
}

export type MerchantOrder = ListedOrder & { readonly state: OrderState }

/** Rows that are read at once where each must first be known to be paid or not. */
const BATCH_ROWS = 500

export async function listMerchantOrders(
  db: Db,
  query: MerchantOrdersQuery,
): Promise<MerchantOrder[]> {
  const { merchId, filter, limit, now } = query
  const found: MerchantOrder[] = []
  const isPaid = paidOrders(db, { merchId, now })
  let { after } = query
  const batch = filter === 'LOCKED' || filter === 'PAID' ? Math.max(limit, BATCH_ROWS) : limit
  for (;;) {
    const rows = await readOrders(db, { ...query, after, limit: batch })
    for (const row of rows) {
      const state = await stateOf(row, now, isPaid)
      const isWanted = (filter !== 'LOCKED' && filter !== 'PAID') || state === filter
      if (isWanted && found.length < limit) found.push({ ...row, state })
    }
    const last = rows.at(-1)
    if (found.length >= limit || rows.length < batch || last === undefined) return found
    after = { acceptedAt: last.accepted_us, orderId: last.order_id }
  }
}

function readOrders(db: Db, query: MerchantOrdersQuery): Promise<ListedOrder[]> {
  const { merchId, filter, dayFrom, dayTo, after, limit, now } = query
  const isLeft =
    after === null
      ? sql`true`
      : sql`(accepted_at, order_id) < (
          timestamptz 'epoch' + ${after.acceptedAt}::bigint * interval '1 microsecond',
          ${after.orderId})`
  return db.rows(sql`
    select ${ORDER_COLUMNS}, publisher.name as publisher_name,
      (extract(epoch from accepted_at) * 1000000)::bigint as accepted_us,
      waiting.value as waiting_value, waiting.currency as waiting_currency
    from merchant_order bought
    left join publisher on publisher.pub_id = bought.pub_id
    left join lateral (
      -- A held order has no figures yet, but what was reported of it is known.
      select report ->> 'value' as value, report ->> 'currency' as currency
      from jsonb_each(account -> 'reports') as reports (source, report) limit 1
    ) as waiting on bought.value is null
    where merch_id = ${merchId} and accepted_at is not null and ${isIn(filter, now)}
      and (${dayFrom}::date is null
        or accepted_at >= ${dayFrom}::date::timestamp at time zone 'UTC')
      and (${dayTo}::date is null
        or accepted_at < (${dayTo}::date + 1)::timestamp at time zone 'UTC')
      and ${isLeft}
    order by accepted_at desc, order_id desc limit ${limit}`)
}

function isIn(filter: OrderFilter | null, now: Date): Sql {
  const isLocked = sql`bought.pub_id is not null and locks_at <= ${now}`
  switch (filter) {
    case null:
      return sql`true`
    case 'REJECTED':
      return sql`rejected_at is not null`
    case 'HELD':
      return sql`hold is not null and rejected_at is null`
    case 'PENDING':
      return sql`rejected_at is null and (${isLocked}) is not true`
    default:
      return sql`rejected_at is null and ${isLocked}`
  }
}

async function stateOf(
  row: ListedOrder,
  now: Date,
  isPaid: (orderId: string) => Promise<boolean>,
): Promise<OrderState> {
  const state = stateOfOrder(row, now, false)
  return state === 'LOCKED' ? stateOfOrder(row, now, await isPaid(row.order_id)) : state
}

/** Settles the merchant's debts once, and only if an order is locked. */
function paidOrders(db: Db, { merchId, now }: { merchId: number; now: Date }) {
  let unpaid: Promise<ReadonlySet<string>> | null = null
  return async (orderId: string): Promise<boolean> => {
    unpaid ??= unpaidOrders(db, { merchId, now })
    return !(await unpaid).has(orderId)
  }
}

/** The orders of which a line is not released completely. */
async function unpaidOrders(
  db: Db,
  { merchId, now }: { merchId: number; now: Date },
): Promise<ReadonlySet<string>> {
  const { open } = await matchMerchantDebts(db, { merchId, until: now })
  const keys = open.map(({ debt }) => debt.key)
  const rows = await db.rows<{ order_id: string }>(sql`
    select distinct order_id from order_line
    where merch_id = ${merchId} and order_product_id = any(${keys}::text[])`)
  return new Set(rows.map(({ order_id }) => order_id))
}

/** The merchant's own id of an order that is named by it, or by ours; null if there is none. */
export async function findMerchantOrderId(
  db: Db,
  { merchId, named }: { merchId: number; named: string },
): Promise<string | null> {
  const row = await db.row<{ order_id: string }>(sql`
    select order_id from merchant_order
    where merch_id = ${merchId} and (order_id = ${named} or event_id::text = ${named})
    order by order_id = ${named} desc limit 1`)
  return row?.order_id ?? null
}
