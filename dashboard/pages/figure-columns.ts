/** The figures of an article and a merchant, of a day, or of all: their names and how they read. */
import { count, dollars } from '../format.ts'

export const COLUMNS = {
  earnings: 'Earnings',
  clicks: 'Clicks',
  sales: 'Sales',
  revenue: 'Revenue',
  impressions: 'Page views',
} as const
export type Column = keyof typeof COLUMNS
export const COLUMN_KEYS = Object.keys(COLUMNS) as Column[]

/** Amounts are texts, all others numbers. */
export const shown = (figure: string | number): string =>
  typeof figure === 'string' ? dollars(figure) : count(figure)
