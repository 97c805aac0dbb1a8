/** Approves or rejects an order that waits for its merchant. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { merchantApi, type ShopOrder } from '../merchant-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Failure } from '../ui/notice.tsx'
import { toast } from '../ui/toast.ts'
import { isWaiting } from './order-state.tsx'

type Order = Pick<ShopOrder, 'checkout_id' | 'hold' | 'state'>

export function OrderDecision(props: {
  readonly merchId: number
  readonly order: Order
  readonly isSmall?: boolean
}) {
  const { merchId, order, isSmall = false } = props
  const { checkout_id: id } = order
  const [isRejecting, setRejecting] = useState(false)
  const decide = useDecision(merchId, id, () => setRejecting(false))
  const style = `button ${isSmall ? 'h-7 px-2 text-xs' : ''}`
  if (!isWaiting(order)) return null
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <button
        type="button"
        className={style}
        aria-label={`Approve order ${id}`}
        aria-busy={decide.isPending}
        onClick={() => decide.isPending || decide.mutate(null)}
      >
        Approve
      </button>
      <button
        type="button"
        className={style}
        aria-label={`Reject order ${id}`}
        onClick={() => setRejecting(true)}
      >
        Reject …
      </button>
      {decide.error !== null && !isRejecting && <Failure error={decide.error} />}
      {isRejecting && <RejectDialog id={id} decide={decide} onClose={() => setRejecting(false)} />}
    </span>
  )
}

function useDecision(merchId: number, id: string, onDone: () => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (reason: string | null) => merchantApi.decideOrder(merchId, id, reason),
    onSuccess: async (_answer, reason) => {
      onDone()
      // The row with the button disappears, so the focus goes on to the list.
      document.getElementById('content')?.querySelector<HTMLElement>('.data-scroll')?.focus()
      void toast(reason === null ? `Order ${id} is approved.` : `Order ${id} is rejected.`)
      await client.invalidateQueries({ queryKey: ['shop orders', merchId] })
      await client.invalidateQueries({ queryKey: ['merchant order', merchId, id] })
    },
  })
}

function RejectDialog(props: {
  readonly id: string
  readonly decide: ReturnType<typeof useDecision>
  readonly onClose: () => void
}) {
  const { id, decide, onClose } = props
  const [reason, setReason] = useState('')
  const form = useFaultFocus(decide.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!decide.isPending) decide.mutate(reason.trim())
  }
  return (
    <Dialog title={`Reject order ${id}`} isOpen onOpenChange={onClose}>
      <form ref={form} onSubmit={submit} className="space-y-4">
        <p>The order will cost you nothing, and its publisher sees your reason.</p>
        <Field
          name="reason"
          label="Reason"
          placeholder="Ordered twice by mistake"
          value={reason}
          onChange={setReason}
          error={decide.error}
        />
        <FormFailure error={decide.error} fields={['reason']} />
        <button type="submit" className="button button-main" aria-busy={decide.isPending}>
          Reject the order
        </button>
      </form>
    </Dialog>
  )
}
