/** The operator's view: every publisher, merchant and person of the network. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type NetworkMerchant, type NetworkPublisher, type NetworkUser } from '../api.ts'
import { cents, count, date } from '../format.ts'
import { useMe } from '../session.ts'
import type { MoneyColumn } from '../ui/money-table.tsx'
import { MoneyTable } from '../ui/money-table.tsx'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { Title } from '../ui/title.tsx'
import { Debts, HeldOrders, Payouts } from './network-money.tsx'

type Kind = 'publishers' | 'merchants' | 'users'

export function NetworkPage() {
  const { data: me } = useMe()
  const role = me?.memberships.find(({ organization }) => organization.kind === 'network')?.role
  if (role === undefined) {
    return (
      <EmptyState title="Only for the operator" isPage>
        This page is for people who run the network. Ask an administrator for a role in it.
      </EmptyState>
    )
  }
  const canChange = role === 'admin'
  return (
    <div className="space-y-6">
      <Title>Network</Title>
      <HeldOrders />
      <Debts />
      <Payouts canChange={canChange} />
      <List
        kind="publishers"
        title="Publishers"
        columns={PUBLISHER_COLUMNS}
        idOf={(one) => one.pub_id}
        nameOf={(one) => one.name}
        canChange={canChange}
        read={api.networkPublishers}
        command="souk publisher list"
      />
      <List
        kind="merchants"
        title="Merchants"
        columns={MERCHANT_COLUMNS}
        idOf={(one) => one.merch_id}
        nameOf={(one) => one.name}
        canChange={canChange}
        read={api.networkMerchants}
        command="souk merchant list"
      />
      <List
        kind="users"
        title="People"
        columns={USER_COLUMNS}
        idOf={(one) => one.uid}
        nameOf={(one) => one.email}
        canChange={canChange}
        read={api.networkUsers}
        command="souk user list"
      />
    </div>
  )
}

function List<Row extends { readonly is_suspended: boolean }>(props: {
  readonly kind: Kind
  readonly title: string
  readonly columns: readonly MoneyColumn<Row>[]
  readonly idOf: (row: Row) => number
  readonly nameOf: (row: Row) => string
  readonly canChange: boolean
  readonly read: () => Promise<readonly Row[]>
  /** The command that shows the same. */
  readonly command: string
}) {
  const { kind, title, columns, idOf, nameOf, canChange, read, command } = props
  const client = useQueryClient()
  const list = useQuery({ queryKey: ['network', kind], queryFn: read })
  const change = useMutation({
    mutationFn: (row: Row) => api.suspend(kind, idOf(row), !row.is_suspended),
    onSettled: () => client.invalidateQueries({ queryKey: ['network', kind] }),
  })
  const state: MoneyColumn<Row> = {
    head: 'State',
    cell: (row) => (
      <span className="inline-flex items-center gap-2">
        <span
          className={`chip ${row.is_suspended ? 'bg-bad-tint text-bad' : 'bg-tint text-accent'}`}
        >
          {row.is_suspended ? 'Suspended' : 'Active'}
        </span>
        {canChange && (
          <button
            type="button"
            className="button button-small"
            aria-label={`${row.is_suspended ? 'Resume' : 'Suspend'} ${nameOf(row)}`}
            disabled={change.isPending}
            onClick={() => change.mutate(row)}
          >
            {row.is_suspended ? 'Resume' : 'Suspend'}
          </button>
        )}
      </span>
    ),
  }
  return (
    <div className="space-y-2">
      <Progress query={list} />
      {change.error !== null && <Failure error={change.error} />}
      {list.data !== undefined && (
        <MoneyTable
          id={kind}
          title={`${title} (${count(list.data.length)})`}
          rows={list.data}
          keyOf={idOf}
          name={{ head: 'Name', cell: (row) => <bdi>{nameOf(row)}</bdi> }}
          columns={[...columns, state]}
        />
      )}
      <p className="text-xs text-soft">
        In the shell: <code className="font-mono">{command}</code>
      </p>
    </div>
  )
}

const lastActive = (at: string | null): string => (at === null ? 'never' : date(at))

const PUBLISHER_COLUMNS: readonly MoneyColumn<NetworkPublisher>[] = [
  { head: 'Earned, 30 days', cell: (one) => cents(one.earnings_30d) },
  { head: 'Clicks', cell: (one) => count(one.clicks_30d) },
  { head: 'Share', cell: (one) => `${Number((one.share * 100).toFixed(2))} %` },
  { head: 'Last active', cell: (one) => lastActive(one.last_active) },
]

const MERCHANT_COLUMNS: readonly MoneyColumn<NetworkMerchant>[] = [
  { head: 'Cost, 30 days', cell: (one) => cents(one.cost_30d) },
  { head: 'Clicks', cell: (one) => count(one.clicks_30d) },
  {
    head: 'Feed',
    cell: (one) => (one.feed_error === null ? lastActive(one.feed_imported_at) : 'failed'),
  },
  { head: 'Last active', cell: (one) => lastActive(one.last_active) },
]

const USER_COLUMNS: readonly MoneyColumn<NetworkUser>[] = [
  {
    head: 'Roles',
    cell: (one) =>
      one.network_role ??
      (one.memberships.length === 0
        ? 'none'
        : one.memberships
            .map(({ role, organization }) => `${role} of ${organization.kind}`)
            .join(', ')),
  },
  { head: 'Last active', cell: (one) => lastActive(one.datetime_last_active) },
]
