/** One webhook: its state, its actions and its deliveries. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Organization } from '../../src/accounts/permission.ts'
import { nameOf } from '../membership.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Failure } from '../ui/notice.tsx'
import { toast } from '../ui/toast.ts'
import { type Webhook, webhooks } from '../webhook-api.ts'
import { Deliveries } from './webhook-deliveries.tsx'

export function WebhookItem({ at, webhook }: { at: Organization; webhook: Webhook }) {
  const { webhook_id: id, url, events, state, notice } = webhook
  const [isOpen, setOpen] = useState(false)
  const isActive = state === 'active'
  return (
    <li className="panel space-y-3 px-4 py-3 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 font-medium wrap-anywhere">
          <bdi>{url}</bdi>
        </p>
        <span className={`chip ${isActive ? 'bg-tint text-accent' : 'bg-bad-tint text-bad'}`}>
          {isActive ? 'Active' : 'Switched off'}
        </span>
      </div>
      <p className="wrap-anywhere text-soft">{events.join(', ')}</p>
      {notice !== null && <p className="wrap-anywhere">{notice}</p>}
      <Actions at={at} webhook={webhook} onTest={() => setOpen(true)} />
      <button
        type="button"
        className="link"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Hide deliveries' : 'Show deliveries'}
        <span className="sr-only"> to {url}</span>
      </button>
      {isOpen && <Deliveries at={at} webhookId={id} />}
    </li>
  )
}

function Actions(props: { at: Organization; webhook: Webhook; onTest: () => void }) {
  const { at, webhook, onTest } = props
  const { webhook_id: id, url, state } = webhook
  const client = useQueryClient()
  const line = useRef<HTMLDivElement>(null)
  const isActive = state === 'active'
  const refresh = () => client.invalidateQueries({ queryKey: ['webhooks', nameOf(at)] })
  const turn = useMutation({
    mutationFn: () => (isActive ? webhooks.disable(at, id) : webhooks.enable(at, id)),
    onSettled: refresh,
  })
  const test = useMutation({
    mutationFn: () => webhooks.test(at, id),
    onSuccess: () => {
      onTest()
      void toast('A test event is sent within a minute.')
      return client.invalidateQueries({ queryKey: ['deliveries', nameOf(at), id] })
    },
  })
  const remove = useMutation({ mutationFn: () => webhooks.remove(at, id), onSettled: refresh })
  const error = turn.error ?? test.error ?? remove.error
  return (
    <>
      <div ref={line} tabIndex={-1} className="flex flex-wrap items-center gap-2 outline-none">
        {isActive && (
          <button
            type="button"
            className="button button-small"
            aria-label={`Send a test event to ${url}`}
            aria-busy={test.isPending}
            onClick={() => test.isPending || test.mutate()}
          >
            Send a test event
          </button>
        )}
        <button
          type="button"
          className="button button-small"
          aria-label={`${isActive ? 'Switch off' : 'Switch on'} ${url}`}
          aria-busy={turn.isPending}
          onClick={() => turn.isPending || turn.mutate()}
        >
          {isActive ? 'Switch off' : 'Switch on'}
        </button>
        <ConfirmButton
          label="Delete"
          full={`Delete ${url}`}
          question="Its deliveries are deleted too."
          sure="Delete now"
          line={line}
          onConfirm={() => remove.mutate()}
        />
      </div>
      {error !== null && <Failure error={error} />}
    </>
  )
}
