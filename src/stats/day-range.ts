/** Reads a range of days as the dashboard asks for it; every wrong one is named. */
import { badRequest, type Fault } from '../platform/errors.ts'
import { parseTimestamp, TIMESTAMP_RULE, utcDay } from '../platform/timestamp.ts'
import type { DayRange } from './store.ts'

/** Two years and a leap day: a chart of more days than pixels says nothing. */
const DAYS_MAX = 732
const DAY_MS = 86_400_000

/** Throws a 400 that lists every fault. Both days are inclusive and may be the same. */
export function readDayRange(
  pubId: number,
  query: { readonly date_from: string; readonly date_to: string },
): DayRange {
  const faults: Fault[] = []
  const [from, to] = (['date_from', 'date_to'] as const).map((field) => {
    const at = parseTimestamp(query[field])
    if (at === null) faults.push({ field, rule: TIMESTAMP_RULE })
    return at === null ? '' : utcDay(at)
  }) as [string, string]
  if (faults.length === 0) {
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
    if (days < 1) faults.push({ field: 'date_to', rule: 'must not be before date_from' })
    if (days > DAYS_MAX) faults.push({ field: 'date_to', rule: `at most ${DAYS_MAX} days` })
  }
  if (faults.length > 0) throw badRequest(faults)
  return { pubId, dayFrom: from, dayTo: to }
}
