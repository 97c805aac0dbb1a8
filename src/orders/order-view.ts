/**
 * An order as the fold left it: the one reading of a row of `merchant_order`. The dashboard, the
 * orders report, the merchant's list and the page of one order format it.
 */
import type { Model } from '../events/event.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import type { HoldReason } from './order-merge.ts'
import { type OrderState, orderState } from './order-states.ts'

/**
 * Whether an order was cancelled, or called a test, when its earnings were locked already. They
 * stay, but it is no sale any more. `order` names the relation with the order's columns.
 */
export function isCancelledSale(order: Sql): Sql {
  const believed = sql`coalesce(${order}.account->'inForce', ${order}.account->'reports')`
  const best = sql`coalesce(${believed}->'s2s', ${believed}->'import', ${believed}->'pixel')`
  return sql`((${best}->>'is_cancelled')::boolean or coalesce((${best}->>'is_test')::boolean, false))`
}

/** The columns of `OrderRow`, in a query that calls `merchant_order` `bought`. */
export const ORDER_COLUMNS = sql`bought.merch_id, bought.order_id, bought.event_id, bought.day,
  bought.accepted_at, bought.ordered_at, bought.source, bought.currency, bought.value,
  bought.rate_id, bought.hold, bought.click_id, bought.attribution, bought.pub_id,
  bought.campaign_id, bought.model, bought.locks_at, bought.rejected_at, bought.reject_reason,
  bought.revenue_micros, bought.commission_micros, bought.earnings_micros,
  bought.net_revenue_micros, bought.net_commission_micros, bought.net_earnings_micros,
  ${isCancelledSale(sql`bought`)} as is_cancelled_sale`

export interface OrderRow {
  readonly merch_id: number
  readonly order_id: string // the merchant's own
  readonly event_id: string | null // ours; null: only returns of it are reported
  readonly day: string | null
  readonly accepted_at: Date | null
  readonly ordered_at: Date | null // null while it is held, like source, currency, value, rate
  readonly source: string | null
  readonly currency: string | null
  readonly value: string | null
  readonly rate_id: string | null
  readonly hold: HoldReason | null
  readonly click_id: Buffer | null
  readonly attribution: string | null
  readonly pub_id: number | null // null: no click led to it
  readonly campaign_id: number | null
  readonly model: Model
  readonly locks_at: Date | null // null: it has no click, or waits for a decision
  readonly rejected_at: Date | null
  readonly reject_reason: string | null
  readonly revenue_micros: string
  readonly commission_micros: string
  readonly earnings_micros: string
  readonly net_revenue_micros: string // after returns
  readonly net_commission_micros: string
  readonly net_earnings_micros: string
  readonly is_cancelled_sale: boolean
}

/**
 * The state of an order; without a click it stays pending. A rejection in the row counts even if
 * the clock of the node that recorded it is ahead.
 */
export function stateOfOrder(
  { pub_id, locks_at, rejected_at }: Pick<OrderRow, 'pub_id' | 'locks_at' | 'rejected_at'>,
  now: Date,
  /** Whether the merchant's money covers all of it: ledger/publisher-releases.ts. */
  isPaid: boolean,
): OrderState {
  if (rejected_at !== null) return 'REJECTED'
  if (pub_id === null || locks_at === null) return 'PENDING'
  const nowMs = now.getTime()
  const paidAtMs = isPaid ? nowMs : null
  return orderState({ locksAtMs: locks_at.getTime(), rejectedAtMs: null, paidAtMs }, nowMs)
}

/**
 * The amounts that a list of orders adds up, in micro-dollars, of an order or of one of its lines:
 * a rejected order is worth nothing, and a cancelled sale has earnings but no revenue.
 */
export function countedAmounts(
  state: OrderState,
  { is_cancelled_sale: isCancelled }: Pick<OrderRow, 'is_cancelled_sale'>,
  amounts: { readonly revenue: string; readonly earnings: string },
): { readonly revenueMicros: bigint; readonly earningsMicros: bigint } {
  const isRejected = state === 'REJECTED'
  return {
    revenueMicros: isRejected || isCancelled ? 0n : BigInt(amounts.revenue),
    earningsMicros: isRejected ? 0n : BigInt(amounts.earnings),
  }
}
