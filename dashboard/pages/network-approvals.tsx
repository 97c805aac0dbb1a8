/** Decisions of the operator: held orders, and clicks that look like those of no reader. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useRef, useState } from 'react'
import { date, time } from '../format.ts'
import { type HeldOrder, network } from '../network-api.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { toast } from '../ui/toast.ts'
import { FlaggedClickList } from './flagged-click-list.tsx'
import { useMerchantNames } from './network-names.ts'

const HELD = ['network', 'held']

export function ApprovalsPage() {
  const held = useQuery({ queryKey: HELD, queryFn: network.heldOrders })
  const list = useRef<HTMLElement>(null)
  return (
    <div className="space-y-6">
      <PageHead
        title="Approvals"
        purpose="Held orders earn nothing until you approve them. The merchant reads the reason of a rejection."
      />
      <Progress query={held} />
      {held.data?.length === 0 && (
        <EmptyState title="No order waits for a decision" icon="check">
          Unusually large orders, and orders in a currency without an exchange rate, appear here.
        </EmptyState>
      )}
      {/* Gets the focus when the buttons of a decided order disappear. */}
      <section ref={list} tabIndex={-1} aria-label="Held orders" className="outline-none">
        {held.data !== undefined && held.data.length > 0 && (
          <ul className="panel divide-y divide-line">
            {held.data.map((order) => (
              <HeldLine key={order.order_id} order={order} list={list} />
            ))}
          </ul>
        )}
      </section>
      <FlaggedClickList />
      <CommandLine
        commands={[
          { does: 'List held orders', line: 'souk orders held' },
          { does: 'Approve one', line: 'souk orders approve --merchant <ID> --order <ID>' },
          {
            does: 'Reject one',
            line: "souk orders reject --merchant <ID> --order <ID> --reason '<reason>'",
          },
          { does: 'Reverse a click', line: "souk reverse --click <ID> --reason '<reason>'" },
        ]}
      />
    </div>
  )
}

/** The exact value is in the record; orders have at most three decimals in any currency. */
const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2 })

const WAITS = {
  review: 'Unusually large. Approve it if the merchant confirms it.',
  no_rate: 'No exchange rate for its currency yet. It counts by itself once there is one.',
} as const

function HeldLine({ order, list }: { order: HeldOrder; list: RefObject<HTMLElement | null> }) {
  const { order_id: id, checkout_id: checkout, hold, currency, value, ordered_at: at } = order
  const client = useQueryClient()
  const merchant = useMerchantNames()(order.merch_id)
  const [isRejecting, setRejecting] = useState(false)
  const approve = useMutation({
    mutationFn: () => network.approveOrder(id),
    onSuccess: () => {
      list.current?.focus()
      void toast(`Order ${checkout} approved.`)
      return client.invalidateQueries({ queryKey: HELD })
    },
  })
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3 text-sm">
      <div className="min-w-0 grow basis-72">
        <p className="font-medium wrap-anywhere">
          <bdi>{merchant}</bdi>, order <bdi>{checkout}</bdi>
        </p>
        <p className="text-soft">{WAITS[hold]}</p>
        <p className="number text-soft">
          {date(at)}, {time(at)} UTC
        </p>
        {approve.error !== null && <Failure error={approve.error} />}
      </div>
      <p className="number text-base font-semibold">
        {AMOUNT.format(Number(value))} {currency}
      </p>
      <div className="flex gap-2">
        {hold === 'review' && (
          <button
            type="button"
            className="button button-main"
            aria-label={`Approve ${checkout}`}
            aria-busy={approve.isPending}
            onClick={() => approve.isPending || approve.mutate()}
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
      {isRejecting && <RejectForm order={order} list={list} onClose={() => setRejecting(false)} />}
    </li>
  )
}

const REASON_LENGTH_MAX = 255

function RejectForm(props: {
  order: HeldOrder
  list: RefObject<HTMLElement | null>
  onClose: () => void
}) {
  const { order, list, onClose } = props
  const client = useQueryClient()
  const [reason, setReason] = useState('')
  const reject = useMutation({
    mutationFn: () => network.rejectOrder(order.order_id, reason),
    onSuccess: () => {
      list.current?.focus()
      void toast(`Order ${order.checkout_id} rejected.`)
      return client.invalidateQueries({ queryKey: HELD })
    },
  })
  return (
    <DialogForm
      title={`Reject order ${order.checkout_id}`}
      button="Reject order"
      fields={['reason']}
      error={reject.error}
      isPending={reject.isPending}
      isDangerous
      onSubmit={() => reject.mutateAsync()}
      onClose={onClose}
    >
      <Field
        name="reason"
        label="Why? The merchant reads it."
        maxLength={REASON_LENGTH_MAX}
        value={reason}
        onChange={setReason}
        error={reject.error}
      />
    </DialogForm>
  )
}
