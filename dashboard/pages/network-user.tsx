/** One user: roles, suspension, a link for a new password, and the reset of second factors. */
import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { date } from '../format.ts'
import { type NetworkUser, network } from '../network-api.ts'
import { useCan } from '../organization.ts'
import { ChoiceField } from '../ui/choice-field.tsx'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Failure } from '../ui/notice.tsx'
import { toast } from '../ui/toast.ts'
import { NETWORK_ROLE_OPTIONS, type NetworkRole } from './network-new-user.tsx'
import { ReadOnlyRecord, useRefresh } from './network-record.tsx'
import { Suspension } from './network-suspension.tsx'

export function UserDialog(props: {
  user: NetworkUser
  roles: readonly string[]
  onClose: () => void
}) {
  const { user, roles, onClose } = props
  const canWrite = useCan('network.write')
  const active = user.datetime_last_active
  return (
    <ReadOnlyRecord title={user.email} onClose={onClose}>
      <p className="text-sm text-soft">
        {user.name !== '' && <bdi>{user.name} · </bdi>}
        user {user.uid} · since {date(user.datetime_created)} ·{' '}
        {active === null ? 'never active' : `last active ${date(active)}`}
      </p>
      {roles.length === 0 ? (
        <p className="text-sm">This user belongs to no organization.</p>
      ) : (
        <ul className="list-disc pl-5 text-sm">
          {roles.map((role) => (
            <li key={role}>
              <bdi>{role}</bdi>
            </li>
          ))}
        </ul>
      )}
      {canWrite && <Actions user={user} />}
    </ReadOnlyRecord>
  )
}

function Actions({ user }: { user: NetworkUser }) {
  const { uid, email } = user
  const refresh = useRefresh()
  const line = useRef<HTMLDivElement>(null)
  const reset = useMutation({
    mutationFn: () => network.resetSecondFactors(uid),
    onSuccess: () => toast('Second factors removed. All sessions of the user ended.'),
  })
  const link = useMutation({ mutationFn: () => network.passwordLink(uid) })
  const role = useMutation({
    mutationFn: async (to: NetworkRole) => {
      const { etag } = await network.user(uid)
      await network.changeUser(uid, { network_role: to === 'none' ? null : to }, etag)
    },
    onSettled: refresh,
  })
  const error = reset.error ?? link.error ?? role.error
  return (
    <>
      <ChoiceField
        name="network_role"
        label="Role in the network"
        options={NETWORK_ROLE_OPTIONS}
        value={user.network_role ?? 'none'}
        onChange={(to) => role.mutate(to)}
        error={null}
      />
      <div ref={line} tabIndex={-1} className="flex flex-wrap items-center gap-2 outline-none">
        <button
          type="button"
          className="button button-small"
          aria-busy={link.isPending}
          onClick={() => link.mutate()}
        >
          Get a link for a new password
        </button>
        <ConfirmButton
          label="Reset second factor"
          full={`Reset the second factor of ${email}`}
          question="The app and passkeys stop working. All sessions end."
          sure="Reset now"
          line={line}
          onConfirm={() => reset.mutate()}
        />
      </div>
      {link.data !== undefined && <ResetLink url={link.data.reset_url} />}
      {error !== null && <Failure error={error} />}
      <Suspension
        kind="users"
        id={uid}
        name={email}
        isSuspended={user.is_suspended}
        effect="Sign-in and all API keys stop working."
      />
    </>
  )
}

function ResetLink({ url }: { url: string }) {
  return (
    <div role="status" className="rounded-xl border border-accent bg-tint p-3 text-sm">
      <p className="font-medium">Hand over this link. It works once, within an hour.</p>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <code className="min-w-0 grow font-mono text-[0.8125rem] break-all">{url}</code>
        <CopyButton text={url} label="Copy link" />
      </div>
    </div>
  )
}
