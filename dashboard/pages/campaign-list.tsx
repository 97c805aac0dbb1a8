/** Lists a merchant's campaigns: terms, state, and budget spent. */
import { Link } from '@tanstack/react-router'
import type { MerchantOverview } from '../api.ts'
import { cents, date, dollars, percent } from '../format.ts'
import { PATHS } from '../paths.ts'
import { EmptyState } from '../ui/notice.tsx'

type Campaign = MerchantOverview['campaigns'][number]

export function CampaignList({ campaigns }: { campaigns: readonly Campaign[] }) {
  if (campaigns.length === 0) return <NoCampaign />
  return (
    <section aria-labelledby="campaigns" className="panel">
      <h2 id="campaigns" className="px-4 pt-4 pb-2">
        Campaigns
      </h2>
      <ul className="divide-y divide-line">
        {campaigns.map((campaign) => (
          <CampaignLine key={campaign.campaign_id} campaign={campaign} />
        ))}
      </ul>
    </section>
  )
}

function CampaignLine({ campaign }: { campaign: Campaign }) {
  const { campaign_id: id, daily_budget, spent_today, budget, spent } = campaign
  return (
    <li className="grid grid-cols-1 gap-x-6 gap-y-3 px-4 py-3 sm:grid-cols-[1fr_12rem_12rem] lg:grid-cols-[1fr_16rem_16rem]">
      <div>
        <p className="font-medium">
          Campaign {id}: {termsOf(campaign)}
        </p>
        <p className="mt-1">
          <Standing campaign={campaign} />
        </p>
      </div>
      <Budget name="Today" spent={spent_today} of={daily_budget} />
      <Budget name="Total" spent={spent} of={budget} />
    </li>
  )
}

function termsOf({ bid, exclusive_bid: exclusive, rate, payment }: Campaign): string {
  if (bid !== null) {
    const only = exclusive === null ? '' : `, ${dollars(exclusive)} on exclusive links`
    return `up to ${dollars(bid)} a click${only}`
  }
  if (rate !== null) return `${percent(rate)} of each order`
  return `${dollars(payment ?? '0')} a purchase`
}

function Standing({ campaign }: { campaign: Campaign }) {
  const isRunning = campaign.standing === 'running'
  return (
    <span className={`chip ${isRunning ? 'bg-tint text-accent' : 'bg-bad-tint text-bad'}`}>
      {standingWords(campaign)}
    </span>
  )
}

function standingWords({ standing, start, end }: Campaign): string {
  switch (standing) {
    case 'running':
      return end === null ? 'Running' : `Running until ${date(end)}`
    case 'paused':
      return 'Paused'
    case 'not_begun':
      return `Starts on ${date(start ?? '')}`
    case 'ended':
      return `Ended on ${date(end ?? '')}`
    case 'budget_spent':
      return 'Budget spent'
    case 'daily_budget_spent':
      return 'Today’s budget spent'
    case 'orders_awaited':
      return 'Budget reserved for expected orders'
  }
}

function Budget(props: { name: string; spent: string; of: string | null }) {
  const { name, spent, of } = props
  return (
    <div className="text-sm">
      <p className="number flex flex-wrap justify-between gap-x-3">
        <span className="text-soft">{name}</span>
        <span>
          {cents(spent)}
          <span className="text-soft">{of === null ? ', no limit' : ` of ${dollars(of)}`}</span>
        </span>
      </p>
      {of !== null && (
        <meter
          aria-label={`${name}: spent of the budget`}
          className="score mt-1.5 h-2 w-full"
          min={0}
          max={Number(of)}
          value={Math.max(0, Number(spent))}
        />
      )}
    </div>
  )
}

function NoCampaign() {
  return (
    <EmptyState title="No campaign yet">
      A campaign says what a click or an order is worth to you.{' '}
      <Link to={PATHS.campaigns} className="link">
        Create one
      </Link>
      .
    </EmptyState>
  )
}
