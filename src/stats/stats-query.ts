/** Reads the parameters of section 4.4. */
import assert from 'node:assert/strict'
import type { Fault } from '../platform/errors.ts'
import { dayOf, parseTimestamp } from '../platform/timestamp.ts'
import { LIMIT_MAX, ORDER_COLUMNS, type OrderColumn, type StatsQuery } from './schema.ts'

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

/** What is wrong with the days together, where each can be read. */
export function dayFaults(query: Partial<Record<'date_from' | 'date_to', unknown>>): Fault[] {
  const [dayFrom, dayTo] = [dayOf(query.date_from), dayOf(query.date_to)]
  // As documented: one day D is asked as (D, D+1), and the answer holds both days.
  if (dayFrom === null || dayTo === null || dayTo > dayFrom) return []
  return [{ field: 'date_to', rule: 'must be a later UTC day than date_from' }]
}

/** A query whose every field has been checked. */
export function readStatsQuery(pubId: number, query: StatsQuery): StatsRequest {
  const [dayFrom, dayTo] = [dayOf(query.date_from), dayOf(query.date_to)]
  assert(dayFrom !== null && dayTo !== null)
  // A plus sign that was not percent-encoded arrives as a space.
  const [, sign = '', column = ''] = /^([-+ ]?)(.*)$/s.exec(query.order_by ?? 'clicks') ?? []
  return {
    pubId,
    dayFrom,
    dayTo,
    orderBy: ORDER_COLUMNS.find((name) => name === column) ?? 'clicks',
    isAscending: sign === '+' || sign === ' ',
    limitRows: query.limit ?? LIMIT_MAX,
    isOutOfNetwork: query.out_of_network ?? false,
    asOf: parseTimestamp(query.as_of ?? ''),
  }
}
