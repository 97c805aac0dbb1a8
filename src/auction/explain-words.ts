/** The sentences of an explained auction, with the deciding numbers. */
import { MODEL } from '../events/event.ts'
import { deviceWord } from '../events/user-agent.ts'
import { formatExact, PPM } from '../platform/money/money.ts'
import type { CandidateSet } from './candidate-set.ts'
import type { PriceSetter, ValueRange } from './disclose.ts'
import { type LossName, lossName } from './loss-code.ts'
import { lossReason } from './loss-reason.ts'
import type { Outcome } from './outcome.ts'
import {
  type AuctionRequest,
  CONFIDENCE_MIN_PPM,
  pacedValue,
  priceMax,
  referencePrice,
  reservePrice,
} from './run-auction.ts'
import { countryCode } from './targeting.ts'

/** An auction that was run again to get its intermediate numbers. */
export interface Rerun {
  /** Whether today's rules applied; intermediate numbers of other rules are unknown. */
  readonly isOfOurRules: boolean
  readonly set: CandidateSet
  readonly request: AuctionRequest
  readonly outcome: Outcome
  /** The candidates whose bids the reader sees as ranges only: disclose.ts. */
  readonly ranges: ReadonlyMap<number, ValueRange>
  readonly setter: PriceSetter | null
  /** Sees typed bids also where a ROAS goal lowered them. */
  readonly seesTypedBids: boolean
}

export type Audience = 'publisher' | 'merchant'

/** `$0.542235`; a fractional value is rounded to a micro. */
function dollars(amountMicros: number): string {
  return `$${formatExact(Math.round(amountMicros))}`
}

/** `97.25 %` of a fraction. */
function percent(fraction: number): string {
  return `${Number((fraction * 100).toFixed(4))} %`
}

/** Why a candidate did not win: the sentence of its code, and the numbers behind it. */
export function explainLoss(held: Rerun, i: number, audience: Audience): string {
  const code = held.outcome.losses[i] as number
  const sentence = lossReason(code)[audience]
  const detail = lossDetail(held, i, audience)
  return detail === null ? sentence : `${sentence} ${detail}`
}

function lossDetail(held: Rerun, i: number, audience: Audience): string | null {
  if (!held.isOfOurRules) return null
  return DETAILS[lossName(held.outcome.losses[i] as number)](held, i, audience)
}

type Detail = (held: Rerun, i: number, audience: Audience) => string | null

const noDetail: Detail = () => null

/** The numbers behind each reason. */
const DETAILS: Readonly<Record<LossName, Detail>> = {
  none: noDetail,
  noCandidates: noDetail,
  inactive: noDetail,
  outOfFlight: noDetail,
  outOfStock: noDetail,
  staleFeed: noDetail,
  device: ({ request }) => `The reader's device: ${deviceWord(request.device)}.`,
  country: ({ request }) => `The reader's country: ${countryCode(request.country) ?? 'unknown'}.`,
  blocked: noDetail,
  exclusive: noDetail,
  confidence: ({ set }, i) => {
    const found = percent((set.confidencePpm[i] as number) / PPM)
    return `It is ${found} certain; ${percent(CONFIDENCE_MIN_PPM / PPM)} is needed.`
  },
  price: priceDetail,
  paced: pacedDetail,
  unfunded: noDetail,
  belowFloor: (held, i) =>
    held.ranges.has(i)
      ? `The floor is ${floorWords(held, i)}.`
      : `${worthWords(held, i)}; the floor is ${floorWords(held, i)}.`,
  outbid: (held, i, audience) => (audience === 'merchant' ? null : scoreDetail(held, i)),
}

function pacedDetail(held: Rerun, i: number): string {
  const { set, request } = held
  const at = set.campaign[i] as number
  const factor = set.state.paceFactor[at] as number
  const pass = set.state.ptr[at] as number
  if (pass < 1) return `${percent(pass)} of its auctions passed at that time.`
  if (held.ranges.has(i)) return `Pacing lowered it; the floor is ${floorWords(held, i)}.`
  const offered = (request.isExclusive ? set.posted : set.value)[i] as number
  const paced = dollars(pacedValue(offered, factor, set.model[i] as number))
  return `Pacing lowered ${dollars(offered)} to ${paced}; the floor is ${floorWords(held, i)}.`
}

function priceDetail({ set, request }: Rerun, i: number): string {
  const price = set.price[i] as number
  if (price === 0) return 'Its price is not known.'
  const reference = referencePrice(set, request)
  const whose = request.originalPriceMicros > 0 ? "the original's" : "the offers' median"
  const tolerance = percent(request.publisher.tolerancePpm / PPM)
  const most = `the most is ${dollars(priceMax(set, request))}`
  return `It asks ${dollars(price)}; ${most}, ${whose} ${dollars(reference)} and ${tolerance}.`
}

function scoreDetail({ set, outcome, ranges, setter }: Rerun, i: number): string | null {
  if (ranges.has(i)) return null
  const own = set.merchId[i] === set.merchId[outcome.winner]
  const by = own ? 'another campaign of the same merchant' : 'the winner'
  const [score, best] = [outcome.scores[i] as number, outcome.score]
  if (ranges.has(outcome.winner)) {
    // A tie would reveal the winner's bid, so it reads like any other lower score.
    const isSetter = i === outcome.runnerUp && setter === 'rival'
    return `Its score is ${dollars(score)}${isSetter ? ', which set the price' : ''}.`
  }
  if (score === best) return `Its score equals that of ${by}, which won the tie.`
  return `Its score is ${dollars(score)} against ${dollars(best)} of ${by}.`
}

/** The value that a click counted for; an exploring auction used a draw instead of the mean. */
function worthWords({ set, outcome }: Rerun, i: number): string {
  const counted = dollars(outcome.values[i] as number)
  const isDrawn = outcome.explored && set.model[i] !== MODEL.cpc
  if (!isDrawn) return `A click is worth ${counted} to it`
  const mean = dollars(set.value[i] as number)
  return `This auction explored: it drew ${counted} for a click that is worth ${mean} on average`
}

/** The floor that applies to a candidate, and who set it. */
function floorWords({ set, request }: Rerun, i: number): string {
  const reserve = reservePrice(set, request, i)
  const floors = set.floors[i]
  const isCategory = floors != null && floors[request.country] === reserve
  const isPublisher = request.publisher.floorMicros === reserve
  const whose = isCategory ? "the category's" : isPublisher ? "the publisher's" : "the platform's"
  return `${dollars(reserve)}, ${whose}`
}

/** The winner's price, and the rule behind it: docs/spec/auction.md#price-of-a-click. */
export function explainPrice(held: Rerun, audience: Audience): string {
  const { set, request, outcome } = held
  const { winner, priceMicros } = outcome
  const price = dollars(priceMicros)
  if (!held.isOfOurRules) return `${price}, by rules that this program does not have.`
  const model = set.model[winner]
  if (model === MODEL.cpa || model === MODEL.epp) {
    const what = model === MODEL.cpa ? 'its commission on a sale' : 'its fixed payment per purchase'
    if (outcome.ratePpm === PPM) return `The click costs nothing; the merchant pays ${what}.`
    // The part would reveal the full rate.
    const part = held.ranges.has(winner) ? 'a part' : percent(outcome.ratePpm / PPM)
    return `The click costs nothing; the merchant pays ${part} of ${what}: what still wins.`
  }
  const typed = typedWords(held)
  if (request.isExclusive) {
    return `${price}: an exclusive link costs the campaign's posted price${typed}.`
  }
  if (request.isFirstPrice) {
    return `${price}: in a first-price market the winner pays its bid${typed}.`
  }
  if (outcome.runnerUp < 0) return `Nobody else competed: the floor, ${floorWords(held, winner)}.`
  if (priceMicros === outcome.reserveMicros) {
    return `The runner-up asks for less than the floor: ${floorWords(held, winner)}.`
  }
  const rule = `${price}: the least bid that still beats the runner-up`
  if (audience === 'merchant') return `${rule}.`
  const weight = Number((outcome.weights[winner] as number).toFixed(6))
  return `${rule}, its score ${dollars(outcome.runnerUpScore)} over the winner's weight ${weight}.`
}

/** The typed bid, if pacing or a ROAS goal lowered it; otherwise empty. */
function typedWords({ set, request, outcome, seesTypedBids }: Rerun): string {
  const { winner, priceMicros } = outcome
  const typed = (request.isExclusive ? set.posted : set.value)[winner] as number
  if (typed === priceMicros) return ''
  if (!seesTypedBids) return ', lowered by pacing or its ROAS goal'
  const factor = set.state.paceFactor[set.campaign[winner] as number] as number
  if (pacedValue(typed, factor, MODEL.cpc) === priceMicros) {
    return `, ${dollars(typed)}, lowered so that its daily budget lasts the day`
  }
  return `, ${dollars(typed)}, lowered to the maximum that its ROAS goal allows`
}

/** Why the link kept its own destination. */
export function explainNoWinner(code: number, audience: Audience): string {
  return `Nobody won, the link keeps its own destination. ${lossReason(code)[audience]}`
}
