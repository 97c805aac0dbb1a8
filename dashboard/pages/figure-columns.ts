/** Names and formats of the figures, for tables and cards. */
import { cents, count } from '../format.ts'

export const FIGURE_NAMES = {
  earnings: 'Earnings',
  clicks: 'Clicks',
  sales: 'Sales',
  revenue: 'Revenue',
  impressions: 'Page views',
} as const
export type FigureKey = keyof typeof FIGURE_NAMES

/** The table columns for these figures. */
export const FIGURE_COLUMNS = Object.entries(FIGURE_NAMES).map(([name, head]) => {
  const key = name as FigureKey
  return { key, head, cell: (of: Record<FigureKey, string | number>) => shown(of[key]) }
})

/** Amounts are strings, counts are numbers. */
export const shown = (figure: string | number): string =>
  typeof figure === 'string' ? cents(figure) : count(figure)
