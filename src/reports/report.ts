/**
 * The report files: names, columns and days.
 *
 * The columns are those publicly documented for services with this interface, so that publishers'
 * programs keep working. Souk's own columns come last.
 */

import { type ApiError, badRequest } from '../platform/errors/api-errors.ts'
import { isId } from '../platform/ids.ts'
import type { CsvCell } from '../platform/text/csv.ts'
import { DAY_MS, parseTimestamp, utcDay } from '../platform/time/timestamp.ts'
import type { DayRange } from '../stats/day-range.ts'

export const REPORT_NAMES = ['clicks', 'orders', 'returns', 'payments'] as const
export type ReportName = (typeof REPORT_NAMES)[number]

export const REPORT_COLUMNS = {
  clicks: words(`
    click_id click_timestamp cookie_id article_url is_clean_article_url referrer user_agent
    is_click click_product_url earnings click_product_category click_is_brand_page
    click_u1_param click_product_brand click_product_price click_product_name article_name
    link_id network merchant publication link_type channel device_type country_code link_source
    earnings_usd is_billable unbillable_reason auction_result_number`),
  orders: words(`
    order_product_id product_id order_id checkout_timestamp cookie_id article_url link_id
    referrer user_agent network_type click_product_url click_product_category
    click_is_brand_page days_since_attributed_click purchased_product_id
    purchased_product_name purchased_product_brand purchased_product_price click_u1_param
    checkout_id earnings revenue number_products_purchased click_product_brand
    click_product_price click_product_name article_name network merchant publication channel
    device_type country_code click_id click_timestamp line_earnings line_revenue state
    locks_at`),
  returns: words(`
    order_product_id checkout_timestamp purchased_product_id checkout_id merchant publication
    return_revenue return_earnings return_quantity return_datetime return_id`),
  // For a day of clicks, order_product_id is that day.
  payments: words(`payment_id paid_at merchant order_product_id amount_usd statement_id state`),
} as const satisfies Readonly<Record<ReportName, readonly string[]>>

/** A row of a report: a cell for each of its columns. */
export type ReportRow<Name extends ReportName> = Readonly<
  Record<(typeof REPORT_COLUMNS)[Name][number], CsvCell>
>

/** One word of a text, as a type. */
type Words<Text extends string> = Text extends `${infer Before}${' ' | '\n'}${infer After}`
  ? Words<Before> | Words<After>
  : Exclude<Text, ''>

function words<const Text extends string>(text: Text): readonly Words<Text>[] {
  return text.trim().split(/\s+/) as Words<Text>[]
}

export interface ReportRequest extends DayRange {
  /** Where the previous page ended; null at the start. Only pages of the same report have it. */
  readonly cursor: string | null
  readonly limitRows: number
  readonly now: Date // The time of the states.
}

/** A row as JSON, with plain texts: no spreadsheet reads JSON. */
export function plainRow(row: ReportPage['rows'][number]): Record<string, unknown> {
  const plain = (cell: CsvCell) => (typeof cell === 'object' && cell !== null ? cell.text : cell)
  return Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, plain(cell)]))
}

export interface ReportPage {
  readonly rows: readonly Readonly<Record<string, CsvCell>>[]
  readonly next: string | null // Null if there are no more rows.
}

/** A row's place in the order of pages. */
export interface ReportPlace {
  readonly day: string
  readonly eventId: string
  readonly line: string
}

export const REPORT_START: ReportPlace = { day: '0001-01-01', eventId: '0', line: '-1' }

/** Reads `2026-03-02 123[ 4]`; throws 400 for anything that no page returned. */
export function readPlace(cursor: string | null): ReportPlace {
  if (cursor === null) return REPORT_START
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{1,19})(?: (\d{1,4}))?$/.exec(cursor)
  const [, day = '', eventId = '', line = REPORT_START.line] = match ?? []
  if (!isId(eventId) || parseTimestamp(day) === null) throw unknownCursor()
  return { day, eventId, line }
}

/**
 * The place of the last row, which `readPlace` reads for the next page; null if there are no more.
 */
export function nextPlace<Row>(
  rows: readonly Row[],
  limitRows: number,
  placeOf: (row: Row) => readonly [day: string, eventId: string, line: number],
): string | null {
  const last = rows.length < limitRows ? undefined : rows.at(-1)
  return last === undefined ? null : placeOf(last).join(' ')
}

/** Starting from the beginning would give the reader every row twice. */
export function unknownCursor(): ApiError {
  return badRequest([{ field: 'cursor', rule: 'must be `next` of an earlier page of this report' }])
}

/** `2026-03-02 10:00:00`, the documented form of times in report files. */
export function reportTime(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ')
}

/** `<slug>/2026/03/souk_log_files_clicks_20260302.csv` */
export function reportPath(slug: string, report: ReportName, day: string): string {
  const [year = '', month = ''] = day.split('-')
  const file = `souk_log_files_${report}_${day.replaceAll('-', '')}.csv`
  return `${slug}/${year}/${month}/${file}`
}

/** Every day of the range, both ends included. */
export function daysBetween(dayFrom: string, dayTo: string): string[] {
  const days: string[] = []
  for (let at = Date.parse(dayFrom); at <= Date.parse(dayTo); at += DAY_MS) {
    days.push(utcDay(at))
  }
  return days
}
