/** A merchant's month by publisher and campaign, and what of it is due. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { readCsv } from '../api.ts'
import { cents, monthName } from '../format.ts'
import { type InvoiceDetail, invoiceUrl, merchantApi } from '../merchant-api.ts'
import { useMerchant } from '../organization.ts'
import { PATHS } from '../paths.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { saveFile } from '../table/save-file.ts'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { Sums } from '../ui/sums.tsx'
import { Title } from '../ui/title.tsx'
import { minus } from './invoices-page.tsx'

type Line = InvoiceDetail['lines'][number]

const COLUMNS: readonly Column<Line>[] = [
  { id: 'publisher', head: 'Publisher', value: (line) => line.publisher_name },
  {
    ...{ id: 'campaign', head: 'Campaign' },
    value: ({ campaign_id: id }) => (id === null ? null : `Campaign ${id}`),
  },
  { id: 'clicks', head: 'Clicks', kind: 'count', isSum: true, value: ({ clicks }) => clicks },
  {
    ...{ id: 'clicks_usd', head: 'Cost of clicks', kind: 'money', isSum: true },
    value: (line) => line.clicks_usd,
  },
  { id: 'orders', head: 'Orders', kind: 'count', isSum: true, value: ({ orders }) => orders },
  {
    ...{ id: 'orders_usd', head: 'Cost of orders', kind: 'money', isSum: true },
    value: (line) => line.orders_usd,
  },
  {
    ...{ id: 'returned', head: 'Returned', kind: 'money', isSum: true },
    value: (line) => minus(line.returned_usd),
  },
  { id: 'cost', head: 'Cost', kind: 'money', isSum: true, value: (line) => line.cost_usd },
]

export function InvoicePage() {
  const { month } = useParams({ from: PATHS.invoice })
  const { merch_id: merchId } = useMerchant()
  const invoice = useQuery({
    queryKey: ['invoice', merchId, month],
    queryFn: () => merchantApi.invoice(merchId, month),
  })
  return (
    <div className="space-y-5">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div>
          <p className="text-sm text-soft">
            <Link to={PATHS.invoices} className="link">
              Invoices
            </Link>{' '}
            / month
          </p>
          <Title>{monthName(month)}</Title>
        </div>
        {invoice.data !== undefined && <Actions merchId={merchId} month={month} />}
      </div>
      <Progress query={invoice} />
      {invoice.data !== undefined && <Month invoice={invoice.data} />}
    </div>
  )
}

/** The service writes both forms: the file has every digit, the page fits on paper. */
function Actions({ merchId, month }: { merchId: number; month: string }) {
  const url = invoiceUrl(merchId, month)
  const save = useMutation({
    mutationFn: async () => saveFile(`souk-invoice-${month}.csv`, await readCsv(url)),
  })
  return (
    <div className="flex flex-wrap items-center gap-2">
      {save.error !== null && <Failure error={save.error} />}
      <button
        type="button"
        className="button"
        aria-busy={save.isPending}
        onClick={() => save.isPending || save.mutate()}
      >
        CSV
      </button>
      <a href={url} target="_blank" rel="noreferrer" className="button">
        Page to print
      </a>
    </div>
  )
}

function Month({ invoice }: { invoice: InvoiceDetail }) {
  const { opening_usd: opening, cost_usd: cost, paid_usd: paid, closing_usd: closing } = invoice
  return (
    <>
      <p className="text-soft">
        Invoice {invoice.invoice_id} for <bdi>{invoice.merchant}</bdi>
        {invoice.is_complete ? '.' : '. The month is not over: its amounts still change.'}
      </p>
      <Sums
        sums={[
          { name: 'Owed before', value: cents(opening), note: 'carried over' },
          { name: 'Cost', value: cents(cost), note: 'less returns and reversed clicks' },
          { name: 'Paid', value: cents(minus(paid)), note: 'in this month' },
          { name: 'Owed at its end', value: cents(closing), note: 'carried on' },
        ]}
      />
      <p className="panel px-4 py-3">
        At its end, <strong className="number">{cents(invoice.due_usd)}</strong> is due,{' '}
        <span className="number">{cents(invoice.not_due_usd)}</span> not yet, and{' '}
        <span className="number">{cents(invoice.credit_usd)}</span> is paid in advance.
      </p>
      <DataTable
        id="invoice"
        label="By publisher and campaign"
        rows={invoice.lines}
        keyOf={(line) => `${line.pub_id} ${line.campaign_id}`}
        columns={COLUMNS}
        sort={{ by: 'cost' }}
        empty={
          <EmptyState title="No cost in this month">Only payments changed the balance.</EmptyState>
        }
      />
    </>
  )
}
