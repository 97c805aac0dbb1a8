/** Payouts to publishers, from due to paid, with the file for the bank. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readCsv } from '../api.ts'
import { dollars, monthOfYear, today } from '../format.ts'
import { network, type Payout, payoutFileUrl } from '../network-api.ts'
import { useCan } from '../organization.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { saveFile } from '../table/save-file.ts'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { toast } from '../ui/toast.ts'
import { useRefresh } from './network-record.tsx'

export function PayoutList() {
  const payouts = useQuery({ queryKey: ['network', 'payouts'], queryFn: network.payouts })
  const canWrite = useCan('network.write')
  const [open, setOpen] = useState<Payout | null>(null)
  if (payouts.data === undefined) return <Progress query={payouts} />
  const months = [...new Set(payouts.data.map(({ month }) => month))]
  const onRow = (payout: Payout) => payout.state === 'due' && setOpen(payout)
  return (
    <div className="space-y-3">
      <Tools months={months} />
      <DataTable
        id="network-payouts"
        label="Payouts"
        isBare
        rows={payouts.data}
        keyOf={({ statement_id }) => statement_id}
        columns={COLUMNS}
        sort={{ by: 'month' }}
        {...(canWrite && { onRow })}
        note={canWrite ? 'Choose a payout that is due to confirm that you paid it.' : undefined}
        empty={
          <EmptyState title="No payout yet">
            Statements are issued when a month is over. Earnings count once merchants have paid.
          </EmptyState>
        }
      />
      {open !== null && <ConfirmPaid payout={open} onClose={() => setOpen(null)} />}
    </div>
  )
}

const COLUMNS: readonly Column<Payout>[] = [
  { id: 'publisher', head: 'Publisher', value: (one) => one.publisher_name },
  { id: 'month', head: 'Month', value: ({ month }) => month },
  { id: 'amount', head: 'Amount', kind: 'money', isSum: true, value: (one) => one.amount_usd },
  {
    ...{ id: 'state', head: 'State' },
    value: ({ state }) => (state === 'paid' ? 'Paid' : 'Due'),
    cell: ({ state }) => (
      <span className={`chip ${state === 'due' ? '' : 'bg-tint text-accent'}`}>
        {state === 'paid' ? 'Paid' : 'Due'}
      </span>
    ),
  },
  { id: 'paid', head: 'Paid on', kind: 'day', value: ({ paid_on }) => paid_on },
  { id: 'reference', head: 'Reference', value: ({ reference }) => reference },
  { id: 'statement', head: 'Statement', value: (one) => one.statement_id, isHidden: true },
]

/** The file of a month, and statements that are still missing. */
function Tools({ months }: { months: readonly string[] }) {
  const [month, setMonth] = useState(months[0] ?? '')
  const refresh = useRefresh()
  const file = useMutation({
    mutationFn: async () => saveFile(`payouts-${month}.csv`, await readCsv(payoutFileUrl(month))),
  })
  const issue = useMutation({
    mutationFn: network.issueStatements,
    onSuccess: (issued) => {
      const count = issued.length
      void toast(count === 0 ? 'No statement was missing.' : `${count} statements issued.`)
      return refresh()
    },
  })
  const error = file.error ?? issue.error
  return (
    <div className="space-y-2 print:hidden">
      <div className="flex flex-wrap items-center gap-2">
        {months.length > 0 && (
          <>
            <select
              aria-label="Month of the payout file"
              className="h-8 rounded-lg border border-edge bg-panel px-2 text-sm"
              value={month}
              onChange={({ target }) => setMonth(target.value)}
            >
              {months.map((one) => (
                <option key={one} value={one}>
                  {monthOfYear(`${one}-01`)}
                </option>
              ))}
            </select>
            <button
              type="button"
              className="button button-small"
              aria-busy={file.isPending}
              onClick={() => file.isPending || file.mutate()}
            >
              <Icon name="download" size={14} />
              Payout file
            </button>
          </>
        )}
        {useCan('network.write') && (
          <button
            type="button"
            className="button button-small"
            aria-busy={issue.isPending}
            onClick={() => issue.isPending || issue.mutate()}
          >
            Issue missing statements
          </button>
        )}
      </div>
      {error !== null && <Failure error={error} />}
    </div>
  )
}

function ConfirmPaid({ payout, onClose }: { payout: Payout; onClose: () => void }) {
  const [day, setDay] = useState(today())
  const [reference, setReference] = useState('')
  const refresh = useRefresh()
  const confirm = useMutation({
    mutationFn: () =>
      network.confirmPayout(payout.statement_id, {
        ...{ paid_on: day, reference: reference.trim() === '' ? null : reference.trim() },
      }),
    onSuccess: () => {
      void toast(`Payout of ${payout.publisher_name} confirmed.`)
      return refresh()
    },
  })
  const { error } = confirm
  return (
    <DialogForm
      title="Confirm as paid"
      button="Confirm as paid"
      fields={['paid_on', 'reference']}
      error={error}
      isPending={confirm.isPending}
      onSubmit={() => confirm.mutateAsync()}
      onClose={onClose}
    >
      <p className="text-sm">
        {dollars(payout.amount_usd)} to <bdi>{payout.publisher_name}</bdi> for{' '}
        {monthOfYear(`${payout.month}-01`)}. A confirmation cannot be undone.
      </p>
      <Field
        name="paid_on"
        label="Day, such as 2026-03-02"
        value={day}
        onChange={setDay}
        error={error}
      />
      <Field
        name="reference"
        label="The bank’s reference"
        isOptional
        value={reference}
        onChange={setReference}
        error={error}
      />
    </DialogForm>
  )
}
