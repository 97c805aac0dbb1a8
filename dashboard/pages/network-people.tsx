/** Everybody with an account: roles, suspension, lost passwords and second factors. */
import { useMemo, useState } from 'react'
import type { NetworkUser } from '../network-api.ts'
import { useCan } from '../organization.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { CommandLine } from '../ui/command-line.tsx'
import { Progress } from '../ui/notice.tsx'
import { PageHead, ReadOnlyNote } from '../ui/page-head.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { useMerchantNames, usePublisherNames, useUsers } from './network-names.ts'
import { NewUserForm } from './network-new-user.tsx'
import { StateChip } from './network-suspension.tsx'
import { UserDialog } from './network-user.tsx'

export function PeoplePage() {
  const users = useUsers()
  const rolesOf = useRoles()
  const canWrite = useCan('network.write')
  const [open, setOpen] = useState<number | null | undefined>()
  const columns = useMemo(() => columnsOf(rolesOf), [rolesOf])
  const user = users.data?.find(({ uid }) => uid === open)
  const close = () => setOpen(undefined)
  return (
    <div className="space-y-4">
      <PageHead
        title="People"
        purpose="Everybody with an account. Choose one to see roles, suspend the account, or help after a lost password."
      >
        {canWrite && (
          <button type="button" className="button button-main" onClick={() => setOpen(null)}>
            Create user
          </button>
        )}
      </PageHead>
      <ReadOnlyNote permission="network.write" action="change people" />
      {users.data === undefined && users.failureReason === null && <TableSkeleton />}
      {users.failureReason !== null && <Progress query={users} />}
      {users.data !== undefined && (
        <DataTable
          id="network-people"
          label="People"
          isBare
          rows={users.data}
          keyOf={({ uid }) => uid}
          columns={columns}
          sort={{ by: 'email', isAscending: true }}
          onRow={({ uid }) => setOpen(uid)}
        />
      )}
      {open === null && <NewUserForm onClose={close} />}
      {user !== undefined && <UserDialog user={user} roles={rolesOf(user)} onClose={close} />}
      <CommandLine commands={COMMANDS} />
    </div>
  )
}

/** The roles of a user, each with the name of its organization. */
function useRoles(): (user: NetworkUser) => readonly string[] {
  const publisher = usePublisherNames()
  const merchant = useMerchantNames()
  return ({ network_role: role, memberships }) => [
    ...(role === null ? [] : [`${role} of the network`]),
    ...memberships
      .filter(({ organization }) => organization.kind !== 'network')
      .map((one) => {
        const { kind, id } = one.organization
        const name = kind === 'merchant' ? merchant(id ?? 0) : publisher(id ?? 0)
        return `${one.role} of ${name}`
      }),
  ]
}

const columnsOf = (
  rolesOf: (user: NetworkUser) => readonly string[],
): readonly Column<NetworkUser>[] => [
  { id: 'email', head: 'E-mail', value: ({ email }) => email },
  { id: 'name', head: 'Name', value: ({ name }) => name },
  { id: 'roles', head: 'Roles', value: (user) => rolesOf(user).join(', ') || 'none' },
  {
    ...{ id: 'state', head: 'State' },
    value: (user) => (user.is_suspended ? 'Suspended' : 'Active'),
    cell: (user) => <StateChip isSuspended={user.is_suspended} />,
  },
  {
    ...{ id: 'active', head: 'Last active', kind: 'day' },
    value: (user) => user.datetime_last_active,
  },
  { id: 'id', head: 'ID', value: ({ uid }) => String(uid), isHidden: true },
]

const COMMANDS = [
  { does: 'List users', line: 'souk user list' },
  { does: 'Create a user', line: 'souk user create --email <E> --password <P>' },
  { does: 'Get a link for a new password', line: 'souk user reset-password --email <E>' },
  { does: 'Remove lost second factors', line: 'souk user reset-second-factor --email <E>' },
] as const
