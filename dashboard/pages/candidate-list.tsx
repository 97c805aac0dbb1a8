/**
 * Lists the candidates of an auction, best first, with their numbers and the reason of each loss.
 */
import type { Receipt } from '../api.ts'
import { dollars, microDollars, percent } from '../format.ts'
import { type Fact, Facts, known } from '../ui/facts.tsx'
import { Parts } from '../ui/parts.tsx'

type Explanation = NonNullable<Receipt['explanation']>
type Candidate = Explanation['candidates'][number]

const MODELS: Readonly<Record<string, string>> = {
  cpc: 'pays per click',
  cpa: 'pays a commission',
  epp: 'pays per purchase',
}

export function CandidateList(props: { receipt: Receipt; explanation: Explanation }) {
  const { receipt, explanation } = props
  const { candidates } = explanation
  if (candidates.length === 0) return null // The outcome names the reason.
  const hasRanges = candidates.some(({ value_range }) => value_range !== null)
  // Without the winner's score, which may be hidden, there is nothing to compare with.
  const isCompared = candidates.every(({ won, value_range }) => !won || value_range === null)
  const best = Math.max(...candidates.map(({ score_micros }) => score_micros ?? 0), 0)
  return (
    <section aria-labelledby="candidates">
      <h2 id="candidates" className="mb-2">
        {candidates.length === 1 ? 'One candidate' : `${candidates.length} candidates`}
      </h2>
      {hasRanges && (
        <p className="mb-2 max-w-prose text-sm text-soft">
          A bid that did not set the price is shown as a range, because an exact bid could be used
          as a floor that takes all of the merchant’s gain. Price and replay use the exact bids.
        </p>
      )}
      <ol className="panel divide-y divide-line">
        {candidates.map((candidate) => (
          <CandidateLine
            key={`${candidate.campaign_id} ${candidate.offer_id}`}
            candidate={candidate}
            receipt={receipt}
            best={isCompared ? best : null}
          />
        ))}
      </ol>
    </section>
  )
}

function CandidateLine(props: { candidate: Candidate; receipt: Receipt; best: number | null }) {
  const { candidate, receipt, best } = props
  const { merch_id, offer_id, campaign_id, model, won, loss } = candidate
  const merchant = receipt.merchants.find((one) => one.merch_id === merch_id)?.name
  const offer = receipt.offers.find((one) => one.offer_id === offer_id)
  return (
    <li
      className={`px-4 py-4 first:rounded-t-[inherit] last:rounded-b-[inherit] ${won ? 'bg-tint' : ''}`}
    >
      <div className="flex items-baseline justify-between gap-3">
        <h3 className="font-semibold">
          <bdi>{merchant ?? `Merchant ${merch_id}`}</bdi>
        </h3>
        <span className={`chip ${won ? 'bg-accent text-on-accent' : ''}`}>
          {won ? 'Won' : (loss?.name ?? 'Lost')}
        </span>
      </div>
      <p className="text-sm text-soft">
        <Parts of={[`Campaign ${campaign_id}, ${MODELS[model] ?? model}`, offer?.title ?? null]} />
      </p>
      {candidate.score_micros !== null && <Score candidate={candidate} best={best} />}
      {loss !== null && <p className="mt-2 max-w-prose text-sm">{loss.why}</p>}
      <Numbers candidate={candidate} />
    </li>
  )
}

/** The score as a share of the best score. */
function Score({ candidate, best }: { candidate: Candidate; best: number | null }) {
  const score = candidate.score_micros ?? 0
  return (
    <div className="mt-2 flex items-center gap-3 text-sm">
      {best !== null && (
        <meter
          className="score h-2 w-40 max-w-[40vw]"
          min={0}
          max={best || 1}
          value={score}
          aria-label="Score against the best"
        />
      )}
      <span className="number">score {microDollars(score)}</span>
    </div>
  )
}

function Numbers({ candidate }: { candidate: Candidate }) {
  const { bid, orders_per_click, value_per_order, value_micros, weight, reserve } = candidate
  const { value_range: range } = candidate
  const facts: Fact[] = [
    ...known('Bid', bid === null ? null : dollars(bid)),
    ...known(
      'Value of a click (range)',
      range && `${dollars(range.from)} to under ${dollars(range.below)}`,
    ),
    ...known('Value of a click', value_micros === null ? null : microDollars(value_micros)),
    ...known('Orders per click', orders_per_click === null ? null : percent(orders_per_click, 2)),
    ...known('Value per order', value_per_order === null ? null : dollars(value_per_order)),
    ...known('Weight', weight === null ? null : weight.toFixed(4)),
    ...known('Reader pays', candidate.price === null ? 'unknown' : dollars(candidate.price)),
    ...known('Match', percent(candidate.confidence)),
    ...known('Floor', reserve === null ? null : dollars(reserve)),
  ]
  return <Facts facts={facts} />
}
