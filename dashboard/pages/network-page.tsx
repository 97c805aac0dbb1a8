/** The operator's first page: figures of the network, and everything that needs attention. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { cents, count } from '../format.ts'
import { type Ageing, network } from '../network-api.ts'
import { useCan } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { sumOf } from '../table/column.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { CardsSkeleton } from '../ui/skeleton.tsx'
import { Sums } from '../ui/sums.tsx'
import { useMerchants, usePublishers } from './network-names.ts'

/** An open page shows new matters without a reload. */
const REFRESH_MS = 60_000

export function NetworkPage() {
  return (
    <div className="space-y-6">
      <PageHead title="Network" purpose="What needs your attention, and the last 30 days." />
      <Attention />
      <Figures />
      <CommandLine
        commands={[
          { does: 'Check the health of the network', line: 'souk doctor' },
          { does: 'List held orders', line: 'souk orders held' },
          { does: 'List what merchants owe', line: 'souk ageing' },
        ]}
      />
    </div>
  )
}

/** What a row says about its data: how many matters, and which. */
interface Found {
  readonly count: number
  readonly detail: string
}

/** Whether a merchant owes something for more than 30 days. */
export const isLate = (one: Ageing): boolean =>
  [one.up_to_60_days_usd, one.up_to_90_days_usd, one.over_90_days_usd].some(
    (amount) => Number(amount) > 0,
  )

function Attention() {
  return (
    <section aria-labelledby="attention" className="space-y-3">
      <h2 id="attention">Needs attention</h2>
      <ul className="panel divide-y divide-line">
        <OrderMatter />
        <MoneyMatters />
        <HealthMatters />
        <FeedMatter />
        <DifferenceMatter />
      </ul>
    </section>
  )
}

const matter = <T,>(name: string, queryFn: () => Promise<T>) => ({
  ...{ queryKey: ['network', name], queryFn, refetchInterval: REFRESH_MS },
})

function OrderMatter() {
  const enabled = useCan('orders.review')
  const held = useQuery({ ...matter('held', network.heldOrders), enabled })
  return (
    <Matter
      name="Held orders"
      calm="No order waits for a decision."
      to={PATHS.networkApprovals}
      query={held}
      find={(all) => named(all, (one) => `${one.checkout_id} of ${one.value} ${one.currency}`)}
    />
  )
}

function MoneyMatters() {
  const ageing = useQuery(matter('ageing', network.ageing))
  const payouts = useQuery(matter('payouts', network.payouts))
  return (
    <>
      <Matter
        name="Late merchants"
        calm="No merchant owes for more than 30 days."
        to={PATHS.networkPayments}
        query={ageing}
        find={(all) =>
          named(all.filter(isLate), (one) => `${one.merchant} owes ${cents(one.owed_usd)}`)
        }
      />
      <Matter
        name="Payouts due"
        calm="Every payout is paid."
        to={PATHS.networkPayments}
        view="payouts"
        query={payouts}
        find={(all) =>
          named(
            all.filter(({ state }) => state === 'due'),
            (one) => `${one.publisher_name} ${cents(one.amount_usd)}`,
          )
        }
      />
    </>
  )
}

function HealthMatters() {
  const health = useQuery(matter('health', network.health))
  const jobs = useQuery(matter('jobs', network.jobs))
  return (
    <>
      <Matter
        name="Failed checks"
        calm="Every health check is good."
        to={PATHS.networkHealth}
        query={health}
        find={({ checks }) =>
          named(
            checks.filter(({ is_ok }) => !is_ok),
            ({ name }) => name,
          )
        }
      />
      <Matter
        name="Failed jobs"
        calm="Every scheduled job succeeded."
        to={PATHS.networkJobs}
        query={jobs}
        find={(all) =>
          named(
            all.filter(({ error }) => error !== null),
            ({ job }) => job.replaceAll('_', ' '),
          )
        }
      />
    </>
  )
}

function FeedMatter() {
  return (
    <Matter
      name="Failed feeds"
      calm="Every feed was imported."
      to={PATHS.networkFeeds}
      query={useMerchants()}
      find={(all) =>
        named(
          all.filter(({ feed_error }) => feed_error !== null),
          ({ name }) => name,
        )
      }
    />
  )
}

function DifferenceMatter() {
  const last = useQuery(matter('last reconciliation', () => network.reconciliations(null)))
  return (
    <Matter
      name="Differences"
      calm="The last reconciliation found no difference."
      to={PATHS.networkReconciliation}
      query={last}
      find={({ rows: [latest] }) => ({
        count: latest?.differences ?? 0,
        detail: 'Figures that differ from the event log.',
      })}
    />
  )
}

/** As many names as fit on a line. */
const NAMED_MAX = 3

function named<T>(all: readonly T[], nameOf: (one: T) => string): Found {
  const names = all.slice(0, NAMED_MAX).map(nameOf).join(', ')
  const rest = all.length - NAMED_MAX
  return { count: all.length, detail: rest > 0 ? `${names} and ${count(rest)} more` : names }
}

function Matter<T>(props: {
  readonly name: string
  /** Shown when there is nothing to do. */
  readonly calm: string
  readonly to: (typeof PATHS)[keyof typeof PATHS]
  readonly view?: string
  readonly query: UseQueryResult<T>
  readonly find: (data: T) => Found
}) {
  const { name, calm, to, view, query, find } = props
  const found = query.data === undefined ? null : find(query.data)
  const isBad = found !== null && found.count > 0
  return (
    <li className="flex items-center gap-3 px-4 py-2.5 text-sm">
      <span className={`size-4 ${isBad ? 'text-second' : 'text-accent'}`}>
        {found !== null && <Icon name={isBad ? 'alert' : 'check'} />}
      </span>
      <div className="min-w-0 grow sm:flex sm:items-baseline sm:gap-4">
        <Link
          to={to}
          search={(search) => ({ ...search, view })}
          className="link shrink-0 font-medium sm:w-36"
        >
          {name}
        </Link>
        {query.failureReason !== null && found === null ? (
          <Failure error={query.failureReason} />
        ) : (
          <p className="min-w-0 truncate text-soft">
            <bdi>{found === null ? 'Loading …' : isBad ? found.detail : calm}</bdi>
          </p>
        )}
      </div>
      {isBad && (
        <span className="number text-base leading-5 font-semibold">{count(found.count)}</span>
      )}
    </li>
  )
}

function Figures() {
  const publishers = usePublishers()
  const merchants = useMerchants()
  const [pubs, shops] = [publishers.data, merchants.data]
  const error = publishers.failureReason ?? merchants.failureReason
  if (error !== null) return <Failure error={error} isGoingOn />
  if (pubs === undefined || shops === undefined) return <CardsSkeleton />
  const suspended = [...pubs, ...shops].filter(({ is_suspended }) => is_suspended).length
  const earned = sumOf(pubs, { id: '', head: '', value: (one) => one.earnings_30d })
  const cost = sumOf(shops, { id: '', head: '', value: (one) => one.cost_30d })
  const clicks = shops.reduce((sum, one) => sum + one.clicks_30d, 0)
  return (
    <section aria-label="Last 30 days">
      <Sums
        sums={[
          { name: 'Cost of merchants', value: cents(cost), note: 'last 30 days' },
          { name: 'Earned by publishers', value: cents(earned), note: 'last 30 days' },
          { name: 'Paid clicks', value: count(clicks), note: 'last 30 days' },
          {
            name: 'Organizations',
            value: count(pubs.length + shops.length),
            note: `${count(pubs.length)} publishers, ${count(shops.length)} merchants, ${count(suspended)} suspended`,
          },
        ]}
      />
    </section>
  )
}
