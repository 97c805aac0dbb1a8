/** The secret that signs reports of a merchant's server: replaced here, and shown once. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { date, time } from '../format.ts'
import { merchantApi } from '../merchant-api.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Failure } from '../ui/notice.tsx'

export function PostbackSecret(props: {
  readonly merchId: number
  readonly formerUntil: string | null
  readonly canRenew: boolean
}) {
  const { merchId, formerUntil, canRenew } = props
  const client = useQueryClient()
  const line = useRef<HTMLElement>(null)
  const renew = useMutation({
    mutationFn: () => merchantApi.newSecret(merchId),
    onSuccess: () => client.invalidateQueries({ queryKey: ['merchant settings', merchId] }),
  })
  const secret = renew.data?.postback_secret ?? null
  const until = renew.data?.former_secret_until ?? formerUntil
  return (
    <section
      ref={line}
      tabIndex={-1}
      aria-labelledby="secret"
      className="panel space-y-3 p-4 outline-none"
    >
      <h2 id="secret">Reports of your server</h2>
      <p className="max-w-prose text-sm">
        Your server signs its reports with a postback secret.{' '}
        <a href="/docs/#reportOrders" className="link">
          The API reference
        </a>{' '}
        shows how.
      </p>
      {until !== null && (
        <p className="text-sm text-soft">
          The secret before this one works until {date(until)}, {time(until)} UTC.
        </p>
      )}
      {renew.error !== null && <Failure error={renew.error} />}
      {secret !== null && (
        <div role="status" className="space-y-2 rounded-lg bg-tint p-3">
          <p>Copy the new secret now: it is not shown again.</p>
          <div className="flex flex-wrap items-center gap-2">
            <code className="wrap-anywhere">{secret}</code>
            <CopyButton text={secret} label="Copy" of="the new secret" />
          </div>
        </div>
      )}
      {canRenew ? (
        <ConfirmButton
          label="New secret"
          full="New secret for reports of your server"
          question="The present secret works for 24 more hours."
          sure="Create a new secret"
          line={line}
          onConfirm={() => renew.mutate()}
        />
      ) : (
        <p className="text-sm text-soft">A manager or owner can create a new secret.</p>
      )}
    </section>
  )
}
