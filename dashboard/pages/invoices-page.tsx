/** A merchant's months: cost, payments, and the balance. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { monthName } from '../format.ts'
import { type Invoice, merchantApi } from '../merchant-api.ts'
import { useMerchant } from '../organization.ts'
import { PATHS } from '../paths.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

const COLUMNS: readonly Column<Invoice>[] = [
  {
    ...{ id: 'month', head: 'Month (UTC)', value: ({ month }: Invoice) => month },
    cell: ({ month, is_complete: isComplete }) =>
      `${monthName(month)}${isComplete ? '' : ', not over yet'}`,
  },
  { id: 'clicks', head: 'Clicks', kind: 'money', isSum: true, value: (row) => row.clicks_usd },
  { id: 'orders', head: 'Orders', kind: 'money', isSum: true, value: (row) => row.orders_usd },
  {
    ...{ id: 'returned', head: 'Returned', kind: 'money', isSum: true },
    value: (row) => minus(row.returned_usd),
  },
  { id: 'cost', head: 'Cost', kind: 'money', isSum: true, value: (row) => row.cost_usd },
  {
    ...{ id: 'paid', head: 'Paid', kind: 'money', isSum: true },
    value: (row) => minus(row.paid_usd),
  },
  { id: 'closing', head: 'Owed at its end', kind: 'money', value: (row) => row.closing_usd },
]

/** Money that reduces the amount owed has a minus sign on every page of a merchant. */
export const minus = (amount: string): string => {
  if (Number(amount) === 0) return amount
  return amount.startsWith('-') ? amount.slice(1) : `-${amount}`
}

export function InvoicesPage() {
  const { merch_id: merchId, name } = useMerchant()
  const navigate = useNavigate()
  const invoices = useQuery({
    queryKey: ['invoices', merchId],
    queryFn: () => merchantApi.invoices(merchId),
  })
  return (
    <div className="space-y-5">
      <Title name={name}>{' · Invoices'}</Title>
      <p className="max-w-prose text-soft">
        One for each month with a cost or a payment. Clicks are due on the day after, orders when
        they are final. Choose a month to see its publishers and campaigns, or to print it.
      </p>
      {invoices.failureReason !== null && <Progress query={invoices} />}
      {invoices.data === undefined && invoices.failureReason === null && <TableSkeleton />}
      {invoices.data !== undefined && (
        <DataTable
          id="invoices"
          label="Invoices"
          isBare
          rows={invoices.data}
          keyOf={({ month }) => month}
          columns={COLUMNS}
          sort={{ by: 'month' }}
          onRow={({ month }) => void navigate({ to: PATHS.invoice, params: { month } })}
          empty={
            <EmptyState title="No invoices yet">
              The first one appears with your first paid click or order.
            </EmptyState>
          }
        />
      )}
    </div>
  )
}
