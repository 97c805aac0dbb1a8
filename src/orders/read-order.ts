/**
 * Turns a merchant's report into the facts stored in the log, or into its faults.
 *
 * Pure, in steps because rates and earlier reports are in the database: `readOrder` checks an
 * order, `dateOrder` says which rate it needs, `orderBody` completes it. Everything that later
 * decides about money (rate, window, hold) is part of the event, so that every fold of it gives the
 * same result (I1).
 */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { CLICK_ID } from '../events/click-id.ts'
import type { Fault } from '../platform/errors/api-errors.ts'
import { ISO_4217 } from '../platform/money/iso4217.ts'
import { MICROS_PER_DOLLAR, type Micros } from '../platform/money/money.ts'
import { DAY_MS, isPlainDate, parseTimestamp, utcDay } from '../platform/time/timestamp.ts'
import { formatMinor, parseMinor, type Rate, toMicros } from './currency.ts'
import type { OrderAccount, ReportedReturn } from './order-account.ts'
import type { HoldReason, LoggedReport, ReportedLine, Source } from './order-merge.ts'
import type { CheckoutEvent, ReturnEntry, ServerOrder } from './schema.ts'

/** A well-formed order without its rate. */
export interface ReadOrder {
  readonly orderId: string
  readonly source: Source
  readonly currency: string
  readonly exponent: number
  readonly valueMinor: bigint
  readonly orderedAtMs: number | null // null: not given
  readonly dayEndMs: number | null // of a plain date, which stands for its first moment
  readonly updatedAtMs: number
  readonly lines: readonly ReportedLine[]
  readonly exactClickId: string | null
  readonly rememberedClickIds: readonly string[]
  readonly isNewCustomer: boolean | null
  readonly isCancelled: boolean
  readonly isTest: boolean
  readonly isNet: boolean // the value is net of returns
}

/** The same with its checkout time, from this report, an earlier one, or the acceptance. */
export interface DatedOrder extends ReadOrder {
  readonly orderedAtMs: number
  readonly touchesUntilMs: number // as in OrderFacts
  readonly day: string // UTC day of the order, which selects the rate
  readonly keptRateId: string | null // the rate of an earlier conversion
}

/** The body of an order event. */
export interface OrderBody {
  readonly order_id: string
  readonly report: LoggedReport
  readonly exact_click_id: string | null
  readonly remembered_click_ids: readonly string[]
  readonly window_days: number // the merchant's setting when the order was accepted
  /** For merchants that pay for views: the rate, and the visitor's views. */
  readonly post_impression?: PostImpression
}

/** The clicks that it names, the exact one first. */
export function clickIdsOf({ exact_click_id: exact, remembered_click_ids: others }: OrderBody) {
  return exact === null ? others : [exact, ...others]
}

export interface PostImpression {
  readonly rate_ppm: number
  readonly seen: readonly {
    readonly impression_id: string
    readonly at_ms: number
    readonly click_id: string
  }[]
}

/** The body of a return event. */
export type ReturnBody = Omit<ReportedReturn, 'event_id' | 'accepted_at_ms'> & {
  readonly order_id: string
}

/** A shop may know only its own day, which ends in the far west twelve hours after ours. */
const LONGEST_DAY_MS = 1.5 * DAY_MS

/** Reads an order without `orderFaults`. */
export function readOrder(
  entry: ServerOrder | CheckoutEvent,
  { source, nowMs }: { readonly source: Source; readonly nowMs: number },
): ReadOrder {
  const order: ServerOrder['order'] = entry.order
  const exponent = ISO_4217.get(order.currency) ?? null
  assert(exponent !== null)
  const minor = (text: string): bigint => {
    const amount = parseMinor(text, exponent)
    assert(amount !== null)
    return amount
  }
  const lines = (entry.products ?? []).map(
    (product): ReportedLine => ({
      product_id: idText(product.id) || null,
      name: clean(product.name),
      brand: clean(product.brand),
      price: product.price,
      price_minor: minor(product.price).toString(),
      quantity: product.quantity ?? 1,
    }),
  )
  const orderedAtMs = timeOf(order.ordered_at)
  const isDatedByDay = isPlainDate(order.ordered_at ?? '')
  const exactClickId = idText(order.click_id).toLowerCase()
  return {
    orderId: idText(order.id),
    source,
    currency: order.currency,
    exponent,
    valueMinor: minor(order.value),
    orderedAtMs,
    dayEndMs: isDatedByDay && orderedAtMs !== null ? orderedAtMs + LONGEST_DAY_MS - 1 : null,
    updatedAtMs: timeOf(order.updated_at) ?? nowMs,
    lines,
    exactClickId: CLICK_ID.test(exactClickId) ? exactClickId : null,
    rememberedClickIds: clickIds(order),
    isNewCustomer: order.is_new_customer ?? null,
    isCancelled: order.status === 'cancelled',
    isTest: order.test === true,
    isNet: order.value_is_net === true,
  }
}

/**
 * Gives an order its checkout time and, if known, the matching rate.
 *
 * A repeated report changes neither (P47). Without its own time a report keeps the one of its
 * source's earlier report, else that of the order's first acceptance. Money of one currency and day
 * is converted once, even if rates of that day were corrected since.
 */
export function dateOrder(
  order: ReadOrder,
  known: Pick<OrderAccount, 'acceptedAtMs' | 'reports'>,
  nowMs: number,
): DatedOrder {
  const own = known.reports[order.source]
  const orderedAtMs = order.orderedAtMs ?? own?.ordered_at_ms ?? known.acceptedAtMs ?? nowMs
  const day = utcDay(orderedAtMs)
  const converted = [own, ...Object.values(known.reports)].find(
    (report) =>
      report !== undefined &&
      report.rate_id !== null &&
      report.currency === order.currency &&
      utcDay(report.ordered_at_ms) === day,
  )
  const dayEndMs = order.orderedAtMs === null ? own?.touches_until_ms : order.dayEndMs
  const touchesUntilMs = dayEndMs ?? orderedAtMs
  return { ...order, orderedAtMs, touchesUntilMs, day, keptRateId: converted?.rate_id ?? null }
}

/**
 * Whether its source reported the same before, and it need not be held (any more). A browser
 * repeats the report whenever its reader reopens the thank-you page, even if the merchant has since
 * turned on confirmation or sells cheaper goods. An order that counts must keep counting (P47).
 */
export function isRepeated(order: ReadOrder, { reports }: Pick<OrderAccount, 'reports'>): boolean {
  const own = reports[order.source]
  if (own === undefined || own.hold !== null) return false
  const { value, currency, lines, is_cancelled, is_test = false } = own
  return isDeepStrictEqual(
    { value, currency, lines, is_cancelled, is_test },
    {
      value: formatMinor(order.valueMinor, order.exponent),
      currency: order.currency,
      lines: order.lines,
      is_cancelled: order.isCancelled,
      is_test: order.isTest,
    },
  )
}

/** No basket is worth more, and the figures of a row and day can sum close to a million of them. */
const ORDER_MICROS_MAX = 10_000_000 * MICROS_PER_DOLLAR

/** Null if the amount exceeds the maximum of an order. */
function orderMicros(minor: bigint, exponent: number, rate: Rate): Micros | null {
  const value = toMicros(minor, exponent, rate)
  return value === null || value > ORDER_MICROS_MAX ? null : value
}

/**
 * Whether an order of this value waits for a person; null means that the value is not known yet.
 */
export type HoldOf = (valueMicros: number | null) => HoldReason | null

/** The event's body, or null if the amount exceeds the maximum of an order. */
export function orderBody(
  order: DatedOrder,
  found: {
    readonly rate: Rate | null
    readonly windowDays: number
    readonly postImpression: PostImpression | null
    /**
     * Also called while the value waits for a rate, because the order may still be held with one.
     */
    readonly holdOf: HoldOf
  },
): OrderBody | Fault {
  const { rate } = found
  const isDatedByDay = order.touchesUntilMs !== order.orderedAtMs
  const valueMicros = rate === null ? null : orderMicros(order.valueMinor, order.exponent, rate)
  if (rate !== null && valueMicros === null) {
    return { field: 'order.value', rule: 'is more than ten million dollars' }
  }
  return {
    order_id: order.orderId,
    exact_click_id: order.exactClickId,
    remembered_click_ids: order.rememberedClickIds,
    window_days: found.windowDays,
    ...(found.postImpression === null ? {} : { post_impression: found.postImpression }),
    report: {
      source: order.source,
      updated_at_ms: order.updatedAtMs,
      ordered_at_ms: order.orderedAtMs,
      ...(isDatedByDay ? { touches_until_ms: order.touchesUntilMs } : {}),
      currency: order.currency,
      value: formatMinor(order.valueMinor, order.exponent),
      value_micros: valueMicros,
      rate_id: rate?.rateId ?? null,
      lines: order.lines,
      is_new_customer: order.isNewCustomer,
      is_cancelled: order.isCancelled,
      ...(order.isTest ? { is_test: true as const } : {}),
      ...(order.isNet ? { is_net: true as const } : {}),
      hold: found.holdOf(valueMicros) ?? (valueMicros === null ? 'no_rate' : null),
    },
  }
}

/** A report that waited for a rate, now with one; null if it exceeds the maximum of an order. */
export function withRate(report: LoggedReport, rate: Rate): LoggedReport | null {
  const exponent = ISO_4217.get(report.currency) ?? 0
  const minor = parseMinor(report.value, exponent)
  const valueMicros = minor === null ? null : orderMicros(minor, exponent, rate)
  if (valueMicros === null) return null
  const hold = report.hold === 'no_rate' ? null : report.hold
  return { ...report, value_micros: valueMicros, rate_id: rate.rateId, hold }
}

/** Reads a return without `returnFaults`. */
export function readReturn(entry: ReturnEntry, nowMs: number): ReturnBody {
  return {
    order_id: idText(entry.order_id),
    return_id: idText(entry.id),
    line: entry.line ?? null,
    product_id: idText(entry.product_id) || null,
    ...(typeof entry.amount === 'string'
      ? {
          quantity: 0,
          amount: entry.amount,
          ...(entry.currency ? { currency: entry.currency } : {}),
        }
      : { quantity: entry.quantity ?? 1 }),
    returned_at_ms: timeOf(entry.returned_at) ?? nowMs,
  }
}

/** Null without a time. */
function timeOf(text: string | null | undefined): number | null {
  return parseTimestamp(text ?? '')?.getTime() ?? null
}

/** Click ids of other systems have another form, and are ignored. */
function clickIds(order: ServerOrder['order']): string[] {
  const listed = [...(order.click_ids ?? []), ...(order.cids ?? '').split(',')]
  const ids = listed.map((id) => id.trim().toLowerCase()).filter((id) => CLICK_ID.test(id))
  return [...new Set(ids)]
}

/**
 * An id without the spaces around it, which some templates print. Otherwise the tag's and the
 * server's report would be two orders, and be paid twice.
 */
function idText(text: string | null | undefined): string {
  return clean(text)?.trim() ?? ''
}

/** Half a surrogate pair is valid JSON but not Unicode, and PostgreSQL's jsonb refuses it. */
function clean(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : text.toWellFormed()
}
