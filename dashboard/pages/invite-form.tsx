/** Invites somebody, and shows the link to pass on. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Organization, type Role, rolesIn } from '../../src/accounts/permission.ts'
import { type NewInvitation, people } from '../people-api.ts'
import { ChoiceField } from '../ui/choice-field.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'

/** What each role may do, in the words of the people who give it. */
const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: 'Owner: everything, also members',
  manager: 'Manager: everything but members',
  viewer: 'Viewer: sees figures',
  admin: 'Admin: everything',
  staff: 'Staff: sees everything, reviews orders',
}

export function InviteForm({ at, onInvited }: { at: Organization; onInvited: () => void }) {
  const roles = rolesIn(at.kind).toReversed() // The role with the fewest rights first.
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>(roles[0] ?? 'viewer')
  const inviting = useMutation({
    mutationFn: (body: { email: string; role: Role }) => people.invite(at, body),
    onSuccess: onInvited,
  })
  const form = useFaultFocus(inviting.error)
  const invite = useOneAtATime(inviting.mutateAsync)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (await invite({ email: email.trim(), role })) setEmail('')
  }
  return (
    <>
      <form
        ref={form}
        onSubmit={submit}
        aria-label="Invite somebody"
        className="panel space-y-3 p-4"
      >
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-[1fr_auto_auto]">
          <Field
            name="email"
            label="E-mail"
            inputMode="email"
            autoCapitalize="none"
            value={email}
            onChange={setEmail}
            error={inviting.error}
          />
          <ChoiceField
            name="role"
            label="Role"
            options={roles.map((value) => ({ value, label: ROLE_WORDS[value] }))}
            value={role}
            onChange={setRole}
            error={inviting.error}
          />
          <button
            type="submit"
            className="button button-main sm:mt-6"
            aria-busy={inviting.isPending}
          >
            Invite
          </button>
        </div>
        <FormFailure error={inviting.error} fields={['email', 'role']} />
      </form>
      {inviting.data !== undefined && <AcceptLink invitation={inviting.data} />}
    </>
  )
}

/** The link is shown once. The service stores only its hash. */
function AcceptLink({ invitation }: { invitation: NewInvitation }) {
  const { email, accept_url: url, is_mailed } = invitation
  if (url === null) return null
  return (
    <div role="status" className="rounded-xl border border-accent bg-tint p-4">
      <p className="text-sm font-medium">
        {is_mailed ? 'An e-mail is on its way. You can also pass on' : 'Pass on'} this link to{' '}
        <bdi>{email}</bdi>. It works once, for 7 days, and will not be shown again.
      </p>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <code className="min-w-0 grow font-mono text-[0.8125rem] break-all">{url}</code>
        <CopyButton text={url} label="Copy link" />
      </div>
    </div>
  )
}
