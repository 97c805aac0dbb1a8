/** A merchant's overview: costs, campaigns, product feed, and the amount owed. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, type MerchantOverview } from '../api.ts'
import { cents, count, date, time } from '../format.ts'
import { useMerchant } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { useRange } from '../range.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { ClickReasons } from '../ui/click-reasons.tsx'
import { DayChart } from '../ui/day-chart.tsx'
import { Progress } from '../ui/notice.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { Sums } from '../ui/sums.tsx'
import { CampaignList } from './campaign-list.tsx'
import { SetupNote } from './merchant-setup-page.tsx'

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
      <SetupNote merchId={merchId} />
      <Progress query={overview} />
      {overview.data !== undefined && (
        <Figures overview={overview.data} isOfOtherDays={overview.isPlaceholderData} />
      )}
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
        <DataTable
          id="merchant-publishers"
          label="Publishers"
          rows={publishers}
          keyOf={(one) => one.pub_id}
          columns={PUBLISHER_COLUMNS}
          sort={{ by: 'cost' }}
        />
      )}
      <Owed overview={props.overview} />
    </div>
  )
}

const PUBLISHER_COLUMNS: readonly Column<MerchantOverview['publishers'][number]>[] = [
  { id: 'publisher', head: 'Publisher', value: (one) => one.publisher_name },
  { id: 'cost', head: 'Cost', kind: 'money', isSum: true, value: (one) => one.cost },
  { id: 'clicks', head: 'Clicks', kind: 'count', isSum: true, value: (one) => one.clicks },
  { id: 'sales', head: 'Sales', kind: 'count', isSum: true, value: (one) => one.sales },
  { id: 'revenue', head: 'Revenue', kind: 'money', isSum: true, value: (one) => one.revenue },
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
      {url !== null && <p className="text-soft wrap-anywhere">From {url}</p>}
      {error !== null && <p className="mt-1 text-bad">Problem at the last import: {error}</p>}
      <Link to={PATHS.merchantFeed} className="link">
        Open the feed
      </Link>
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
          { name: 'Owed now', value: cents(overview.owed_usd), note: 'due, and not paid yet' },
          {
            name: 'Not due yet',
            value: cents(overview.not_due_usd),
            note: 'today’s clicks, and orders that can still be cancelled',
          },
          { name: 'Credit', value: cents(overview.credit_usd), note: 'towards your next bill' },
        ]}
      />
      <Link to={PATHS.merchantAccount} className="link">
        See every entry
      </Link>
    </section>
  )
}
