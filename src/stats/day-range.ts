/** Reads a range of days as the dashboard asks for it; every wrong one is named. */
import assert from 'node:assert/strict'
import type { Fault } from '../platform/errors.ts'
import { DAY_MS, dayOf, TIMESTAMP_RULE } from '../platform/timestamp.ts'
import type { DayRange } from './store.ts'

/** Two years and a leap day: a chart of more days than pixels says nothing. */
const DAYS_MAX = 732
const FIELDS = ['date_from', 'date_to'] as const

type RangeQuery = Partial<Record<(typeof FIELDS)[number], unknown>>

/** What is wrong with the days. Both are inclusive and may be the same. */
export function rangeFaults(query: RangeQuery): Fault[] {
  const [from = null, to = null] = FIELDS.map((field) => dayOf(query[field]))
  if (from === null || to === null) {
    const wrong = FIELDS.filter((field) => dayOf(query[field]) === null)
    return wrong.map((field) => ({ field, rule: TIMESTAMP_RULE }))
  }
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days < 1) return [{ field: 'date_to', rule: 'must not be before date_from' }]
  return days > DAYS_MAX ? [{ field: 'date_to', rule: `at most ${DAYS_MAX} days` }] : []
}

/** The range of a query without a fault. */
export function readDayRange(pubId: number, query: RangeQuery): DayRange {
  const [dayFrom = null, dayTo = null] = FIELDS.map((field) => dayOf(query[field]))
  assert(dayFrom !== null && dayTo !== null)
  return { pubId, dayFrom, dayTo }
}
