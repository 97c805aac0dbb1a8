/**
 * A receipt in words, for `souk explain` and the API.
 *
 * Every candidate with its numbers and why it lost, what the winner pays and why. The publisher and
 * the operator see everything. A merchant sees its own candidates and no rival's number; otherwise
 * receipts would reveal the open auction.
 */
import { roasBid } from '../demand/roas.ts'
import { MODEL, modelWord } from '../events/event.ts'
import { deviceWord } from '../events/user-agent.ts'
import { formatExact, micros, PPM, publisherPart } from '../platform/money.ts'
import { formatTimestamp } from '../platform/timestamp.ts'
import { LIVE } from './campaign-state.ts'
import { offerIdOf } from './candidate-set.ts'
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
import { replayStored, rerun } from './replay.ts'
import {
  canReplay,
  closestReason,
  pacedValue,
  referencePrice,
  reservePrice,
} from './run-auction.ts'
import { countryCode } from './targeting.ts'

/** Explains a receipt to its publisher (null), or to merchants as far as it concerns them. */
export function explainAuction(
  auction: StoredAuction,
  merchIds: ReadonlySet<number> | null = null,
): Explanation {
  const { set, request } = auction
  const isOfOurRules = canReplay(auction.ruleVersion)
  // Intermediate numbers come from running it again; codes and prices are the stored ones.
  const { values, weights, scores } = rerun(auction)
  const outcome = { ...auction.outcome, values, weights, scores }
  const held: Rerun = { isOfOurRules, set, request, outcome }
  const audience: Audience = merchIds === null ? 'publisher' : 'merchant'
  const propensity = merchIds === null && isOfOurRules ? winnerPropensity(auction) : null
  const all = Array.from({ length: set.n }, (_, i) => i)
  const shown = all.filter((i) => merchIds?.has(set.merchId[i] as number) ?? true)
  return {
    auction_result_number: auction.resultNumber.toString('hex'),
    at: formatTimestamp(new Date(request.nowMs)),
    rule_version: auction.ruleVersion,
    engine: auction.engine,
    snapshot_version: set.version,
    replay: explainReplay(auction, audience),
    pub_id: request.publisher.pubId,
    request: explainRequest(held),
    publisher: merchIds === null ? explainPublisher(held) : null,
    outcome: explainOutcome(held, { audience, shown, propensity }),
    candidates: shown
      .map((i) => explainCandidate(held, i, audience))
      .sort((a, b) => rank(b) - rank(a) || a.campaign_id - b.campaign_id),
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

/** The difference may be in the winner's price or in a rival's score. */
function explainReplay(auction: StoredAuction, audience: Audience): Replay {
  const replay = replayStored(auction)
  if (replay.kind !== 'different' || audience === 'publisher') return replay
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
  publisher_earns: null,
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
    publisher_earns: isAll ? formatExact(part) : null,
    platform_keeps: isAll ? formatExact(price - part) : null,
    reserve: formatExact(outcome.reserveMicros),
    explored,
    propensity,
    eligible: isAll ? outcome.eligible : null,
    runner_up_campaign_id: isAll ? (set.campaignId[outcome.runnerUp] ?? null) : null,
    runner_up_score_micros: isAll && outcome.runnerUp >= 0 ? outcome.runnerUpScore : null,
    reason: null,
  }
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

function explainValue({ set, request }: Rerun, i: number) {
  const isCpc = set.model[i] === MODEL.cpc
  const pace = set.state.paceFactor[set.campaign[i] as number] as number
  const typed = (request.isExclusive ? set.posted : set.value)[i] as number
  const ceiling = set.ceiling[i] as number
  const factor = set.state.roasFactor[set.campaign[i] as number] as number
  return {
    bid: isCpc ? formatExact(set.value[i] as number) : null,
    exclusive_bid: isCpc ? formatExact(set.posted[i] as number) : null,
    paced_bid: isCpc ? formatExact(pacedValue(typed, pace, MODEL.cpc)) : null,
    roas_ceiling: Number.isFinite(ceiling) ? formatExact(roasBid(Infinity, ceiling, factor)) : null,
    orders_per_click: isCpc ? null : (set.alpha[i] as number) / (set.nEff[i] as number),
    evidence_clicks: isCpc || !Number.isFinite(set.nEff[i]) ? null : (set.nEff[i] as number),
    value_per_order: isCpc ? null : formatExact(Math.round(set.valuePerOrder[i] as number)),
  }
}

function explainScore({ isOfOurRules, set, outcome }: Rerun, i: number) {
  const loss = outcome.losses[i]
  const isScored = loss === LOSS.none || loss === LOSS.outbid || loss === LOSS.belowFloor
  if (!isScored || !isOfOurRules) {
    return { value_micros: null, reader_benefit: null, weight: null, score_micros: null }
  }
  const weight = outcome.weights[i] as number
  return {
    value_micros: outcome.values[i] as number,
    reader_benefit: weight / (set.fit[i] as number),
    weight,
    score_micros: outcome.scores[i] as number,
  }
}

function reasonOf(code: number, why: string): ExplainedReason {
  const { word, name } = lossReason(code)
  return { code, word, name, why }
}

/** Winner first, then by score; unscored candidates last. */
function rank({ won, score_micros }: ExplainedCandidate): number {
  return won ? Number.POSITIVE_INFINITY : (score_micros ?? -1)
}

function offerOf({ set }: Rerun, i: number): string | null {
  const offerId = offerIdOf(set, i)
  return offerId === '0' ? null : offerId
}

function knownAmount(amountMicros: number): string | null {
  return amountMicros === 0 ? null : formatExact(amountMicros)
}
