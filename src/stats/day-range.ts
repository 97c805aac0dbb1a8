/** Reads `date_from` and `date_to` of a query. */
import assert from 'node:assert/strict'
import type { Fault } from '../platform/errors/api-errors.ts'
import { DAY_MS, dayOf } from '../platform/time/timestamp.ts'

export interface DayRange {
  readonly pubId: number
  readonly dayFrom: string // YYYY-MM-DD, both days inclusive
  readonly dayTo: string
}

type RangeQuery = Partial<Record<'date_from' | 'date_to', unknown>>

/** Faults of the two days together, if each is valid. A single day is allowed. */
export function rangeFaults(query: RangeQuery, daysMax: number): Fault[] {
  const [from, to] = [dayOf(query.date_from), dayOf(query.date_to)]
  if (from === null || to === null) return []
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days < 1) return [{ field: 'date_to', rule: 'must not be before date_from' }]
  return days > daysMax ? [{ field: 'date_to', rule: `at most ${daysMax} days at a time` }] : []
}

/** In the statistics API one day D is requested as (D, D+1), and the response covers both days. */
export function statsRangeFaults(query: RangeQuery): Fault[] {
  const [from, to] = [dayOf(query.date_from), dayOf(query.date_to)]
  if (from === null || to === null || to > from) return []
  return [{ field: 'date_to', rule: 'must be a later UTC day than date_from' }]
}

/** The range of a query with valid days. */
export function readDayRange(pubId: number, query: RangeQuery): DayRange {
  return { pubId, ...readDays(query) }
}

/** The days alone. */
export function readDays(query: RangeQuery): Omit<DayRange, 'pubId'> {
  const [dayFrom, dayTo] = [dayOf(query.date_from), dayOf(query.date_to)]
  assert(dayFrom !== null && dayTo !== null)
  return { dayFrom, dayTo }
}
