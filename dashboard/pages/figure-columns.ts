/** The figures that a row of a table has: of an article and a merchant, or of a day. */
import type { Overview } from '../api.ts'
import { count, dollars } from '../format.ts'

type Row = Overview['rows'][number]
type Figures = Pick<Row, 'earnings' | 'clicks' | 'sales' | 'revenue' | 'impressions'>

interface Column {
  readonly name: string
  readonly of: (row: Figures) => string
  readonly compare: (one: Figures, other: Figures) => number
}

const byNumber = (value: (row: Figures) => number | string) => (one: Figures, other: Figures) =>
  Number(value(one)) - Number(value(other))

export const COLUMNS: readonly Column[] = [
  { name: 'Earnings', of: (row) => dollars(row.earnings), compare: byNumber((r) => r.earnings) },
  { name: 'Clicks', of: (row) => count(row.clicks), compare: byNumber((r) => r.clicks) },
  { name: 'Sales', of: (row) => count(row.sales), compare: byNumber((r) => r.sales) },
  { name: 'Revenue', of: (row) => dollars(row.revenue), compare: byNumber((r) => r.revenue) },
  {
    name: 'Page views',
    of: (row) => count(row.impressions),
    compare: byNumber((r) => r.impressions),
  },
]
