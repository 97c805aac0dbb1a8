/** A merchant's own page: what it paid for, whether its campaigns run, what it owes. */
import { useQuery } from '@tanstack/react-query'
import { api, type Merchant, type MerchantOverview } from '../api.ts'
import { count, date, time } from '../format.ts'
import { useRange } from '../range.ts'
import { useChosenMerchant, useMe } from '../session.ts'
import { Amount } from '../ui/amount.tsx'
import { ClickReasons } from '../ui/click-reasons.tsx'
import { DayChart } from '../ui/day-chart.tsx'
import { type MoneyColumn, MoneyTable } from '../ui/money-table.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { Sums } from '../ui/sums.tsx'
import { AccountList } from './account-list.tsx'
import { CampaignList } from './campaign-list.tsx'
import { RefusedList } from './refused-list.tsx'

/** To settle all that a merchant ever owed may take seconds. */
const REFRESH_MS = 30_000

export function MerchantPage() {
  const [merchant] = useChosenMerchant()
  if (merchant === null) return <NoMerchant />
  return <MerchantAccount key={merchant.merch_id} merchant={merchant} />
}

function MerchantAccount({ merchant }: { merchant: Merchant }) {
  const { merch_id: merchId, name } = merchant
  const [range] = useRange()
  const overview = useQuery({
    queryKey: ['merchant', merchId, range],
    queryFn: () => api.merchantOverview(merchId, range),
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before, // Of other days, and told as such.
  })
  return (
    <div className="space-y-5">
      <RangeTitle name={name} />
      <Progress query={overview} />
      {overview.data !== undefined && (
        <Figures overview={overview.data} isOfOtherDays={overview.isPlaceholderData} />
      )}
      <AccountList merchId={merchId} />
      <RefusedList merchId={merchId} />
    </div>
  )
}

function Figures(props: { overview: MerchantOverview; isOfOtherDays: boolean }) {
  const { totals, days, clicks, publishers, campaigns, feed } = props.overview
  return (
    <div
      aria-busy={props.isOfOtherDays}
      className="space-y-5 aria-busy:opacity-40 aria-busy:transition-opacity aria-busy:delay-300"
    >
      <Sums
        sums={[
          {
            name: 'Cost',
            value: <Amount value={totals.cost} room={0} />,
            note: 'less what was taken back',
          },
          { name: 'Clicks', value: count(totals.clicks), note: 'readers who came to you' },
          { name: 'Sales', value: count(totals.sales), note: 'orders that a link led to' },
          {
            name: 'Revenue',
            value: <Amount value={totals.revenue} room={0} />,
            note: timesCost(totals),
          },
        ]}
      />
      <DayChart label="Cost" days={days} figure="cost" isMoney />
      {clicks.length > 0 && (
        <section aria-labelledby="clicks" className="space-y-3">
          <h2 id="clicks">Clicks</h2>
          <p className="text-sm text-soft">Of these, only the valid ones can cost you anything.</p>
          <ClickReasons reasons={clicks} />
        </section>
      )}
      <Feed feed={feed} />
      <CampaignList campaigns={campaigns} />
      {publishers.length > 0 && (
        <MoneyTable
          id="by-publisher"
          title="By publisher"
          rows={publishers}
          keyOf={(one) => one.pub_id}
          name={{ head: 'Publisher', cell: (one) => <bdi>{one.publisher_name}</bdi> }}
          columns={PUBLISHER_COLUMNS}
        />
      )}
      <Owed overview={props.overview} />
    </div>
  )
}

const PUBLISHER_COLUMNS: readonly MoneyColumn<MerchantOverview['publishers'][number]>[] = [
  { head: 'Cost', amount: (one) => one.cost },
  { head: 'Clicks', cell: (one) => count(one.clicks) },
  { head: 'Sales', cell: (one) => count(one.sales) },
  { head: 'Revenue', amount: (one) => one.revenue },
]

function timesCost({ cost, revenue }: MerchantOverview['totals']): string {
  if (Number(cost) <= 0) return 'of these sales'
  return `${(Number(revenue) / Number(cost)).toFixed(1)} times what it cost`
}

/**
 * Offers of an old feed do not bid, so its state is as good as a campaign's. Where a link leads to
 * a page that no feed tells of, its merchant's campaigns bid all the same (auction/decide.ts).
 */
function Feed({ feed }: { feed: MerchantOverview['feed'] }) {
  const { imported_at: at, is_stale: isStale, url, error } = feed
  const age =
    at === null
      ? 'No product feed has been imported yet: your campaigns bid only for links to your own pages.'
      : `Product feed of ${date(at)}, ${time(at)} UTC${isStale ? ': too old, so none of its products bid.' : '.'}`
  return (
    <section aria-label="Product feed" className="panel px-4 py-3 text-sm">
      <p className={at !== null && isStale ? 'text-bad' : ''}>{age}</p>
      {url !== null && <p className="text-soft">Fetched anew every six hours from {url}</p>}
      {error !== null && <p className="mt-1 text-bad">The last try failed: {error}</p>}
    </section>
  )
}

/** What the account comes to, whichever days are chosen. */
function Owed({ overview }: { overview: MerchantOverview }) {
  return (
    <section aria-labelledby="account" className="space-y-3">
      <h2 id="account">Account</h2>
      <Sums
        sums={[
          {
            name: 'Owed',
            value: <Amount value={overview.owed_usd} room={0} />,
            note: 'due, and not paid yet',
          },
          {
            name: 'Not due yet',
            value: <Amount value={overview.not_due_usd} room={0} />,
            note: 'today’s clicks, orders that may be cancelled',
          },
          {
            name: 'Paid ahead',
            value: <Amount value={overview.credit_usd} room={0} />,
            note: 'meets what falls due next',
          },
        ]}
      />
    </section>
  )
}

function NoMerchant() {
  const { data: me } = useMe()
  return (
    <EmptyState title="Your account has no merchant" isPage>
      The operator of this service makes one, or gives you the one there is, with{' '}
      <code>souk merchant update --id ID --user {me?.email}</code>.
    </EmptyState>
  )
}
