/** Adds up the rows of a merchant's performance, and says what changed. */
import type { Performance } from './api.ts'
import { percent } from './format.ts'

export interface PerformanceSums {
  readonly auctions: number
  readonly won: number
  readonly clicks: number
  readonly invalidClicks: number
  readonly cost: number
  readonly orders: number
  readonly revenue: number
}

export function sumPerformance(rows: readonly Performance[]): PerformanceSums {
  const sum = (of: (row: Performance) => number) => rows.reduce((all, row) => all + of(row), 0)
  return {
    auctions: sum((row) => row.auctions),
    won: sum((row) => row.won),
    clicks: sum((row) => row.clicks),
    invalidClicks: sum((row) => row.invalid_clicks),
    cost: sum((row) => Number(row.cost)),
    orders: sum((row) => row.orders),
    revenue: sum((row) => Number(row.revenue)),
  }
}

/** A quotient; null without a divisor. */
export const ratio = (part: number, whole: number): number | null =>
  whole === 0 ? null : part / whole

/** `12 % more than before`; null where there is nothing to compare with. */
export function changeWords(now: number | null, before: number | null): string | null {
  if (now === null || before === null || before === 0) return null
  const change = now / before - 1
  if (Math.abs(change) < 0.005) return 'as before'
  return `${percent(Math.abs(change), 0)} ${change > 0 ? 'more' : 'less'} than before`
}

/** Auctions by reason for losing them, the most frequent first. */
export function lossesOf(rows: readonly Performance[]): (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const { lost } of rows) {
    for (const [word, here] of Object.entries(lost)) {
      counts.set(word, (counts.get(word) ?? 0) + (here ?? 0))
    }
  }
  return [...counts].filter(([, of]) => of > 0).toSorted(([, one], [, other]) => other - one)
}
