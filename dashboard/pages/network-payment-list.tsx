/** Payments that the operator recorded, and their reversal. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { dollars } from '../format.ts'
import { network, type Payment } from '../network-api.ts'
import { useCan } from '../organization.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { toast } from '../ui/toast.ts'
import { useRefresh } from './network-record.tsx'

export function PaymentList() {
  const pages = usePages(['network', 'payments'], network.payments)
  const canWrite = useCan('network.write')
  const [open, setOpen] = useState<Payment | null>(null)
  if (pages.data === undefined) return <Progress query={pages} />
  const rows = pages.data.pages.flatMap((page) => page.rows)
  const onRow = (payment: Payment) => payment.reversed_at === null && setOpen(payment)
  return (
    <div className="space-y-3">
      <DataTable
        id="network-payments"
        label="Payments received"
        isBare
        rows={rows}
        keyOf={({ payment_id }) => payment_id}
        columns={COLUMNS}
        sort={{ by: 'paid' }}
        {...(canWrite && { onRow })}
        note={canWrite ? 'Choose a payment to reverse it.' : undefined}
        empty={
          <EmptyState title="No payment recorded yet">
            Record a payment when a merchant’s money arrives at the bank.
          </EmptyState>
        }
      />
      <NextPage pages={pages} label="Earlier payments" />
      {open !== null && <ReverseForm payment={open} onClose={() => setOpen(null)} />}
    </div>
  )
}

const COLUMNS: readonly Column<Payment>[] = [
  { id: 'merchant', head: 'Merchant', value: ({ merchant }) => merchant },
  { id: 'paid', head: 'Paid on', kind: 'day', value: ({ paid_on }) => paid_on },
  { id: 'amount', head: 'Amount', kind: 'money', value: ({ amount_usd }) => amount_usd },
  { id: 'reference', head: 'Reference', value: ({ reference }) => reference },
  {
    ...{ id: 'state', head: 'State' },
    value: (one) => (one.reversed_at === null ? 'Received' : `Reversed: ${one.reverse_reason}`),
  },
]

const REASON_LENGTH_MAX = 255

function ReverseForm({ payment, onClose }: { payment: Payment; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const refresh = useRefresh()
  const reverse = useMutation({
    mutationFn: () => network.reversePayment(payment.payment_id, reason),
    onSuccess: () => {
      void toast('Payment reversed.')
      return refresh()
    },
  })
  return (
    <DialogForm
      title={`Reverse the payment of ${payment.merchant}`}
      button="Reverse payment"
      fields={['reason']}
      error={reverse.error}
      isPending={reverse.isPending}
      isDangerous
      onSubmit={() => reverse.mutateAsync()}
      onClose={onClose}
    >
      <p className="text-sm">
        <bdi>{payment.merchant}</bdi> owes {dollars(payment.amount_usd)} again. Earnings that the
        payment released stay released. Reference: <bdi>{payment.reference}</bdi>.
      </p>
      <Field
        name="reason"
        label="Why? For example: the bank returned it"
        maxLength={REASON_LENGTH_MAX}
        value={reason}
        onChange={setReason}
        error={reverse.error}
      />
    </DialogForm>
  )
}
