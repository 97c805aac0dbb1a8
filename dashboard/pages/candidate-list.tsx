/** The candidates of an auction as a picture: bids or their ranges, the floor and the price. */
import { Link } from '@tanstack/react-router'
import type { Receipt } from '../api.ts'
import { dollars, microDollars, percent } from '../format.ts'
import { PATHS } from '../paths.ts'
import { type Fact, Facts, known } from '../ui/facts.tsx'
import { Parts } from '../ui/parts.tsx'
import { reasonName, remedy } from './remedy.ts'

type Explanation = NonNullable<Receipt['explanation']>
type Candidate = Explanation['candidates'][number]

const MODELS: Readonly<Record<string, string>> = {
  cpc: 'pays per click',
  cpa: 'pays a commission',
  epp: 'pays per purchase',
}

const MICROS = 1_000_000
/** Room to the right of the highest bid. */
const ROOM = 1.08

export function CandidateList(props: { receipt: Receipt; explanation: Explanation }) {
  const { receipt, explanation } = props
  const { candidates, outcome } = explanation
  if (candidates.length === 0) return null // The outcome names the reason.
  const hasRanges = candidates.some(({ value_range }) => value_range !== null)
  const price = Number(outcome.price ?? 0)
  const most = Math.max(price, ...candidates.map((one) => worth(one).to), 0.01) * ROOM
  return (
    <section aria-labelledby="candidates">
      <h2 id="candidates" className="mb-2">
        {candidates.length === 1 ? 'One candidate' : `${candidates.length} candidates`}
      </h2>
      <p className="mb-2 flex flex-wrap gap-x-5 gap-y-1 text-xs text-soft" aria-hidden="true">
        <Key
          className="h-2.5 w-5 rounded-sm bg-accent"
          label="what a click is worth to a merchant"
        />
        <Key className="h-3.5 w-0.5 bg-second" label="lowest price that applied" />
        {price > 0 && <Key className="h-3.5 w-0.5 bg-ink" label="price that is paid" />}
      </p>
      <ol className="panel divide-y divide-line">
        {candidates.map((candidate) => (
          <CandidateLine
            key={`${candidate.campaign_id} ${candidate.offer_id}`}
            {...{ candidate, receipt, most, price }}
          />
        ))}
      </ol>
      {hasRanges && (
        <p className="mt-2 max-w-prose text-sm text-soft">
          A bid that did not set the price is shown as a range, because an exact bid could be used
          as a floor that takes all of the merchant’s gain. Price and replay use the exact bids.
        </p>
      )}
    </section>
  )
}

function Key({ className, label }: { className: string; label: string }) {
  return (
    <span className="flex items-center gap-1.5">
      <span className={`inline-block ${className}`} />
      {label}
    </span>
  )
}

/** In dollars a click: one value, or the ends of its range. */
function worth({ value_range: range, value_micros: micros, bid }: Candidate) {
  if (range !== null) return { from: Number(range.from), to: Number(range.below) }
  const value = micros === null ? Number(bid ?? 0) : micros / MICROS
  return { from: value, to: value }
}

interface LineProps {
  readonly candidate: Candidate
  readonly receipt: Receipt
  /** The right end of the price line. */
  readonly most: number
  readonly price: number
}

function CandidateLine(props: LineProps) {
  const { candidate, receipt } = props
  const { merch_id, offer_id, campaign_id, model, won, loss } = candidate
  const merchant = receipt.merchants.find((one) => one.merch_id === merch_id)?.name
  const offer = receipt.offers.find((one) => one.offer_id === offer_id)
  const advice = loss === null ? null : remedy(loss.word)
  return (
    <li
      className={`space-y-2 px-4 py-3 first:rounded-t-[inherit] last:rounded-b-[inherit] ${won ? 'bg-tint' : ''}`}
    >
      <div className="grid items-center gap-x-4 gap-y-1.5 sm:grid-cols-[14rem_1fr_auto]">
        <h3 className="font-semibold">
          <bdi>{merchant ?? `Merchant ${merch_id}`}</bdi>
        </h3>
        <PriceLine {...props} />
        <span className={`chip justify-self-start ${won ? 'bg-accent text-on-accent' : ''}`}>
          {won ? 'Won' : loss === null ? 'Lost' : lossWords(loss)}
        </span>
      </div>
      <p className="text-sm">{worthWords(candidate)}</p>
      {loss !== null && <p className="max-w-prose text-sm">{loss.why}</p>}
      {advice !== null && (
        <p className="max-w-prose text-sm text-soft">
          {advice}{' '}
          {loss?.word === 'below_floor' || loss?.word === 'price' ? (
            <Link to={PATHS.whatIf} className="link">
              What if
            </Link>
          ) : null}
        </p>
      )}
      <details className="text-sm">
        <summary className="link w-fit">
          All numbers
          <span className="sr-only">
            {' '}
            of <bdi>{merchant ?? `merchant ${merch_id}`}</bdi>
          </span>
        </summary>
        <p className="mt-2 text-soft">
          <Parts
            of={[`Campaign ${campaign_id}, ${MODELS[model] ?? model}`, offer?.title ?? null]}
          />
        </p>
        <Facts facts={factsOf(candidate)} />
      </details>
    </li>
  )
}

const lossWords = ({ word, name }: NonNullable<Candidate['loss']>): string =>
  word === 'outbid' ? 'Lost' : `Lost: ${reasonName(word, name)}`

/** A line from $0 to the highest bid, with the worth of a click, the floor and the price. */
function PriceLine({ candidate, most, price }: LineProps) {
  const { from, to } = worth(candidate)
  const reserve = Number(candidate.reserve ?? 0)
  const at = (value: number) => `${Math.min(100, (value / most) * 100)}%`
  if (to === 0) return <span className="hidden sm:block" />
  return (
    <span aria-hidden="true" className="relative block h-5 min-w-32">
      <span className="absolute inset-x-0 top-1/2 border-t border-line" />
      <span
        className={`absolute top-1/2 h-2.5 min-w-1.5 -translate-y-1/2 rounded-sm ${candidate.won ? 'bg-accent' : 'bg-accent/40'}`}
        style={{ left: at(from), width: at(to - from) }}
      />
      {reserve > 0 && (
        <span className="absolute inset-y-0.5 w-0.5 bg-second" style={{ left: at(reserve) }} />
      )}
      {candidate.won && price > 0 && (
        <span className="absolute inset-y-0 w-0.5 bg-ink" style={{ left: at(price) }} />
      )}
    </span>
  )
}

function worthWords(candidate: Candidate): string {
  const { value_range: range, reserve, model } = candidate
  const { from } = worth(candidate)
  const floor = Number(reserve ?? 0) > 0 ? ` The lowest price is ${dollars(reserve ?? '0')}.` : ''
  const how = model === 'cpc' ? '' : ', on average over the orders that follow'
  if (range !== null) {
    const words = `${dollars(range.from)} to under ${dollars(range.below)}`
    return `A click is worth ${words} to this merchant${how}.${floor}`
  }
  if (from === 0) return `What a click is worth to this merchant is not known.${floor}`
  return `A click is worth ${microDollars(from * MICROS)} to this merchant${how}.${floor}`
}

function factsOf(candidate: Candidate): Fact[] {
  const { bid, orders_per_click, value_per_order, weight, score_micros: score } = candidate
  return [
    ...known('Bid', bid === null ? null : dollars(bid)),
    ...known('Orders per click', orders_per_click === null ? null : percent(orders_per_click, 2)),
    ...known('Value per order', value_per_order === null ? null : dollars(value_per_order)),
    ...known('Weight', weight === null ? null : weight.toFixed(4)),
    ...known('Score', score === null ? null : microDollars(score)),
    ...known('Reader pays', candidate.price === null ? 'unknown' : dollars(candidate.price)),
    ...known('Match', percent(candidate.confidence)),
  ]
}
