/** Calendar arithmetic on UTC days: presets, months, comparisons. */
import type { Range } from './api.ts'

const DAY_MS = 86_400_000

export const PRESETS = [
  { preset: 'today', label: 'Today' },
  { preset: 'yesterday', label: 'Yesterday' },
  { preset: '7days', label: 'Last 7 days' },
  { preset: '30days', label: 'Last 30 days' },
  { preset: '90days', label: 'Last 90 days' },
  { preset: 'month', label: 'This month' },
  { preset: 'lastMonth', label: 'Last month' },
] as const
export type Preset = (typeof PRESETS)[number]['preset']
export const DEFAULT_PRESET: Preset = '30days'

/** The API's words: the same number of days directly before, or the same days a year before. */
export type Compare = 'previous' | 'year'

export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

export const addDays = (day: string, days: number): string =>
  utcDay(Date.parse(day) + days * DAY_MS)

/** The number of days, both ends included. */
export const lengthOf = ({ from, to }: Range): number =>
  (Date.parse(to) - Date.parse(from)) / DAY_MS + 1

/** The first day of a month, some months later or earlier. */
export function monthStart(day: string, months = 0): string {
  const date = new Date(day)
  return utcDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1))
}

/** A preset on the day of `nowMs`. Today is included where the name does not say otherwise. */
export function rangeOf(preset: Preset, nowMs: number): Range {
  const today = utcDay(nowMs)
  const last = (days: number) => ({ from: addDays(today, 1 - days), to: today })
  switch (preset) {
    case 'today':
      return last(1)
    case 'yesterday':
      return { from: addDays(today, -1), to: addDays(today, -1) }
    case '7days':
      return last(7)
    case '30days':
      return last(30)
    case '90days':
      return last(90)
    case 'month':
      return { from: monthStart(today), to: today }
    case 'lastMonth':
      return { from: monthStart(today, -1), to: addDays(monthStart(today), -1) }
  }
}

export function presetOf(range: Range, nowMs: number): Preset | null {
  const isSame = (one: Range) => one.from === range.from && one.to === range.to
  return PRESETS.find(({ preset }) => isSame(rangeOf(preset, nowMs)))?.preset ?? null
}

/** The days that a comparison covers, as the API defines them. */
export function compared(range: Range, compare: Compare): Range {
  if (compare === 'previous') {
    const days = lengthOf(range)
    return { from: addDays(range.from, -days), to: addDays(range.to, -days) }
  }
  return { from: yearBefore(range.from), to: yearBefore(range.to) }
}

/** 29 February compares with 28 February. */
function yearBefore(day: string): string {
  const wanted = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`
  const found = utcDay(Date.parse(wanted))
  return found === wanted ? found : addDays(found, -1)
}

/** The weeks of a month, Monday first; days of other months fill them up. */
export function weeksOf(month: string): string[][] {
  const first = monthStart(month)
  const weekday = (new Date(first).getUTCDay() + 6) % 7
  const start = addDays(first, -weekday)
  const length = lengthOf({ from: first, to: addDays(monthStart(month, 1), -1) })
  const weeks = Math.ceil((weekday + length) / 7)
  return Array.from({ length: weeks }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => addDays(start, week * 7 + day)),
  )
}
