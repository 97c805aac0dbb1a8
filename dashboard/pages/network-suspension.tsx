/** Whether an organization or a person is suspended, and the button that changes it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { network, type OrganizationKind } from '../network-api.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Failure } from '../ui/notice.tsx'
import { toast } from '../ui/toast.ts'

export function StateChip({ isSuspended }: { isSuspended: boolean }) {
  return (
    <span className={`chip ${isSuspended ? 'bg-bad-tint text-bad' : 'bg-tint text-accent'}`}>
      {isSuspended ? 'Suspended' : 'Active'}
    </span>
  )
}

export function Suspension(props: {
  kind: OrganizationKind
  id: number
  name: string
  isSuspended: boolean
  /** What a suspension stops. */
  effect: string
}) {
  const { kind, id, name, isSuspended, effect } = props
  const client = useQueryClient()
  const line = useRef<HTMLDivElement>(null)
  const change = useMutation({
    mutationFn: () => network.suspend(kind, id, !isSuspended),
    onSuccess: () => {
      void toast(isSuspended ? `${name} is active again.` : `${name} is suspended.`)
      return client.invalidateQueries({ queryKey: ['network'] })
    },
  })
  return (
    <div ref={line} tabIndex={-1} className="space-y-2 border-t border-line pt-3 outline-none">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <StateChip isSuspended={isSuspended} />
        <ConfirmButton
          label={isSuspended ? 'Resume' : 'Suspend'}
          full={`${isSuspended ? 'Resume' : 'Suspend'} ${name}`}
          question={isSuspended ? 'It takes part again at once.' : effect}
          sure={isSuspended ? 'Resume now' : 'Suspend now'}
          line={line}
          onConfirm={() => change.mutate()}
        />
      </div>
      {change.error !== null && <Failure error={change.error} />}
    </div>
  )
}
