/** Scheduled reports: the storage that gets a publisher's report files, and whether it did. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Delivery, deliveries } from '../delivery-api.ts'
import { date, time } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { toast } from '../ui/toast.ts'
import { DeliveryForm } from './delivery-form.tsx'

/** A delivery that somebody asked for starts within a minute. */
const POLL_MS = 3_000

export function ScheduledReportsPage() {
  const { pub_id: pubId } = usePublisher()
  const queryKey = ['deliveries', pubId]
  const list = useQuery({
    queryKey,
    queryFn: () => deliveries.list(pubId),
    refetchInterval: ({ state }) =>
      state.data?.some((one) => one.is_requested) === true ? POLL_MS : false,
  })
  const [isNew, setNew] = useState(false)
  return (
    <div className="space-y-4">
      <PageHead
        title="Scheduled reports"
        purpose="Every six hours the service writes the clicks, orders, returns and payments of the last seven days to your storage: one CSV file for each day and report."
      >
        <button type="button" className="button button-main" onClick={() => setNew(true)}>
          Add storage
        </button>
      </PageHead>
      <Progress query={list} />
      {list.data?.length === 0 && (
        <EmptyState title="No scheduled reports yet">
          Add a bucket of Amazon S3, or of a storage that is compatible with it. The first files are
          there within minutes.
        </EmptyState>
      )}
      {list.data !== undefined && list.data.length > 0 && (
        <ul className="space-y-3">
          {list.data.map((delivery) => (
            <DeliveryItem key={delivery.delivery_id} delivery={delivery} />
          ))}
        </ul>
      )}
      {isNew && <DeliveryForm pubId={pubId} delivery={null} onClose={() => setNew(false)} />}
    </div>
  )
}

const LOOKS = {
  requested: { label: 'Starts within a minute', look: '' },
  failed: { label: 'Failed', look: 'bg-bad-tint text-bad' },
  delivered: { label: 'Delivered', look: 'bg-tint text-accent' },
  waiting: { label: 'Not delivered yet', look: '' },
} as const

function stateOf(delivery: Delivery): keyof typeof LOOKS {
  if (delivery.is_requested) return 'requested'
  if (delivery.error !== null) return 'failed'
  return delivery.datetime_delivered === null ? 'waiting' : 'delivered'
}

function DeliveryItem({ delivery }: { delivery: Delivery }) {
  const { target, endpoint, region, is_gzip: isGzip, error, set_by: setBy } = delivery
  const { label, look } = LOOKS[stateOf(delivery)]
  const { datetime_delivered: at } = delivery
  return (
    <li className="panel space-y-3 px-4 py-3 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 text-sm font-medium wrap-anywhere">
          <bdi>{target}</bdi>
        </h2>
        <span className={`chip ${look}`}>{label}</span>
      </div>
      <p className="wrap-anywhere text-soft">
        {setBy === 'publisher' && <bdi>{endpoint ?? 'Amazon S3'}</bdi>}
        {region !== null && `, region ${region}`}
        {isGzip && ', compressed'}
        {setBy === 'operator' && ' Set up by the operator, who can change it.'}
      </p>
      <p>
        {at === null
          ? 'No files have been delivered yet.'
          : `Last delivered on ${date(at)}, ${time(at)} UTC.`}
      </p>
      {error !== null && (
        <p role="status" className="rounded-lg bg-bad-tint px-3 py-2 wrap-anywhere text-bad">
          The last run failed: <bdi>{error}</bdi>. Check the storage and its keys, then run it
          again. Days that are missing follow with the next success.
        </p>
      )}
      <Actions delivery={delivery} />
    </li>
  )
}

function Actions({ delivery }: { delivery: Delivery }) {
  const { target, pub_id: pubId } = delivery
  const client = useQueryClient()
  const line = useRef<HTMLDivElement>(null)
  const [isEdited, setEdited] = useState(false)
  const refresh = () => client.invalidateQueries({ queryKey: ['deliveries', pubId] })
  const run = useMutation({
    mutationFn: () => deliveries.run(delivery),
    onSuccess: () => void toast('The delivery starts within a minute.'),
    onSettled: refresh,
  })
  const remove = useMutation({
    mutationFn: () => deliveries.remove(delivery),
    onSettled: refresh,
  })
  const failure = run.error ?? remove.error
  return (
    <>
      <div ref={line} tabIndex={-1} className="flex flex-wrap items-center gap-2 outline-none">
        <button
          type="button"
          className="button button-small"
          aria-label={`Run the delivery to ${target} now`}
          aria-busy={run.isPending}
          onClick={() => run.isPending || run.mutate()}
        >
          Run now
        </button>
        {delivery.set_by === 'publisher' && (
          <>
            <button
              type="button"
              className="button button-small"
              aria-label={`Edit the delivery to ${target}`}
              onClick={() => setEdited(true)}
            >
              Edit
            </button>
            <ConfirmButton
              label="Remove"
              full={`Remove the delivery to ${target}`}
              question="Files that were delivered stay."
              sure="Remove it"
              line={line}
              onConfirm={() => remove.mutate()}
            />
          </>
        )}
      </div>
      {failure !== null && <Failure error={failure} />}
      {isEdited && (
        <DeliveryForm pubId={pubId} delivery={delivery} onClose={() => setEdited(false)} />
      )}
    </>
  )
}
