/** What waits for the operator: held orders, merchants that owe, and payouts that are due. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { type Ageing, api, type HeldOrder, type Payout } from '../api.ts'
import { cents, date, dollars, today } from '../format.ts'
import { type MoneyColumn, MoneyTable } from '../ui/money-table.tsx'
import { Failure, Progress } from '../ui/notice.tsx'

const HELD = ['network', 'held']

/** Each order that waits for a person or a rate, with what can be decided here. */
export function HeldOrders() {
  const held = useQuery({ queryKey: HELD, queryFn: api.heldOrders })
  const count = held.data?.length ?? 0
  return (
    <section aria-labelledby="held" className="panel">
      <h2 id="held" className="px-4 pt-4 pb-2">
        Held orders ({count})
      </h2>
      <Progress query={held} />
      {held.data !== undefined && count === 0 && (
        <p className="px-4 pb-4 text-sm text-soft">No order waits for a decision.</p>
      )}
      <ul className="divide-y divide-line">
        {held.data?.map((order) => (
          <HeldLine key={order.order_id} order={order} />
        ))}
      </ul>
    </section>
  )
}

const WAITS = {
  review: 'Unusually large: approve it if the merchant confirms it.',
  no_rate:
    'There is no exchange rate for its currency yet. It is decided by itself when one is set.',
} as const

function HeldLine({ order }: { order: HeldOrder }) {
  const { order_id: id, checkout_id: checkout, hold, currency, value, ordered_at: at } = order
  const client = useQueryClient()
  const [isRejecting, setRejecting] = useState(false)
  const decide = useMutation({
    mutationFn: (reason: string | null) => api.decideOrder(id, reason),
    onSettled: () => client.invalidateQueries({ queryKey: HELD }),
  })
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3 text-sm">
      <div className="min-w-0 grow basis-72">
        <p className="font-medium wrap-anywhere">
          <bdi>{checkout}</bdi> · {value} {currency} · merchant {order.merch_id} · {date(at)}
        </p>
        <p className="text-soft">{WAITS[hold]}</p>
        {decide.error !== null && <Failure error={decide.error} />}
      </div>
      {isRejecting ? (
        <RejectForm
          isPending={decide.isPending}
          onReject={(reason) => decide.mutate(reason)}
          onCancel={() => setRejecting(false)}
        />
      ) : (
        <div className="flex gap-2">
          {hold === 'review' && (
            <button
              type="button"
              className="button"
              aria-label={`Approve ${checkout}`}
              aria-busy={decide.isPending}
              onClick={() => decide.mutate(null)}
            >
              Approve
            </button>
          )}
          <button
            type="button"
            className="button"
            aria-label={`Reject ${checkout}`}
            onClick={() => setRejecting(true)}
          >
            Reject
          </button>
        </div>
      )}
    </li>
  )
}

function RejectForm(props: {
  readonly isPending: boolean
  readonly onReject: (reason: string) => void
  readonly onCancel: () => void
}) {
  const { isPending, onReject, onCancel } = props
  const [reason, setReason] = useState('')
  const field = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onReject(reason)
  }
  return (
    <form className="flex flex-wrap items-end gap-2" onSubmit={submit}>
      <div>
        <label htmlFor={field} className="label">
          Why? The merchant reads it.
        </label>
        <input
          id={field}
          className="field"
          required
          maxLength={255}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      </div>
      <button type="submit" className="button" aria-busy={isPending}>
        Reject order
      </button>
      <button type="button" className="button" onClick={onCancel}>
        Cancel
      </button>
    </form>
  )
}

/** Who owes what since when. */
export function Debts() {
  const ageing = useQuery({ queryKey: ['network', 'ageing'], queryFn: api.ageing })
  const owing = ageing.data?.filter(({ owed_usd }) => Number(owed_usd) !== 0) ?? []
  return (
    <>
      <Progress query={ageing} />
      {ageing.data !== undefined && (
        <MoneyTable
          id="ageing"
          title={`Owed by merchants (${owing.length})`}
          rows={owing}
          keyOf={(one) => one.merch_id}
          name={{ head: 'Merchant', cell: (one) => <bdi>{one.merchant}</bdi> }}
          columns={DEBT_COLUMNS}
        />
      )}
    </>
  )
}

const DEBT_COLUMNS: readonly MoneyColumn<Ageing>[] = [
  { head: 'Owed', cell: (one) => cents(one.owed_usd) },
  { head: 'Up to 30 days', cell: (one) => cents(one.up_to_30_days_usd) },
  { head: 'to 60', cell: (one) => cents(one.up_to_60_days_usd) },
  { head: 'to 90', cell: (one) => cents(one.up_to_90_days_usd) },
  { head: 'over 90', cell: (one) => cents(one.over_90_days_usd) },
  {
    head: 'Oldest due',
    cell: (one) => (one.oldest_due_at === null ? '–' : date(one.oldest_due_at)),
  },
]

/** Payouts of issued statements; a person with the permission can confirm that one was paid. */
export function Payouts({ canChange }: { canChange: boolean }) {
  const client = useQueryClient()
  const payouts = useQuery({ queryKey: ['network', 'payouts'], queryFn: api.payouts })
  const confirm = useMutation({
    mutationFn: ({ statement_id }: Payout) => api.confirmPayout(statement_id, today()),
    onSettled: () => client.invalidateQueries({ queryKey: ['network', 'payouts'] }),
  })
  const state: MoneyColumn<Payout> = {
    head: 'State',
    cell: (one) =>
      one.state === 'paid' || !canChange ? (
        one.state === 'paid' ? (
          `Paid ${one.paid_on === null ? '' : date(one.paid_on)}`
        ) : (
          'Due'
        )
      ) : (
        <button
          type="button"
          className="button button-small"
          aria-label={`Confirm ${one.publisher_name}, ${one.month} as paid`}
          disabled={confirm.isPending}
          onClick={() => confirm.mutate(one)}
        >
          Confirm as paid today
        </button>
      ),
  }
  return (
    <>
      <Progress query={payouts} />
      {confirm.error !== null && <Failure error={confirm.error} />}
      {payouts.data !== undefined && (
        <MoneyTable
          id="payouts"
          title={`Payouts (${payouts.data.length})`}
          rows={payouts.data}
          keyOf={(one) => one.statement_id}
          name={{ head: 'Publisher', cell: (one) => <bdi>{one.publisher_name}</bdi> }}
          columns={[
            { head: 'Month', cell: (one) => one.month },
            { head: 'Amount', cell: (one) => dollars(one.amount_usd) },
            state,
          ]}
        />
      )}
    </>
  )
}
