/** Reads the parameters of section 4.4; every wrong one is named. */
import { badRequest, type Fault } from '../platform/errors.ts'
import { parseTimestamp, TIMESTAMP_RULE, utcDay } from '../platform/timestamp.ts'
import { LIMIT_MAX, ORDER_COLUMNS, type OrderColumn } from './schema.ts'

export interface StatsRequest {
  readonly pubId: number
  readonly dayFrom: string // YYYY-MM-DD, both days inclusive
  readonly dayTo: string
  readonly orderBy: OrderColumn
  readonly isAscending: boolean
  readonly limitRows: number
  readonly isOutOfNetwork: boolean
  readonly asOf: Date | null // null: now
}

export interface RawStatsQuery {
  readonly date_from: string
  readonly date_to: string
  readonly limit?: number
  readonly order_by?: string
  readonly out_of_network?: boolean
  readonly as_of?: string
}

/** Throws a 400 that lists every fault. */
export function readStatsQuery(pubId: number, query: RawStatsQuery): StatsRequest {
  const faults: Fault[] = []
  const instant = (field: 'date_from' | 'date_to' | 'as_of'): Date | null => {
    const text = query[field]
    if (text === undefined) return null
    const at = parseTimestamp(text)
    if (at === null) faults.push({ field, rule: TIMESTAMP_RULE })
    return at
  }
  const [from, to, asOf] = [instant('date_from'), instant('date_to'), instant('as_of')]
  const dayFrom = from === null ? '' : utcDay(from)
  const dayTo = to === null ? '' : utcDay(to)
  // As documented: one day D is asked as (D, D+1), and the answer holds both days.
  if (from !== null && to !== null && dayTo <= dayFrom) {
    faults.push({ field: 'date_to', rule: 'must be a later UTC day than date_from' })
  }
  // A plus sign that was not percent-encoded arrives as a space.
  const [, sign = '', column = ''] = /^([-+ ]?)(.*)$/s.exec(query.order_by ?? 'clicks') ?? []
  const orderBy = ORDER_COLUMNS.find((name) => name === column)
  if (orderBy === undefined) {
    faults.push({ field: 'order_by', rule: `must be one of ${ORDER_COLUMNS.join(', ')}` })
  }
  if (faults.length > 0) throw badRequest(faults)
  return {
    pubId,
    dayFrom,
    dayTo,
    orderBy: orderBy ?? 'clicks',
    isAscending: sign === '+' || sign === ' ',
    limitRows: query.limit ?? LIMIT_MAX,
    isOutOfNetwork: query.out_of_network ?? false,
    asOf,
  }
}
