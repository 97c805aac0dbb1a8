/** Reads the parameters of the statistics API. */
import assert from 'node:assert/strict'
import { parseTimestamp } from '../platform/time/timestamp.ts'
import { type DayRange, readDayRange } from './day-range.ts'
import { LIMIT_MAX, type OrderColumn, readOrder, type StatsQuery } from './schema.ts'

export interface StatsRequest extends DayRange {
  readonly orderBy: OrderColumn
  readonly isAscending: boolean
  readonly limitRows: number
  readonly isOutOfNetwork: boolean
  readonly asOf: Date | null // null: now
}

/** A query whose fields have all been validated. */
export function readStatsQuery(pubId: number, query: StatsQuery): StatsRequest {
  const order = readOrder(query.order_by ?? 'clicks')
  assert(order !== null)
  return {
    ...readDayRange(pubId, query),
    ...order,
    limitRows: query.limit ?? LIMIT_MAX,
    isOutOfNetwork: query.out_of_network ?? false,
    asOf: parseTimestamp(query.as_of ?? ''),
  }
}
