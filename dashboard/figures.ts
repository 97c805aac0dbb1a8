/** Totals of broken-down figures, and their change against the compared period. */
import type { BreakdownRow } from './breakdown-api.ts'
import { cents, count, percent } from './format.ts'
import { sumOf, type Value } from './table/column.ts'

export const PERFORMANCE_FIGURES = [
  { id: 'earnings', label: 'Earnings', field: 'earnings', isMoney: true },
  { id: 'clicks', label: 'Clicks', field: 'clicks', isMoney: false },
  { id: 'epc', label: 'Earned per click', field: 'earnings_per_click', isMoney: true },
  { id: 'impressions', label: 'Page views', field: 'page_views', isMoney: false },
  { id: 'sales', label: 'Orders', field: 'orders', isMoney: false },
  { id: 'revenue', label: 'Revenue', field: 'revenue', isMoney: true },
] as const
export type PerformanceFigure = (typeof PERFORMANCE_FIGURES)[number]
type Field = PerformanceFigure['field']

export interface Total {
  readonly value: number | null
  readonly before: number | null
}

/** The total of a figure over rows that add up, such as days. */
export function totalOf(rows: readonly BreakdownRow[], field: Field): Total {
  const sum = (of: (row: BreakdownRow) => Value): number | null =>
    rows.every((row) => of(row) === null)
      ? null
      : Number(sumOf(rows, { id: '', head: '', value: of }))
  if (field === 'earnings_per_click') {
    const [earned, clicks] = [totalOf(rows, 'earnings'), totalOf(rows, 'clicks')]
    return { value: part(earned.value, clicks.value), before: part(earned.before, clicks.before) }
  }
  return { value: sum((row) => row[field]), before: sum((row) => row[`compared_${field}`]) }
}

const part = (sum: number | null, of: number | null): number | null =>
  sum === null || !of ? null : sum / of

export function shownFigure(value: number | null, isMoney: boolean): string {
  if (value === null) return '–'
  return isMoney ? cents(String(value)) : count(value)
}

/** `+12.5 %` against the compared period; null if there is nothing to compare with. */
export function changeOf({ value, before }: Total): { text: string; isUp: boolean } | null {
  if (value === null || before === null || before === 0) return null
  const change = (value - before) / Math.abs(before)
  const sign = change > 0 ? '+' : change < 0 ? '−' : '±'
  return { text: `${sign}${percent(Math.abs(change), 1)}`, isUp: change >= 0 }
}
