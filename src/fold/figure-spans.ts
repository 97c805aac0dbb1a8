/**
 * Spans of days that have separate totals, in `figure_span` and `page_span`. Both widths begin on
 * Mondays, and each wide span is four narrow ones. `span_begin` in SQL follows the same calendar.
 */
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'

/** In days, the widest first. */
export const SPAN_DAYS = [28, 7] as const
const FIRST_MONDAY_MS = Date.UTC(2000, 0, 3)

export const SPAN_WIDTHS = sql`unnest(${SPAN_DAYS}::int[]) as widths (width)`

/** Where the span of a midnight UTC begins, in milliseconds. */
export function spanBegin(dayMs: number, days: number): number {
  const widthMs = days * DAY_MS
  return Math.floor((dayMs - FIRST_MONDAY_MS) / widthMs) * widthMs + FIRST_MONDAY_MS
}
