/** Reads the parameters of section 4.4. */
import { parseTimestamp } from '../platform/timestamp.ts'
import { type DayRange, readDayRange } from './day-range.ts'
import { LIMIT_MAX, ORDER_COLUMNS, type OrderColumn, type StatsQuery } from './schema.ts'

export interface StatsRequest extends DayRange {
  readonly orderBy: OrderColumn
  readonly isAscending: boolean
  readonly limitRows: number
  readonly isOutOfNetwork: boolean
  readonly asOf: Date | null // null: now
}

/** A query whose every field has been checked. */
export function readStatsQuery(pubId: number, query: StatsQuery): StatsRequest {
  // A plus sign that was not percent-encoded arrives as a space.
  const [, sign = '', column = ''] = /^([-+ ]?)(.*)$/s.exec(query.order_by ?? 'clicks') ?? []
  return {
    ...readDayRange(pubId, query),
    orderBy: ORDER_COLUMNS.find((name) => name === column) ?? 'clicks',
    isAscending: sign === '+' || sign === ' ',
    limitRows: query.limit ?? LIMIT_MAX,
    isOutOfNetwork: query.out_of_network ?? false,
    asOf: parseTimestamp(query.as_of ?? ''),
  }
}
