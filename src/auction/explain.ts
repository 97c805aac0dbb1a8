/**
 * A receipt in words, for `souk explain` and the API.
 *
 * Every candidate with its numbers and why it lost, what the winner pays and why. The operator sees
 * everything. The publisher sees bids that did not set the price as ranges, or they would serve as
 * floors. A merchant sees its own candidates and no rival's number; otherwise receipts would reveal
 * the open auction. See docs/spec/auction.md#ranges.
 */
import { roasBid } from '../budgets/roas.ts'
import { MODEL, modelWord } from '../events/event.ts'
import { deviceWord } from '../events/user-agent.ts'
import { formatExact, micros, PPM, publisherPart } from '../platform/money/money.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { LIVE } from './campaign-state.ts'
import { offerIdOf } from './candidate-set.ts'
import { discloseToPublisher } from './disclose.ts'
import { earningsPerClick } from './expected-earnings.ts'
import {
  type Audience,
  explainLoss,
  explainNoWinner,
  explainPrice,
  type Rerun,
} from './explain-words.ts'
import type {
  ExplainedCandidate,
  ExplainedOutcome,
  ExplainedPublisher,
  ExplainedReason,
  ExplainedRequest,
  Explanation,
  Replay,
} from './explanation-schema.ts'
import { LOSS } from './loss-code.ts'
import { lossReason } from './loss-reason.ts'
import { winnerPropensity } from './propensity.ts'
import type { StoredAuction } from './receipt.ts'
import { replayStored } from './replay.ts'
import {
  canReplay,
  closestReason,
  pacedValue,
  referencePrice,
  reservePrice,
  roasMultiplier,
} from './run-auction.ts'
import { countryCode } from './targeting.ts'

/** Who reads a receipt. `merchIds` are the merchants of the reader's user. */
export type Reader =
  | { readonly kind: 'operator' }
  | { readonly kind: 'publisher' | 'merchant'; readonly merchIds: ReadonlySet<number> }

/** Explains a receipt as far as it concerns the reader. */
export function explainAuction(
  stored: StoredAuction,
  reader: Reader = { kind: 'operator' },
): Explanation {
  const exact = discloseToPublisher(stored, EVERYBODY)
  const disclosed =
    reader.kind === 'publisher' ? discloseToPublisher(stored, reader.merchIds) : exact
  const { auction, ranges } = disclosed
  const { set, request } = auction
  const isOfOurRules = canReplay(auction.ruleVersion)
  // Intermediate numbers come from running it again; codes and prices are the stored ones.
  const { values, weights, scores } = disclosed.outcome
  const outcome = { ...stored.outcome, values, weights, scores }
  const { setter } = exact
  const seesTypedBids = reader.kind !== 'publisher'
  const held: Rerun = { isOfOurRules, set, request, outcome, ranges, setter, seesTypedBids }
  const isMerchant = reader.kind === 'merchant'
  const audience: Audience = isMerchant ? 'merchant' : 'publisher'
  const propensity = !isMerchant && isOfOurRules ? winnerPropensity(auction) : null
  const all = Array.from({ length: set.n }, (_, i) => i)
  const shown = all.filter((i) => !isMerchant || reader.merchIds.has(set.merchId[i] as number))
  return {
    auction_result_number: stored.resultNumber.toString('hex'),
    at: formatTimestamp(new Date(request.nowMs)),
    rule_version: stored.ruleVersion,
    engine: stored.engine,
    snapshot_version: set.version,
    replay: explainReplay(stored, reader),
    pub_id: request.publisher.pubId,
    request: explainRequest(held),
    publisher: isMerchant ? null : explainPublisher(held),
    outcome: explainOutcome(held, { audience, shown, propensity }),
    candidates: shown
      .sort((a, b) => rank(held, b) - rank(held, a) || idOf(held, a) - idOf(held, b))
      .map((i) => explainCandidate(held, i, audience)),
  }
}

/** The seal alone explains what is paid; the candidates are gone with the receipt. */
export function explainWithoutReceipt(resultNumber: Buffer) {
  return {
    auction_result_number: resultNumber.toString('hex'),
    receipt: null,
    note:
      'The receipt was dropped or never written (a disabled link holds no auction, nor does a ' +
      'click on an altered address); the clicks hold what was sealed and paid.',
  }
}

/** For the operator, who sees every number. */
const EVERYBODY = { has: () => true } as unknown as ReadonlySet<number>

/** The difference may be in a bid that the reader must not see. */
function explainReplay(auction: StoredAuction, { kind }: Reader): Replay {
  const replay = replayStored(auction)
  if (replay.kind !== 'different' || kind === 'operator') return replay
  return { ...replay, field: null, stored: null, replayed: null }
}

function explainRequest({ set, request }: Rerun): ExplainedRequest {
  return {
    country: countryCode(request.country),
    device: deviceWord(request.device),
    original_merch_id: request.originalMerchId,
    original_price: knownAmount(request.originalPriceMicros),
    original_is_in_stock: request.isOriginalInStock,
    reference_price: knownAmount(referencePrice(set, request)),
    exclusive_match_requested: request.isExclusive,
    pricing: request.isFirstPrice ? 'first_price' : 'second_price',
  }
}

function explainPublisher({ request: { publisher } }: Rerun): ExplainedPublisher {
  return {
    share: publisher.sharePpm / PPM,
    floor: formatExact(publisher.floorMicros),
    tolerance: publisher.tolerancePpm / PPM,
    beta: publisher.beta,
    epsilon: publisher.epsilonPpm / PPM,
    require_price: publisher.isPriceRequired,
  }
}

const NOT_SHOWN = {
  campaign_id: null,
  merch_id: null,
  offer_id: null,
  price: null,
  price_why: null,
  price_set_by: null,
  publisher_earns: null,
  publisher_expects: null,
  platform_keeps: null,
  reserve: null,
  propensity: null,
  eligible: null,
  runner_up_campaign_id: null,
  runner_up_score_micros: null,
  reason: null,
}

function explainOutcome(
  held: Rerun,
  {
    audience,
    shown,
    propensity,
  }: { audience: Audience; shown: readonly number[]; propensity: number | null },
): ExplainedOutcome {
  const { set, request, outcome } = held
  const { winner, explored } = outcome
  const isAll = audience === 'publisher'
  if (winner < 0) {
    // The closest of those shown. A merchant sees only its own, or it would learn why a rival lost.
    const losses = Uint16Array.from(shown, (i) => outcome.losses[i] as number)
    const code = isAll ? outcome.reason : closestReason(losses.length, losses)
    const reason = reasonOf(code, explainNoWinner(code, audience))
    return { ...NOT_SHOWN, won: false, explored, reason, eligible: isAll ? 0 : null }
  }
  if (!shown.includes(winner)) return { ...NOT_SHOWN, won: true, explored }
  const price = micros(outcome.priceMicros)
  const part = publisherPart(price, request.publisher.sharePpm)
  return {
    won: true,
    campaign_id: set.campaignId[winner] as number,
    merch_id: set.merchId[winner] as number,
    offer_id: offerOf(held, winner),
    price: formatExact(price),
    price_why: explainPrice(held, audience),
    price_set_by: held.setter,
    publisher_earns: isAll ? formatExact(part) : null,
    publisher_expects: isAll && set.model[winner] !== MODEL.cpc ? expectation(held) : null,
    platform_keeps: isAll ? formatExact(price - part) : null,
    reserve: formatExact(outcome.reserveMicros),
    explored,
    propensity,
    eligible: isAll ? outcome.eligible : null,
    runner_up_campaign_id: isAll ? (set.campaignId[outcome.runnerUp] ?? null) : null,
    runner_up_score_micros:
      isAll && outcome.runnerUp >= 0 && !held.ranges.has(outcome.runnerUp)
        ? outcome.runnerUpScore
        : null,
    reason: null,
  }
}

/** What a click is worth on average to the publisher of a winner that pays on the order. */
function expectation({ set, request, outcome }: Rerun): string {
  return formatExact(Math.round(earningsPerClick(set, request, outcome)))
}

function explainCandidate(held: Rerun, i: number, audience: Audience): ExplainedCandidate {
  const { set, request, outcome } = held
  const at = set.campaign[i] as number
  const loss = outcome.losses[i] as number
  const isWon = i === outcome.winner
  return {
    campaign_id: set.campaignId[i] as number,
    merch_id: set.merchId[i] as number,
    offer_id: offerOf(held, i),
    category_id: (set.category[i] as number) > 0 ? (set.category[i] as number) : null,
    model: modelWord(set.model[i] as number),
    won: isWon,
    loss: isWon ? null : reasonOf(loss, explainLoss(held, i, audience)),
    ...explainValue(held, i),
    price: knownAmount(set.price[i] as number),
    quality: set.quality[i] as number,
    confidence: (set.confidencePpm[i] as number) / PPM,
    pace_factor: set.state.paceFactor[at] as number,
    pass_through: set.state.ptr[at] as number,
    is_funded: set.state.budgetOk[at] === 1,
    is_in_stock: set.isInStock[i] === 1,
    is_live: set.state.live[at] === LIVE.live,
    reserve: held.isOfOurRules ? formatExact(reservePrice(set, request, i)) : null,
    ...explainScore(held, i),
  }
}

function explainValue({ set, request, ranges }: Rerun, i: number) {
  const isCpc = set.model[i] === MODEL.cpc
  const range = ranges.get(i)
  if (range !== undefined) {
    return {
      bid: null,
      exclusive_bid: null,
      roas_ceiling: null,
      roas_factor: null,
      paced_bid: null,
      orders_per_click: isCpc ? null : (set.alpha[i] as number) / (set.nEff[i] as number),
      evidence_clicks: isCpc || !Number.isFinite(set.nEff[i]) ? null : (set.nEff[i] as number),
      value_per_order: null,
      value_range: {
        from: formatExact(micros(range.lowMicros)),
        below: formatExact(micros(range.highMicros)),
      },
    }
  }
  const pace = set.state.paceFactor[set.campaign[i] as number] as number
  const typed = (request.isExclusive ? set.posted : set.value)[i] as number
  const ceiling = set.ceiling[i] as number
  const hasGoal = Number.isFinite(ceiling)
  const factor = roasMultiplier(set, i, request.isExclusive)
  return {
    bid: isCpc ? formatExact(set.value[i] as number) : null,
    exclusive_bid: isCpc ? formatExact(set.posted[i] as number) : null,
    paced_bid: isCpc ? formatExact(pacedValue(typed, pace, MODEL.cpc)) : null,
    roas_ceiling: hasGoal ? formatExact(roasBid(Infinity, ceiling, factor)) : null,
    roas_factor: hasGoal ? factor : null,
    orders_per_click: isCpc ? null : (set.alpha[i] as number) / (set.nEff[i] as number),
    evidence_clicks: isCpc || !Number.isFinite(set.nEff[i]) ? null : (set.nEff[i] as number),
    value_per_order: isCpc ? null : formatExact(Math.round(set.valuePerOrder[i] as number)),
    value_range: null,
  }
}

function explainScore({ isOfOurRules, set, outcome, ranges }: Rerun, i: number) {
  const loss = outcome.losses[i]
  const isScored = loss === LOSS.none || loss === LOSS.outbid || loss === LOSS.belowFloor
  if (!isScored || !isOfOurRules) {
    return { value_micros: null, reader_benefit: null, weight: null, score_micros: null }
  }
  const weight = outcome.weights[i] as number
  const reader_benefit = weight / (set.fit[i] as number)
  if (ranges.has(i)) return { value_micros: null, reader_benefit, weight, score_micros: null }
  return {
    value_micros: outcome.values[i] as number,
    reader_benefit,
    weight,
    score_micros: outcome.scores[i] as number,
  }
}

function reasonOf(code: number, why: string): ExplainedReason {
  const { word, name } = lossReason(code)
  return { code, word, name, why }
}

/** Winner first, then by score; unscored candidates last. */
function rank({ isOfOurRules, outcome }: Rerun, i: number): number {
  if (i === outcome.winner) return Number.POSITIVE_INFINITY
  const loss = outcome.losses[i]
  const isScored = isOfOurRules && (loss === LOSS.outbid || loss === LOSS.belowFloor)
  return isScored ? (outcome.scores[i] as number) : -1
}

const idOf = ({ set }: Rerun, i: number): number => set.campaignId[i] as number

function offerOf({ set }: Rerun, i: number): string | null {
  const offerId = offerIdOf(set, i)
  return offerId === '0' ? null : offerId
}

function knownAmount(amountMicros: number): string | null {
  return amountMicros === 0 ? null : formatExact(amountMicros)
}
