/** The products of an order, with the earnings of each. */
import type { Order } from '../publisher-api.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'

type Line = Order['lines'][number]

const COLUMNS: readonly Column<Line>[] = [
  {
    id: 'name',
    head: 'Product bought',
    value: (line) => line.name ?? line.product_id ?? 'Unnamed',
  },
  { id: 'quantity', head: 'Pieces', kind: 'count', isSum: true, value: (line) => line.quantity },
  { id: 'returned', head: 'Returned', kind: 'count', isSum: true, value: (line) => line.returned },
  {
    ...{ id: 'revenue', head: 'Revenue', kind: 'money', isSum: true },
    value: (line) => line.line_revenue_usd,
  },
  {
    ...{ id: 'commission', head: 'Commission', kind: 'money', isSum: true },
    value: (line) => line.line_commission_usd,
  },
  {
    ...{ id: 'earnings', head: 'You earn', kind: 'money', isSum: true },
    value: (line) => line.line_earnings_usd,
  },
]

export function OrderLines({ lines }: { lines: readonly Line[] }) {
  return (
    <DataTable
      id="order-lines"
      label="Bought"
      rows={lines}
      keyOf={(line) => line.order_product_id}
      columns={COLUMNS}
      empty={<p className="text-sm text-soft">The shop did not report the products bought.</p>}
    />
  )
}
