/**
 * One order, explained: reports by source, competing clicks and why one won, earnings line by line,
 * returns, and every ledger entry that it caused.
 */

import { clickIdBytes } from '../events/click-id.ts'
import { orderKey } from '../ledger/entries.ts'
import { openReleases } from '../ledger/publisher-releases.ts'
import { listEntriesOfKey } from '../ledger/store.ts'
import type { OrderAccount } from '../orders/order-account.ts'
import { type HoldReason, mostTrusted } from '../orders/order-merge.ts'
import type { OrderKey } from '../orders/order-store.ts'
import { ORDER_COLUMNS, type OrderRow, stateOfOrder } from '../orders/order-view.ts'
import { formatExact, PPM } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'

interface StoredOrder extends OrderRow {
  readonly account: OrderAccount
}

/** A merchant's order by the merchant's own id; null if nobody has reported it. */
export function explainOrder(
  db: Db,
  { merchId, orderId, now }: { readonly merchId: number; readonly orderId: string; now: Date },
) {
  return explainWhere(db, sql`merch_id = ${merchId} and order_id = ${orderId}`, now)
}

/**
 * A publisher's order by Souk's id; null if it belongs to another publisher. Other publishers'
 * earnings from it, and the times of their clicks, stay hidden; only the verdict on those clicks is
 * shown.
 */
export async function explainPublisherOrder(
  db: Db,
  { pubId, eventId, now }: { readonly pubId: number; readonly eventId: string; now: Date },
) {
  const order = await explainWhere(db, sql`pub_id = ${pubId} and event_id = ${eventId}`, now)
  if (order === null) return null
  const foreign = await findForeignClicks(db, pubId, order.evidence)
  return {
    ...order,
    order_id: eventId,
    pub_id: pubId,
    evidence: order.evidence.map((touch) =>
      foreign.has(touch.click_id) ? { ...touch, click_id: null, clicked_at: null } : touch,
    ),
    entries: order.entries.filter((line) => line.pub_id === pubId),
  }
}

/**
 * A merchant's order as it concerns the merchant: cost, rate, terms, and its click, but not when
 * the reader visited another shop. The response schema `MerchantOrderRecord` leaves out the
 * publisher's part.
 */
export async function explainMerchantOrder(db: Db, wanted: Parameters<typeof explainOrder>[1]) {
  const order = await explainOrder(db, wanted)
  if (order === null) return null
  return {
    ...order,
    evidence: order.evidence.map((touch) =>
      touch.verdict === 'other_merchant' ? { ...touch, clicked_at: null } : touch,
    ),
    entries: order.entries.filter(({ account }) => account === 'merchant'),
  }
}

/** As of one moment; otherwise the lines might not match their total. */
function explainWhere(db: Db, condition: Sql, now: Date) {
  return db.transaction(
    async (tx) => {
      const [row] = await readOrders(tx, condition, 1)
      return row === undefined ? null : explained(tx, row, now)
    },
    { isSnapshot: true },
  )
}

async function findForeignClicks(
  db: Db,
  pubId: number,
  evidence: readonly { readonly click_id: string }[],
) {
  const clickIds = clickIdBytes(evidence.map(({ click_id }) => click_id))
  const rows = await db.rows<{ click_id: Buffer }>(sql`
    select click_id from click where click_id = any(${clickIds}::bytea[]) and pub_id <> ${pubId}`)
  return new Set(rows.map((row) => row.click_id.toString('hex')))
}

const HELD_ORDERS_MAX = 1_000

/** Orders that wait for a rate or a person, oldest first. */
export async function listHeldOrders(db: Db) {
  const rows = await readOrders(db, sql`hold is not null and rejected_at is null`, HELD_ORDERS_MAX)
  return rows.map((row) => {
    const waiting = mostTrusted(row.account.reports)
    return {
      merch_id: row.merch_id,
      checkout_id: row.order_id,
      hold: row.hold,
      currency: waiting.currency,
      value: waiting.value,
      ordered_at: formatTimestamp(new Date(waiting.ordered_at_ms)),
      accepted_at: formatTimestampOrNull(row.accepted_at),
    }
  })
}

export interface HeldOrder {
  readonly order_id: string
  readonly checkout_id: string
  readonly merch_id: number
  readonly hold: HoldReason
  readonly currency: string
  readonly value: string
  readonly ordered_at: Date
  readonly accepted_at: Date
}

/** A page of held orders by our id, with one more row than `limit` if there is one. */
export async function listHeldOrderPage(
  db: Db,
  page: { readonly after: string | null; readonly limit: number },
): Promise<HeldOrder[]> {
  const rows = await db.rows<StoredOrder & HeldRow>(sql`
    select ${ORDER_COLUMNS}, account from merchant_order bought
    where hold is not null and rejected_at is null and event_id > coalesce(${page.after}::bigint, 0)
    order by event_id limit ${page.limit + 1}`)
  return rows.map((row) => {
    const waiting = mostTrusted(row.account.reports)
    return {
      order_id: row.event_id,
      checkout_id: row.order_id,
      merch_id: row.merch_id,
      hold: row.hold,
      currency: waiting.currency,
      value: waiting.value,
      ordered_at: new Date(waiting.ordered_at_ms),
      accepted_at: row.accepted_at,
    }
  })
}

interface HeldRow {
  readonly event_id: string
  readonly hold: HoldReason
  readonly accepted_at: Date
}

/** Whose order has this id of ours, and its id at the merchant; null if there is none. */
export function findOrderKey(db: Db, eventId: string): Promise<OrderKey | null> {
  return db.row(sql`
    select merch_id as "merchId", order_id as "orderId" from merchant_order
    where event_id = ${eventId}`)
}

/** Our id of an order; null if it is not reported yet. */
export async function findOrderId(db: Db, key: OrderKey): Promise<string | null> {
  const row = await db.row<{ event_id: string | null }>(sql`
    select event_id from merchant_order
    where merch_id = ${key.merchId} and order_id = ${key.orderId}`)
  return row?.event_id ?? null
}

function readOrders(db: Db, condition: Sql, limit: number): Promise<StoredOrder[]> {
  return db.rows(sql`
    select ${ORDER_COLUMNS}, account from merchant_order bought where ${condition}
    order by accepted_at, merch_id, order_id limit ${limit}`)
}

async function explained(db: Db, row: StoredOrder, now: Date) {
  const { account } = row
  const key = { merchId: row.merch_id, orderId: row.order_id }
  const lines = await findLines(db, key)
  const returns = await findReturns(db, key)
  const reports = Object.values(account.reports)
  const entries = await listEntriesOfKey(db, orderKey(key.merchId, key.orderId))
  return {
    order_id: row.event_id,
    checkout_id: row.order_id,
    merch_id: row.merch_id,
    pub_id: row.pub_id,
    is_test: reports.length > 0 && (mostTrusted(account.reports).is_test ?? false),
    state: await stateOf(db, row, { now, keys: lines.map((line) => line.order_product_id) }),
    hold: row.hold,
    locks_at: formatTimestampOrNull(row.locks_at),
    rejected_at: formatTimestampOrNull(row.rejected_at),
    reject_reason: row.reject_reason,
    ordered_at: formatTimestampOrNull(row.ordered_at),
    accepted_at: formatTimestampOrNull(row.accepted_at),
    source: row.source,
    currency: row.currency,
    value: row.value,
    rate: await findRate(db, row.rate_id),
    revenue_usd: formatExact(row.revenue_micros),
    commission_usd: formatExact(row.commission_micros),
    earnings_usd: formatExact(row.earnings_micros),
    net_revenue_usd: formatExact(row.net_revenue_micros),
    net_commission_usd: formatExact(row.net_commission_micros),
    net_earnings_usd: formatExact(row.net_earnings_micros),
    attribution: row.attribution,
    terms: termsOf(account),
    click_id: row.click_id?.toString('hex') ?? null,
    evidence: account.evidence.map(({ id, at_ms, verdict }) => ({
      click_id: id,
      clicked_at: at_ms === null ? null : formatTimestamp(new Date(at_ms)),
      verdict,
    })),
    reports: reports.map((report) => ({
      source: report.source,
      event_id: report.event_id,
      updated_at: formatTimestamp(new Date(report.updated_at_ms)),
      currency: report.currency,
      value: report.value,
      is_cancelled: report.is_cancelled,
      is_test: report.is_test ?? false,
      value_is_net: report.is_net ?? false,
      hold: report.hold,
    })),
    lines,
    returns,
    entries: entries.map(({ amount_micros, ...line }) => ({
      ...line,
      amount_usd: formatExact(amount_micros),
    })),
  }
}

/** The terms sealed at the click, from which commission and the publisher's part follow. */
function termsOf({ attribution }: OrderAccount) {
  if (attribution === null) return null
  const { campaignId, terms, sharePpm } = attribution.owner
  return {
    campaign_id: campaignId, // Null for the merchant's own rate for links that were only seen.
    model: terms.model,
    rate: terms.model === 'cpa' ? terms.ratePpm / PPM : null,
    payment_usd: terms.model === 'epp' ? formatExact(terms.paymentMicros) : null,
    share: sharePpm / PPM,
  }
}

async function stateOf(
  db: Db,
  row: OrderRow,
  { now, keys }: { readonly now: Date; readonly keys: readonly string[] },
) {
  const state = stateOfOrder(row, now, false)
  if (state !== 'LOCKED' || row.pub_id === null) return state // Then nothing needs to be settled.
  const paidAt = await openReleases(db, { pubId: row.pub_id, until: now }).paidAtOf(row.merch_id)
  const isPaid = keys.length > 0 && keys.every((key) => (paidAt(key) ?? Infinity) <= now.getTime())
  return stateOfOrder(row, now, isPaid)
}

async function findLines(db: Db, { merchId, orderId }: OrderKey) {
  const rows = await db.rows<{
    order_product_id: string
    product_id: string | null
    name: string | null
    price: string | null
    quantity: number
    returned: number
    revenue_micros: string
    commission_micros: string
    earnings_micros: string
  }>(sql`
    select order_product_id, product_id, name, price, quantity, returned, revenue_micros,
      commission_micros, earnings_micros
    from order_line where merch_id = ${merchId} and order_id = ${orderId} order by line`)
  return rows.map(({ revenue_micros, commission_micros, earnings_micros, ...line }) => ({
    ...line,
    line_revenue_usd: formatExact(revenue_micros),
    line_commission_usd: formatExact(commission_micros),
    line_earnings_usd: formatExact(earnings_micros),
  }))
}

async function findReturns(db: Db, { merchId, orderId }: OrderKey) {
  const rows = await db.rows<{
    return_id: string
    state: string
    reason: string | null
    quantity: number
    amount: string | null
    currency: string | null
    accepted_at: Date
    revenue_micros: string | null
    commission_micros: string | null
    earnings_micros: string | null
  }>(sql`
    select return_id, state, reason, back.quantity, back.amount, back.currency, accepted_at,
      sum(part.revenue_micros) as revenue_micros,
      sum(part.commission_micros) as commission_micros, sum(part.earnings_micros) as earnings_micros
    from order_return back
    left join order_return_line part using (merch_id, order_id, return_id)
    where merch_id = ${merchId} and order_id = ${orderId}
    group by merch_id, order_id, return_id, back.event_id, state, reason, back.quantity,
      back.amount, back.currency, accepted_at
    order by back.event_id`)
  const negative = (amount: string | null) => formatExact(-BigInt(amount ?? 0))
  return rows.map(
    ({ revenue_micros, commission_micros, earnings_micros, accepted_at, ...row }) => ({
      ...row,
      accepted_at: formatTimestamp(accepted_at),
      return_revenue_usd: negative(revenue_micros),
      return_commission_usd: negative(commission_micros),
      return_earnings_usd: negative(earnings_micros),
    }),
  )
}

/** Dollars need no rate: their id is no number. */
async function findRate(db: Db, rateId: string | null) {
  if (rateId === null || !/^\d+$/.test(rateId)) return null
  return db.row<{
    source: string
    day: string
    currency: string
    usd_per_base: string
    currency_per_base: string
  }>(sql`
    select source, day, currency, usd_per_base, currency_per_base from exchange_rate
    where rate_id = ${rateId}`)
}
