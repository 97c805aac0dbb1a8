/** A merchant's overview: costs, campaigns, product feed, and the amount owed. */
import { useQuery } from '@tanstack/react-query'
import { api, type MerchantOverview } from '../api.ts'
import { cents, count, date, time } from '../format.ts'
import { useMerchant } from '../organization.ts'
import { useRange } from '../range.ts'
import { ClickReasons } from '../ui/click-reasons.tsx'
import { DayChart } from '../ui/day-chart.tsx'
import { type MoneyColumn, MoneyTable } from '../ui/money-table.tsx'
import { Progress } from '../ui/notice.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { Sums } from '../ui/sums.tsx'
import { AccountList } from './account-list.tsx'
import { CampaignList } from './campaign-list.tsx'
import { PerformanceSection } from './performance-section.tsx'
import { RefusedList } from './refused-list.tsx'

/** Computing everything a merchant ever owed may take seconds. */
const REFRESH_MS = 30_000

export function MerchantPage() {
  const { merch_id: merchId, name } = useMerchant()
  const [range] = useRange()
  const overview = useQuery({
    queryKey: ['merchant', merchId, range],
    queryFn: () => api.merchantOverview(merchId, range),
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before, // Figures of the previous range, shown as outdated.
  })
  return (
    <div className="space-y-5">
      <RangeTitle name={name} />
      <Progress query={overview} />
      {overview.data !== undefined && (
        <Figures overview={overview.data} isOfOtherDays={overview.isPlaceholderData} />
      )}
      <PerformanceSection merchId={merchId} range={range} />
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
            value: cents(totals.cost),
            note: 'after reversals and returns',
          },
          { name: 'Clicks', value: count(totals.clicks), note: 'readers sent to your shop' },
          { name: 'Sales', value: count(totals.sales), note: 'orders attributed to a smart link' },
          {
            name: 'Revenue',
            value: cents(totals.revenue),
            note: timesCost(totals),
          },
        ]}
      />
      <DayChart label="Cost" days={days} figure="cost" isMoney />
      {clicks.length > 0 && (
        <section aria-labelledby="clicks" className="space-y-3">
          <h2 id="clicks">Clicks</h2>
          <p className="text-sm text-soft">Only valid clicks can cost you anything.</p>
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
  if (Number(cost) <= 0) return 'from these sales'
  return `${(Number(revenue) / Number(cost)).toFixed(1)} times the cost`
}

/**
 * Offers of an old feed do not bid, so the feed matters as much as a campaign. Campaigns still bid
 * for links to pages of their merchant that are in no feed (auction/decide.ts).
 */
function Feed({ feed }: { feed: MerchantOverview['feed'] }) {
  const { imported_at: at, is_stale: isStale, url, error } = feed
  const age =
    at === null
      ? 'No product feed has been imported yet. Your campaigns bid only for links to your own pages.'
      : `Product feed of ${date(at)}, ${time(at)} UTC${isStale ? '. It is too old, so its products do not bid.' : '.'}`
  return (
    <section aria-label="Product feed" className="panel px-4 py-3 text-sm">
      <p className={at !== null && isStale ? 'text-bad' : ''}>{age}</p>
      {url !== null && <p className="text-soft">Fetched every six hours from {url}</p>}
      {error !== null && <p className="mt-1 text-bad">Problem at the last import: {error}</p>}
    </section>
  )
}

/** The account balance, independent of the chosen days. */
function Owed({ overview }: { overview: MerchantOverview }) {
  return (
    <section aria-labelledby="account" className="space-y-3">
      <h2 id="account">Account</h2>
      <Sums
        sums={[
          {
            name: 'Owed',
            value: cents(overview.owed_usd),
            note: 'due, but not paid yet',
          },
          {
            name: 'Pending',
            value: cents(overview.not_due_usd),
            note: 'today’s clicks, and orders that can still be cancelled',
          },
          {
            name: 'Credit',
            value: cents(overview.credit_usd),
            note: 'credit towards your next bill',
          },
        ]}
      />
    </section>
  )
}
