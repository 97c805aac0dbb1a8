/**
 * Orders in SQL. The fold loads them and writes them back as a whole, with one round trip per table
 * for any number of orders. Only the fold writes here.
 */

import { clickIdBytes } from '../events/click-id.ts'
import { MODEL, MONEY_LANE, type Model } from '../events/event.ts'
import { unpackTerms } from '../events/pay-terms.ts'
import { verdictOf } from '../events/reason.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { identifier, type Sql, sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import type { Touch } from './attribute.ts'
import { datesOf, EMPTY_ACCOUNT, type OrderAccount, type Owner } from './order-account.ts'
import { type OrderFigures, orderFigures } from './order-figures.ts'

export interface OrderKey {
  readonly merchId: number
  readonly orderId: string
}

/** A unique text per order, as a map key. */
export function keyText({ merchId, orderId }: OrderKey): string {
  return `${merchId} ${orderId}`
}

/** An order as the fold uses it. */
export interface OrderRecord extends OrderKey {
  readonly eventId: string | null // of the first report: our own id of the order
  readonly day: string | null
  readonly isPosted: boolean // whether the ledger has an entry for it
  readonly account: OrderAccount
}

/** The known orders; unknown ones are missing. */
export function findOrders(db: Db, keys: readonly OrderKey[]): Promise<Map<string, OrderRecord>> {
  return readOrders(db, isAmong(keys))
}

function isAmong(keys: readonly OrderKey[]): Sql {
  return sql`(merch_id, order_id) in (
    select * from unnest(
      ${keys.map(({ merchId }) => merchId)}::int[],
      ${keys.map(({ orderId }) => orderId)}::text[]))`
}

/** The orders owed to these clicks (hex). */
export function findOrdersOfClicks(
  db: Db,
  clickIds: readonly string[],
): Promise<Map<string, OrderRecord>> {
  return readOrders(db, sql`click_id = any(${clickIdBytes(clickIds)}::bytea[])`)
}

/** Orders that wait for an exchange rate. */
export function ordersWithoutRate(db: Db): AsyncGenerator<OrderRecord[]> {
  return inBatches(db, sql`hold = 'no_rate'`)
}

/**
 * Open orders accepted since then that name an unknown click and are not owed to a named one. A
 * partial index covers exactly these, so the condition must use the same words.
 */
export function ordersOfUnknownClicks(
  db: Db,
  { now, since }: { readonly now: Date; readonly since: Date },
): AsyncGenerator<OrderRecord[]> {
  return inBatches(
    db,
    sql`accepted_at >= ${since} and (locks_at is null or locks_at > ${now})
      and (attribution is null or attribution <> 'exact') and rejected_at is null
      and account @> '{"evidence": [{"verdict": "unknown_click"}]}'`,
  )
}

const ORDERS_PER_BATCH = 500 // One batch of the event log.

/** In batches, in the order of their keys. */
async function* inBatches(db: Db, condition: Sql): AsyncGenerator<OrderRecord[]> {
  let after: OrderKey = { merchId: 0, orderId: '' }
  for (;;) {
    const isNext = sql`${condition} and (merch_id, order_id) > (${after.merchId}, ${after.orderId})`
    const orders = [...(await readOrders(db, isNext, ORDERS_PER_BATCH)).values()]
    const last = orders.at(-1)
    if (last === undefined) return
    yield orders
    after = last
  }
}

/** The bodies of these events of the money lane, accepted on that day or later, by id. */
export async function findBodies(
  db: Db,
  { day, eventIds }: { readonly day: string; readonly eventIds: readonly string[] },
): Promise<Map<string, string>> {
  const rows = await db.rows<{ id: string; body: string }>(sql`
    select id, body::text from event
    where lane = ${MONEY_LANE} and day >= ${day} and id = any(${eventIds}::bigint[])`)
  return new Map(rows.map(({ id, body }) => [id, body]))
}

async function readOrders(
  db: Db,
  condition: Sql,
  limit: number | null = null,
): Promise<Map<string, OrderRecord>> {
  const rows = await db.rows<{
    merch_id: number
    order_id: string
    event_id: string | null
    day: string | null
    is_posted: boolean
    account: OrderAccount
  }>(sql`
    select merch_id, order_id, event_id, day, is_posted, account from merchant_order
    where ${condition} order by merch_id, order_id limit ${limit}`)
  return new Map(
    rows.map(({ merch_id: merchId, order_id: orderId, event_id: eventId, ...row }) => {
      const { day, is_posted: isPosted, account } = row
      return [keyText({ merchId, orderId }), { merchId, orderId, eventId, day, isPosted, account }]
    }),
  )
}

export function emptyOrder({ merchId, orderId }: OrderKey): OrderRecord {
  return { merchId, orderId, eventId: null, day: null, isPosted: false, account: EMPTY_ACCOUNT }
}

export interface FoundClick {
  readonly touch: Touch
  readonly owner: Owner
}

/** Clicks by their ids (hex), as judged by the fold. */
export async function findClicks(
  db: Db,
  clickIds: readonly string[],
): Promise<Map<string, FoundClick>> {
  if (clickIds.length === 0) return new Map()
  const rows = await db.rows<ClickRow>(sql`
    select click_id, at, reason, reversed_at, merch_id, pub_id, article_id, campaign_id, model,
      terms_amount, share_ppm
    from click where click_id = any(${clickIdBytes(clickIds)}::bytea[])`)
  return new Map(rows.map(toFoundClick).map((click) => [click.touch.clickId, click]))
}

interface ClickRow {
  readonly click_id: Buffer
  readonly at: Date
  readonly reason: number
  readonly reversed_at: Date | null
  readonly merch_id: number
  readonly pub_id: number
  readonly article_id: number
  readonly campaign_id: number | null
  readonly model: Model
  readonly terms_amount: string
  readonly share_ppm: number
}

function toFoundClick(row: ClickRow): FoundClick {
  const [clickId, atMs] = [row.click_id.toString('hex'), row.at.getTime()]
  return {
    touch: { clickId, atMs, merchId: row.merch_id, reason: verdictOf(row) },
    owner: {
      clickId,
      clickAtMs: atMs,
      pubId: row.pub_id,
      articleId: row.article_id,
      campaignId: row.campaign_id,
      terms: unpackTerms({ model: row.model, amount: Number(row.terms_amount) }),
      sharePpm: row.share_ppm,
    },
  }
}

/** Writes orders with their lines and returns, replacing the previous rows. */
export async function saveOrders(tx: Db, records: readonly OrderRecord[]): Promise<void> {
  const orders = records.map((record) => ({ ...record, figures: orderFigures(record.account) }))
  await saveHeads(tx, orders)
  const isOneOf = isAmong(records)
  await tx.run(sql`delete from order_line where ${isOneOf}`)
  await insertLines(tx, orders)
  const withReturns = orders.filter(({ account }) => account.returns.length > 0)
  if (withReturns.length === 0) return
  await tx.run(sql`delete from order_return where ${isOneOf}`)
  await tx.run(sql`delete from order_return_line where ${isOneOf}`)
  await insertReturns(tx, withReturns)
  await insertReturnLines(tx, withReturns)
}

type SavedOrder = OrderRecord & { readonly figures: OrderFigures }

async function saveHeads(tx: Db, orders: readonly SavedOrder[]): Promise<void> {
  const rows = orders.map(headOf)
  await insertRows(
    tx,
    'merchant_order',
    rows,
    sql`
    on conflict (merch_id, order_id) do update set
      account = excluded.account, is_posted = excluded.is_posted, event_id = excluded.event_id,
      day = excluded.day, accepted_at = excluded.accepted_at, source = excluded.source,
      ordered_at = excluded.ordered_at, currency = excluded.currency, value = excluded.value,
      rate_id = excluded.rate_id, hold = excluded.hold, click_id = excluded.click_id,
      attribution = excluded.attribution, pub_id = excluded.pub_id,
      article_id = excluded.article_id, campaign_id = excluded.campaign_id, model = excluded.model,
      locks_at = excluded.locks_at, rejected_at = excluded.rejected_at,
      reject_reason = excluded.reject_reason,
      revenue_micros = excluded.revenue_micros, commission_micros = excluded.commission_micros,
      earnings_micros = excluded.earnings_micros, net_sales = excluded.net_sales,
      net_revenue_micros = excluded.net_revenue_micros,
      net_commission_micros = excluded.net_commission_micros,
      net_earnings_micros = excluded.net_earnings_micros`,
  )
}

/** One JSON document rather than thirty arrays: orders are the cold part of the money lane. */
async function insertRows(
  tx: Db,
  table: string,
  rows: readonly object[],
  onConflict = sql``,
): Promise<void> {
  if (rows.length === 0) return
  const name = identifier(table)
  await tx.run(sql`
    insert into ${name}
    select * from jsonb_populate_recordset(null::${name}, ${JSON.stringify(rows)}::jsonb)
    ${onConflict}`)
}

/** A row of merchant_order, by column name. */
function headOf({ merchId, orderId, eventId, day, isPosted, account, figures }: SavedOrder) {
  const { order, gross, net } = figures
  const owner = account.attribution?.owner ?? null
  const { locksAtMs } = datesOf(account)
  return {
    merch_id: merchId,
    order_id: orderId,
    account,
    is_posted: isPosted,
    event_id: eventId,
    day,
    accepted_at: instant(account.acceptedAtMs),
    source: order?.source ?? null,
    ordered_at: instant(order?.orderedAtMs ?? null),
    currency: order?.currency ?? null,
    value: order?.value ?? null,
    rate_id: order?.rateId ?? null,
    hold: figures.hold,
    click_id: owner === null ? null : `\\x${owner.clickId}`,
    attribution: account.attribution?.model ?? null,
    pub_id: owner?.pubId ?? null,
    article_id: owner?.articleId ?? null,
    campaign_id: owner?.campaignId ?? null,
    model: MODEL[owner?.terms.model ?? 'none'],
    locks_at: Number.isFinite(locksAtMs) ? instant(locksAtMs) : null,
    rejected_at: instant(account.rejection?.atMs ?? null),
    reject_reason: account.rejection?.reason ?? null,
    revenue_micros: gross.revenueMicros,
    commission_micros: gross.commissionMicros,
    earnings_micros: gross.earningsMicros,
    net_sales: net.sales,
    net_revenue_micros: net.revenueMicros,
    net_commission_micros: net.commissionMicros,
    net_earnings_micros: net.earningsMicros,
  }
}

function instant(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString()
}

async function insertLines(tx: Db, orders: readonly SavedOrder[]): Promise<void> {
  const rows = orders.flatMap(({ merchId, orderId, figures }) => {
    const ids = orderProductIds(
      { merchId, orderId },
      (figures.order?.lines ?? []).map(({ productId }) => productId),
    )
    return figures.lines.map((line, index) => {
      const product = figures.order?.lines[index]
      return {
        merch_id: merchId,
        order_id: orderId,
        line: index,
        order_product_id: ids[index],
        product_id: product?.productId ?? null,
        name: product?.name ?? null,
        brand: product?.brand ?? null,
        price: product?.price ?? null,
        quantity: product?.quantity ?? 1,
        returned: line.returned,
        revenue_micros: line.revenueMicros,
        commission_micros: line.commissionMicros,
        earnings_micros: line.earningsMicros,
      }
    })
  })
  await insertRows(tx, 'order_line', rows)
}

/**
 * The key of an order's line in reports: checkout, merchant and product. Further lines of one
 * product get a number. Ids are escaped, colons too, so that keys are unique.
 */
function orderProductIds(
  { merchId, orderId }: OrderKey,
  productIds: readonly (string | null)[],
): string[] {
  const seen = new Map<string, number>()
  return productIds.map((productId) => {
    const product = encodeURIComponent(productId ?? '')
    const count = (seen.get(product) ?? 0) + 1
    seen.set(product, count)
    const suffix = count === 1 ? '' : `:${count}`
    return `${encodeURIComponent(orderId)}:${merchId}:${product}${suffix}`
  })
}

async function insertReturns(tx: Db, orders: readonly SavedOrder[]): Promise<void> {
  const rows = orders.flatMap(({ merchId, orderId, account, figures }) => {
    const refusals = new Map(figures.refused.map(({ return_id, reason }) => [return_id, reason]))
    return account.returns.map((goods) => {
      const reason = refusals.get(goods.return_id) ?? null
      const judged = reason === null ? 'applied' : 'refused'
      return {
        merch_id: merchId,
        order_id: orderId,
        return_id: goods.return_id,
        event_id: goods.event_id,
        day: utcDay(goods.accepted_at_ms),
        accepted_at: instant(goods.accepted_at_ms),
        returned_at: instant(goods.returned_at_ms),
        line: goods.line,
        product_id: goods.product_id,
        quantity: goods.quantity,
        amount: goods.amount ?? null,
        currency: goods.currency ?? null,
        state: figures.order === null ? 'waiting' : judged,
        reason,
      }
    })
  })
  await insertRows(tx, 'order_return', rows)
}

/** Only for applied returns. A refused return, or one that waits for its order, has no lines. */
async function insertReturnLines(tx: Db, orders: readonly SavedOrder[]): Promise<void> {
  const rows = orders.flatMap(({ merchId, orderId, figures }) =>
    figures.returns.map((row) => ({
      merch_id: merchId,
      order_id: orderId,
      return_id: row.return_id,
      line: row.line,
      quantity: row.quantity,
      revenue_micros: row.revenueMicros,
      commission_micros: row.commissionMicros,
      earnings_micros: row.earningsMicros,
    })),
  )
  await insertRows(tx, 'order_return_line', rows)
}
