/** The messages of one webhook, the answers of its server, and another try. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Organization } from '../../src/accounts/permission.ts'
import { count, date, time } from '../format.ts'
import { nameOf } from '../membership.ts'
import { Failure, Progress } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { type Delivery, webhooks } from '../webhook-api.ts'

export function Deliveries({ at, webhookId }: { at: Organization; webhookId: number }) {
  const queryKey = ['deliveries', nameOf(at), webhookId]
  const pages = usePages(queryKey, (cursor) => webhooks.deliveries(at, webhookId, cursor))
  const client = useQueryClient()
  const resend = useMutation({
    mutationFn: (id: string) => webhooks.resend(at, id),
    onSettled: () => client.invalidateQueries({ queryKey }),
  })
  const rows = pages.data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <div className="space-y-3">
      <div className="flex items-center justify-between gap-2">
        <h2 className="text-base">Deliveries</h2>
        <button
          type="button"
          className="button button-small"
          aria-busy={pages.isFetching}
          onClick={() => void pages.refetch()}
        >
          Refresh
        </button>
      </div>
      <Progress query={pages} />
      {resend.error !== null && <Failure error={resend.error} />}
      {pages.data !== undefined && rows.length === 0 && (
        <p className="text-soft">Nothing sent yet. Send a test event to try your server.</p>
      )}
      <ul className="divide-y divide-line">
        {rows.map((delivery) => (
          <Line
            key={delivery.delivery_id}
            delivery={delivery}
            onResend={() => resend.mutate(delivery.delivery_id)}
          />
        ))}
      </ul>
      <NextPage pages={pages} label="Earlier deliveries" />
    </div>
  )
}

function stateOf({ delivered_at, next_attempt_at: next, status, error, attempts }: Delivery) {
  if (delivered_at !== null) return `Delivered, your server answered ${status ?? 'in time'}`
  const why = error ?? 'not tried yet'
  if (next === null) return `Failed after ${count(attempts)} tries: ${why}`
  return attempts === 0
    ? 'Waits to be sent'
    : `Tried ${count(attempts)} times, next ${time(next)} UTC: ${why}`
}

function Line({ delivery, onResend }: { delivery: Delivery; onResend: () => void }) {
  const { event, created_at: at, delivered_at, error, data, delivery_id: id } = delivery
  const isBad = delivered_at === null && error !== null
  return (
    <li className="space-y-1 py-2.5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="font-medium">
          {event}{' '}
          <span className="number font-normal text-soft">
            {date(at)}, {time(at)} UTC
          </span>
        </p>
        <button
          type="button"
          className="button button-small"
          aria-label={`Send again: ${event}, delivery ${id}`}
          onClick={onResend}
        >
          Send again
        </button>
      </div>
      <p className={`wrap-anywhere ${isBad ? 'text-bad' : 'text-soft'}`}>{stateOf(delivery)}</p>
      <details>
        <summary className="cursor-pointer text-soft">Data</summary>
        <code className="code mt-1 whitespace-pre-wrap wrap-anywhere">
          {JSON.stringify(data, null, 2)}
        </code>
      </details>
    </li>
  )
}
