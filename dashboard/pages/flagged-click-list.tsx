/** Paid clicks of addresses that made many invalid ones, to reverse together. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { isDoneAlready } from '../api.ts'
import { cents, count, date } from '../format.ts'
import { type FlaggedClicks, network } from '../network-api.ts'
import { useCan } from '../organization.ts'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { Progress } from '../ui/notice.tsx'
import { toast } from '../ui/toast.ts'
import { usePublisherNames } from './network-names.ts'

const FLAGGED = ['network', 'flagged clicks']

export function FlaggedClickList() {
  const flagged = useQuery({ queryKey: FLAGGED, queryFn: network.flaggedClicks })
  const [chosen, choose] = useState<FlaggedClicks | null>(null)
  const list = useRef<HTMLElement>(null)
  const nameOf = usePublisherNames()
  const canReverse = useCan('network.write')
  return (
    <section ref={list} tabIndex={-1} aria-labelledby="flagged" className="space-y-3 outline-none">
      <h2 id="flagged">Flagged clicks</h2>
      <p className="max-w-prose text-sm text-soft">
        {flagged.data?.length === 0 ? 'None in the last 7 days. ' : ''}
        Paid clicks of the last 7 days, from addresses that made at least as many invalid clicks on
        the same day. A reversed click is refunded to its merchant.
      </p>
      <Progress query={flagged} />
      {flagged.data !== undefined && flagged.data.length > 0 && (
        <ul className="panel divide-y divide-line">
          {flagged.data.map((one) => (
            <li
              key={one.clicks[0]}
              className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 text-sm"
            >
              <div className="min-w-0 grow basis-72">
                <p className="font-medium wrap-anywhere">
                  <bdi>{nameOf(one.pub_id)}</bdi>, {paidClicks(one)} of one address
                </p>
                <p className="text-soft">
                  {count(one.invalid_clicks)} invalid clicks of the same address. {one.why}
                </p>
                <p className="number text-soft">{date(one.day)}</p>
              </div>
              <p className="number text-base font-semibold">{cents(one.cost_usd)}</p>
              {canReverse && (
                <button type="button" className="button" onClick={() => choose(one)}>
                  Reverse {paidClicks(one)}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {chosen !== null && (
        <ReverseForm
          flagged={chosen}
          onClose={() => {
            choose(null)
            list.current?.focus()
          }}
        />
      )}
    </section>
  )
}

const paidClicks = ({ clicks }: FlaggedClicks): string =>
  `${count(clicks.length)} paid click${clicks.length === 1 ? '' : 's'}`

const REASON_LENGTH_MAX = 255

function ReverseForm({ flagged, onClose }: { flagged: FlaggedClicks; onClose: () => void }) {
  const client = useQueryClient()
  const [reason, setReason] = useState('')
  const reverse = useMutation({
    mutationFn: async () => {
      for (const click of flagged.clicks) {
        // Some are reversed already when a person tries again after a failure in the middle.
        await network.reverseClicks({ click, reason }).catch((error) => {
          if (!isDoneAlready(error)) throw error
        })
      }
    },
    onSuccess: () => void toast(`${paidClicks(flagged)} reversed.`),
    // Also after a failure in the middle: the others are reversed.
    onSettled: () => client.invalidateQueries({ queryKey: ['network'] }),
  })
  return (
    <DialogForm
      title={`Reverse ${paidClicks(flagged)}`}
      button="Reverse"
      fields={['reason']}
      error={reverse.error}
      isPending={reverse.isPending}
      isDangerous
      onSubmit={() => reverse.mutateAsync()}
      onClose={onClose}
    >
      <Field
        name="reason"
        label="Why? Publisher and merchant read it."
        maxLength={REASON_LENGTH_MAX}
        value={reason}
        onChange={setReason}
        error={reverse.error}
      />
    </DialogForm>
  )
}
