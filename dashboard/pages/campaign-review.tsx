/** The last step before a campaign is created: its terms in words, and what to think about. */
import type { CampaignBody } from '../api.ts'
import { date, dollars, percent } from '../format.ts'
import { type Fact, known } from '../ui/facts.tsx'

export function CampaignReview({ body }: { body: CampaignBody }) {
  const warnings = warningsOf(body)
  return (
    <div className="space-y-4">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        {factsOf(body).map(([name, value]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="text-soft">{name}</dt>
            <dd className="number">{value}</dd>
          </div>
        ))}
      </dl>
      {warnings.length > 0 && (
        <ul className="list-disc space-y-1 rounded-lg bg-second-tint py-2 pr-3 pl-7 text-sm">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** An amount as typed may be no number: the service says so. */
const money = (text: string): string =>
  /^\d{1,12}(?:\.\d{1,6})?$/.test(text) ? dollars(text) : text

function factsOf(body: CampaignBody): Fact[] {
  const { bid, exclusive_bid, roas, rate, payment, daily_budget, budget, start, end } = body
  return [
    ...known('You pay', bid == null ? null : `up to ${money(bid)} for a click`),
    ...known(
      'On exclusive links',
      exclusive_bid == null ? null : `${money(exclusive_bid)} for a click`,
    ),
    ...known('You want', roas == null ? null : `${roas} in revenue per $1`),
    ...known('You pay', rate == null ? null : `${percent(rate)} of each order`),
    ...known('You pay', payment == null ? null : `${money(payment)} for each purchase`),
    ['Per day', daily_budget == null ? 'no limit' : `at most ${money(daily_budget)}`],
    ['In total', budget == null ? 'no limit' : `at most ${money(budget)}`],
    ['Runs', daysOf(start ?? null, end ?? null)],
    ['Countries', listOf(body.country)],
    ['Devices', listOf(body.device)],
    ...known('Only publishers', body.allow_publisher?.join(', ') || null),
    ...known('Never publishers', body.block_publisher?.join(', ') || null),
  ]
}

const listOf = (values: readonly string[] | null | undefined): string => values?.join(', ') || 'all'

function daysOf(start: string | null, end: string | null): string {
  const day = (text: string, msBefore: number) => {
    const ms = Date.parse(text)
    // The service says what is wrong with a text that is no day.
    return Number.isNaN(ms) ? text : date(new Date(ms - msBefore).toISOString())
  }
  const from = start === null ? 'from now on' : `from ${day(start, 0)}`
  // The end is the first moment after the last day.
  return end === null ? `${from}, without an end` : `${from} until ${day(end, 1)}`
}

function warningsOf({ bid, daily_budget, budget, model }: CampaignBody): string[] {
  const perDay = Number(daily_budget ?? Number.NaN)
  return [
    ...(daily_budget == null && budget == null
      ? ['There is no budget: costs have no limit until you set one or pause the campaign.']
      : []),
    ...(model === 'cpc' && perDay < Number(bid) * FEW_CLICKS
      ? [`The daily budget pays for fewer than ${FEW_CLICKS} clicks, so it may be used up early.`]
      : []),
    ...(budget != null && Number(budget) < perDay
      ? ['The total budget is smaller than the daily one, so it ends within a day.']
      : []),
  ]
}

/** Pacing moves by whole clicks: below this, a day's budget cannot follow the traffic. */
const FEW_CLICKS = 20
