/**
 * Merges the reports of one order from several sources.
 *
 * A merchant's server, a file of another network and the tag in the reader's browser may all report
 * the same order, in any order and repeatedly. The key is (merchant, order id). Amounts come from
 * the latest report of the most trusted source. A further report of a source is a revision, never a
 * second order. The result depends on the reports, not on their order of arrival (P41).
 */
import { type Micros, micros } from '../platform/money/money.ts'
import { allocate, allocateUnits } from './allocate.ts'

/** From the least to the most trusted. A browser can be made to send anything. */
const SOURCES = ['pixel', 'import', 's2s'] as const
export type Source = (typeof SOURCES)[number]

/** Why an order waits instead of counting. */
export type HoldReason = 'no_rate' | 'review'

export interface ReportedLine {
  readonly product_id: string | null
  readonly name: string | null
  readonly brand: string | null
  readonly price: string | null // as reported, in the order's currency
  readonly price_minor: string // minor units of the order's currency, decimal text
  readonly quantity: number
}

/** The reported products, and when: the latest list of a source counts. */
interface ProductList {
  readonly event_id: string // of the reporting event
  // the time that orders reports of one source; the acceptance time unless reported
  readonly updated_at_ms: number
  readonly lines: readonly ReportedLine[]
}

/** A report as its event carries it. Text where a number could lose digits. */
export interface LoggedReport extends Omit<ProductList, 'event_id'> {
  readonly source: Source
  readonly ordered_at_ms: number
  readonly touches_until_ms?: number // the last moment of a day reported as a plain date
  readonly currency: string
  readonly value: string // as reported
  readonly value_micros: number | null // null if no recent rate was known at acceptance
  readonly rate_id: string | null
  readonly is_new_customer: boolean | null
  readonly is_cancelled: boolean
  readonly is_test?: true // a test order: never paid
  readonly is_net?: true // the value is net of returns
  readonly hold: HoldReason | null
}

/** Why reports alone end an order; null if they do not. */
export function endIn({ is_cancelled, is_test }: OrderReport): 'cancelled' | 'test' | null {
  if (is_cancelled) return 'cancelled'
  return is_test === true ? 'test' : null
}

/** One report of an order, as stored in its account. */
export interface OrderReport extends LoggedReport, ProductList {
  /** The products from an older report of the source, if this one has none. */
  readonly listed?: ProductList
  /** The highest value its source reported in this currency, if it exceeds the current value. */
  readonly peak?: string
}

/** The current reports: at most one per source. */
export type Reports = Readonly<Partial<Record<Source, OrderReport>>>

/**
 * Adds a report. An older report of the same source changes nothing, unless it is the latest with
 * products. Products count until others are reported: a new amount or status does not change them,
 * and their returns stay.
 */
export function withReport(reports: Reports, report: OrderReport): Reports {
  const known = reports[report.source]
  if (known === undefined) return { ...reports, [report.source]: report }
  const latest = isNewer(report, known) ? report : known
  const listed = [known, known.listed, report]
    .filter((list) => list !== undefined && list.lines.length > 0)
    .reduce((one, other) => (one && other && isNewer(one, other) ? one : other), undefined)
  return { ...reports, [report.source]: withPeak(withLines(latest, listed), [known, report]) }
}

/** Values of one currency have the same number of decimals. */
function withPeak(latest: OrderReport, reports: readonly OrderReport[]): OrderReport {
  const values = reports
    .filter(({ currency }) => currency === latest.currency)
    .flatMap(({ value, peak = value }) => [value, peak])
  const most = values.reduce((one, other) => (minorOf(other) > minorOf(one) ? other : one))
  const { peak: _, ...rest } = latest
  return minorOf(most) > minorOf(latest.value) ? { ...rest, peak: most } : rest
}

/** The minor units of a stored value, with all decimals of its currency. */
export function minorOf(value: string): bigint {
  return BigInt(value.replace('.', ''))
}

function withLines(report: OrderReport, listed: ProductList | undefined): OrderReport {
  if (report.lines.length > 0 || listed === undefined) return report
  const { event_id, updated_at_ms, lines } = listed
  return { ...report, listed: { event_id, updated_at_ms, lines } }
}

/**
 * A stored report in its original form, to send it again: the log must not contain parts of other
 * reports.
 */
export function asLogged({
  event_id: _,
  listed: __,
  peak: ___,
  ...logged
}: OrderReport): LoggedReport {
  return logged
}

/** Of two reports with one timestamp the later accepted one wins. Event ids are time-ordered. */
export function isNewer(report: ProductList, known: ProductList): boolean {
  if (report.updated_at_ms !== known.updated_at_ms) {
    return report.updated_at_ms > known.updated_at_ms
  }
  return BigInt(report.event_id) > BigInt(known.event_id)
}

interface MergedLine {
  readonly productId: string | null
  readonly name: string | null
  readonly brand: string | null
  readonly price: string | null
  readonly quantity: number
  /** Reported price times quantity: the line's weight in dividing the order. */
  readonly weight: bigint
  readonly revenueMicros: Micros
  /** The line's part of the order's value before returns, in minor units. */
  readonly valueMinor: bigint
}

export interface MergedOrder {
  readonly source: Source // the source of these amounts
  readonly orderedAtMs: number
  readonly currency: string
  readonly value: string
  readonly rateId: string | null
  readonly isCancelled: boolean // or a test: not a sale
  readonly isNet: boolean
  readonly valueMinor: bigint
  readonly grossMinor: bigint // before returns: for a net value, the highest that was reported
  readonly revenueMicros: Micros // 0 while the rate is missing
  readonly lines: readonly MergedLine[]
}

/**
 * The merged order. The most trusted report gives amounts and date. If its source never reported
 * lines, those of the next source count.
 *
 * Line revenues are the order's value divided by price times quantity, so that they add up exactly
 * even if the value includes shipping or a conversion was rounded.
 */
export function mergeReports(reports: Reports): MergedOrder {
  const best = mostTrusted(reports)
  const priced = rank(reports)
    .map((report) => ({ currency: report.currency, lines: linesOf(report) }))
    .find(({ lines }) => lines.length > 0)
  const { currency, lines } = priced ?? { currency: best.currency, lines: [wholeOrder(best)] }
  const revenueMicros = micros(best.value_micros ?? 0)
  const weights = lines.map((line) => BigInt(line.price_minor) * BigInt(line.quantity))
  const revenues = allocate(revenueMicros, weights)
  const isNet = best.is_net === true
  const grossMinor = minorOf(isNet ? (best.peak ?? best.value) : best.value)
  const values = allocateUnits(grossMinor, weights)
  return {
    source: best.source,
    orderedAtMs: best.ordered_at_ms,
    currency: best.currency,
    value: best.value,
    rateId: best.rate_id,
    isCancelled: endIn(best) !== null,
    isNet,
    valueMinor: minorOf(best.value),
    grossMinor,
    revenueMicros,
    lines: lines.map((line, index) => ({
      productId: line.product_id,
      name: line.name,
      brand: line.brand,
      // A price in another currency would be read in the order's.
      price: currency === best.currency ? line.price : null,
      quantity: line.quantity,
      weight: weights[index] ?? 0n,
      revenueMicros: revenues[index] ?? micros(0),
      valueMinor: values[index] ?? 0n,
    })),
  }
}

/** The report that wins where several disagree. */
export function mostTrusted(reports: Reports): OrderReport {
  const [best] = rank(reports)
  if (best === undefined) throw new RangeError('an order has at least one report')
  return best
}

function rank(reports: Reports): OrderReport[] {
  return SOURCES.toReversed().flatMap((source) => reports[source] ?? [])
}

function linesOf({ lines, listed }: OrderReport): readonly ReportedLine[] {
  return lines.length > 0 ? lines : (listed?.lines ?? [])
}

/** Why an order with this report is held. */
export function holdIn({ value_micros, hold }: OrderReport): HoldReason | null {
  return value_micros === null ? 'no_rate' : hold
}

/** An order without products is one line, so that it can be returned as a whole. */
function wholeOrder(report: OrderReport): ReportedLine {
  return {
    product_id: null,
    name: null,
    brand: null,
    price: report.value,
    price_minor: '0',
    quantity: 1,
  }
}
