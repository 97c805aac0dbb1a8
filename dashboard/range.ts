/** The range of UTC days of a page, chosen by name or by two dates in the URL. */
import { useAddress } from './address.ts'
import type { Range } from './api.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30

export const RANGES = [
  { label: 'Today', days: 1 },
  { label: '7 days', days: 7 },
  { label: '30 days', days: 30 },
  { label: '90 days', days: 90 },
] as const

/** The last `days` days, including today. */
export function lastDays(days: number, nowMs: number): Range {
  return { from: utcDay(nowMs - (days - 1) * DAY_MS), to: utcDay(nowMs) }
}

function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** The range in the URL, by default the last 30 days, and a function to change it. */
export function useRange(): [Range, (range: Range) => void] {
  const [{ from, to }, change] = useAddress()
  return [from && to ? { from, to } : lastDays(DEFAULT_DAYS, Date.now()), change]
}
