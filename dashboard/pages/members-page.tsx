/** Who belongs to an organization: invite people, change their roles, remove them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { type Organization, type Role, rolesIn } from '../../src/accounts/permission.ts'
import { date } from '../format.ts'
import { nameOf, organizationOf } from '../membership.ts'
import { PATHS } from '../paths.ts'
import { type Invitation, type Member, people } from '../people-api.ts'
import { useMe } from '../session.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Failure, Progress } from '../ui/notice.tsx'
import { OfOrganization } from '../ui/of-organization.tsx'
import { InviteForm } from './invite-form.tsx'

export function MembersPage() {
  return (
    <OfOrganization title="Members" permission="members.write" who="owners">
      {(membership) => <Members at={organizationOf(membership)} />}
    </OfOrganization>
  )
}

function Members({ at }: { at: Organization }) {
  const client = useQueryClient()
  const queryKey = ['members', nameOf(at)]
  const members = useQuery({ queryKey, queryFn: () => people.members(at) })
  // Your own role may have changed, and with it what you see.
  const onSettled = () => client.invalidateQueries()
  const change = useMutation({
    mutationFn: ({ member, role }: { member: Member; role: Role }) =>
      people.changeRole(at, member, role),
    onSettled,
  })
  const remove = useMutation({
    mutationFn: (member: Member) => people.removeMember(at, member),
    onSettled,
  })
  const error = change.error ?? remove.error
  return (
    <>
      <section aria-label="Members" className="space-y-3">
        {error !== null && <Failure error={error} />}
        <Progress query={members} />
        {members.data !== undefined && (
          <ul className="panel divide-y divide-line">
            {members.data.map((member) => (
              <MemberLine
                key={member.uid}
                member={member}
                roles={rolesIn(at.kind)}
                onRole={(role) => change.mutate({ member, role })}
                onRemove={() => remove.mutate(member)}
              />
            ))}
          </ul>
        )}
      </section>
      <Invitations at={at} />
      <p className="text-sm">
        <Link
          to={PATHS.audit}
          search={(search) => ({ ...search, org: nameOf(at) })}
          className="link"
        >
          Who changed what
        </Link>
      </p>
    </>
  )
}

function MemberLine(props: {
  member: Member
  roles: readonly Role[]
  onRole: (role: Role) => void
  onRemove: () => void
}) {
  const { member, roles, onRole, onRemove } = props
  const { data: me } = useMe()
  const line = useRef<HTMLLIElement>(null)
  const isMe = me?.uid === member.uid
  return (
    <li ref={line} tabIndex={-1} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 grow basis-full sm:basis-0">
        <p className="font-medium">
          <bdi className="wrap-anywhere">{member.name || member.email}</bdi>
          {isMe && <span className="font-normal text-soft"> (you)</span>}
        </p>
        <p className="number text-sm wrap-anywhere text-soft">
          {member.name !== '' && `${member.email} · `}
          since {date(member.datetime_created)}
        </p>
      </div>
      {member.is_suspended && <span className="chip">Suspended</span>}
      <select
        aria-label={`Role of ${member.email}`}
        className="h-9 w-28 rounded-lg border border-edge bg-panel px-2"
        value={member.role}
        onChange={({ target }) => onRole(target.value as Role)}
      >
        {roles.map((role) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
      <div className="min-w-20">
        <ConfirmButton
          label={isMe ? 'Leave' : 'Remove'}
          full={isMe ? 'Leave' : `Remove ${member.email}`}
          question={
            isMe
              ? 'You lose access, and your API keys for it stop working.'
              : 'They lose access, and their API keys for it stop working.'
          }
          sure={isMe ? 'Leave now' : 'Remove now'}
          line={line}
          onConfirm={onRemove}
        />
      </div>
    </li>
  )
}

function Invitations({ at }: { at: Organization }) {
  const client = useQueryClient()
  const queryKey = ['invitations', nameOf(at)]
  const again = () => client.invalidateQueries({ queryKey })
  const invitations = useQuery({ queryKey, queryFn: () => people.invitations(at) })
  const withdraw = useMutation({
    mutationFn: (invitation: Invitation) => people.withdraw(at, invitation),
    onSettled: again,
  })
  return (
    <section aria-labelledby="invitations" className="space-y-3">
      <h2 id="invitations">Invitations</h2>
      <InviteForm at={at} onInvited={again} />
      {withdraw.error !== null && <Failure error={withdraw.error} />}
      <Progress query={invitations} />
      {invitations.data !== undefined && invitations.data.length > 0 && (
        <ul className="panel divide-y divide-line">
          {invitations.data.map((invitation) => (
            <InvitationLine
              key={invitation.invitation_id}
              invitation={invitation}
              onWithdraw={() => withdraw.mutate(invitation)}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

function InvitationLine(props: { invitation: Invitation; onWithdraw: () => void }) {
  const { email, role, state, datetime_expires } = props.invitation
  const line = useRef<HTMLLIElement>(null)
  const end = `${state === 'open' ? 'works until' : 'expired on'} ${date(datetime_expires)}`
  return (
    <li ref={line} tabIndex={-1} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 grow">
        <p className="font-medium">
          <bdi className="wrap-anywhere">{email}</bdi>
        </p>
        <p className="number text-sm text-soft">
          {role} · {end}
        </p>
      </div>
      <ConfirmButton
        label="Withdraw"
        full={`Withdraw the invitation of ${email}`}
        question="The link stops working."
        sure="Withdraw now"
        line={line}
        onConfirm={props.onWithdraw}
      />
    </li>
  )
}
