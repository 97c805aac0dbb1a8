/**
 * Decides which merchant gets a reader's click, and what the click costs: docs/spec/auction.md.
 *
 * Pure: no clock, no I/O, and every random choice is a function of the result number, so a stored
 * auction can be run again to the last bit. One pass over the candidates: each is checked, weighed,
 * and compared with the best two; then the winner is priced. Nothing is allocated: outcome and
 * working memory are reused by every auction, and one thread runs one auction at a time.
 *
 * The publisher's share is the same for all candidates, cancels out of ranking and price, and is
 * left out of every score.
 */

import { roasBid } from '../budgets/roas.ts'
import { PLATFORM_RESERVE } from '../campaigns/campaign.ts'
import { MODEL } from '../events/event.ts'
import { PPM } from '../platform/money/money.ts'
import { gammaQuantile } from '../prediction/predict.ts'
import { LIVE } from './campaign-state.ts'
import { CANDIDATES_MAX, type CandidateSet, type CutRules } from './candidate-set.ts'
import { createSeed, drawBits, isBelow, normalQuantile, PURPOSE, readSeed } from './draw.ts'
import { LADDER, LOSS } from './loss-code.ts'
import type { Outcome } from './outcome.ts'
import { benefit, GAIN_MAX } from './reader-benefit.ts'
import { deviceBit, type IdList, isAmong, lets } from './targeting.ts'

/**
 * Rule versions whose receipts replay under the present rules: the present one, and each earlier
 * one whose receipts still give the same outcome.
 *
 * Version 1 drew a pacing coin instead of lowering the bid, and had one second-rate switch for the
 * market. Its receipts contain the coin's rate, the switch and the median price.
 */
const RULES_REPLAYED = [1, 2] as const
/**
 * Raised when the same inputs may lead to another outcome or another loss, for example with another
 * PLATFORM_RESERVE.
 */
export const RULE_VERSION = 2 satisfies (typeof RULES_REPLAYED)[number]

/** Whether `runAuction` gives the outcome that a receipt of these rules had. */
export function canReplay(ruleVersion: number): boolean {
  return (RULES_REPLAYED as readonly number[]).includes(ruleVersion)
}

/** Below it, an offer is too likely to be another product. */
export const CONFIDENCE_MIN_PPM = 950_000
/**
 * Dividing a score by its weight may give 2^-52 more than the original whole number. Rounding that
 * up would add a micro, and of two equal bidders the winner would pay more than its bid.
 */
const ROUNDING_SLACK = 1 - 1e-12

/** A publisher's settings, compiled once per snapshot. */
export interface PublisherTerms {
  readonly pubId: number
  readonly floorMicros: number
  readonly tolerancePpm: number // How much more expensive than the original an offer may be.
  readonly beta: number // What a lower price is worth, 0 to 3.
  readonly epsilonPpm: number // The share of auctions that explore.
  readonly sharePpm: number // The publisher's part of the price; the platform keeps the rest.
  readonly isPriceRequired: boolean // Offers without a known price do not compete.
  readonly merchants: IdList | null // Null means all.
}

export interface AuctionRequest {
  readonly publisher: PublisherTerms
  readonly country: number // countryIndex of targeting.ts; 0 if unknown.
  readonly device: number // As in events: 0 unknown, 1 desktop, 2 mobile, 3 tablet.
  // The merchant of the linked page; 0 if it is not in the network.
  readonly originalMerchId: number
  readonly originalPriceMicros: number // 0 if unknown.
  readonly isOriginalInStock: boolean // Only for the receipt; no rule depends on it.
  readonly isExclusive: boolean // Locked to the original merchant.
  readonly isFirstPrice: boolean // The market-wide switch (PRICING).
  readonly nowMs: number // Only for the receipt; refreshLive judges flights.
}

const seed = createSeed()
/** Facts of the current auction. */
const facts = {
  isExploring: false,
  device: 0,
  referenceMicros: 0.5,
  priceMaxMicros: 0.5,
  toleranceRatio: 0.5,
  bestMean: 0.5,
  bestMeanWeight: 0.5,
}
/** Mean scores, written only while exploring. */
const means = new Float64Array(CANDIDATES_MAX)

/** Runs one auction into `outcome`. `resultNumber` is 16 random bytes of the server. */
export function runAuction(
  set: CandidateSet,
  request: AuctionRequest,
  resultNumber: Uint8Array,
  outcome: Outcome,
): void {
  begin(set, request, resultNumber, outcome)
  const { losses } = outcome
  screenCampaigns(set, request, losses)
  screenOffers(set, request, losses)
  scoreOffers(set, request, outcome)
  if (outcome.winner < 0) outcome.reason = closestReason(set.n, losses)
  else priceWinner(set, request, outcome)
  if (facts.isExploring) outcome.regretMicros = regret(outcome.winner)
}

function begin(
  set: CandidateSet,
  request: AuctionRequest,
  resultNumber: Uint8Array,
  outcome: Outcome,
): void {
  const { publisher } = request
  readSeed(resultNumber, seed)
  const gate = drawBits(seed, 0, PURPOSE.gate)
  facts.isExploring = isBelow(gate, publisher.epsilonPpm / PPM)
  facts.device = deviceBit(request.device)
  facts.referenceMicros = referencePrice(set, request)
  facts.priceMaxMicros = priceMax(set, request)
  facts.toleranceRatio = publisher.tolerancePpm / PPM
  facts.bestMean = 0
  facts.bestMeanWeight = 1
  outcome.winner = -1
  outcome.priceMicros = 0
  outcome.score = 0
  outcome.runnerUp = -1
  outcome.runnerUpScore = 0
  outcome.eligible = 0
  outcome.explored = facts.isExploring
  outcome.reason = LOSS.none
  outcome.reserveMicros = 0
  outcome.ratePpm = 0
  outcome.regretMicros = 0
}

/** The checks that need neither price nor draw: state, stock, targeting, lists. */
function screenCampaigns(set: CandidateSet, request: AuctionRequest, losses: Uint16Array): void {
  const { n, campaign, merchId, isInStock, price, deviceMask, countries, publishers } = set
  const { live } = set.state
  const { device } = facts
  const { pubId, merchants } = request.publisher
  for (let i = 0; i < n; i++) {
    const liveState = live[campaign[i] as number] as number
    const inCountries = countries[i] as Uint32Array | null
    const atPublishers = publishers[i] as IdList | null
    let loss: number = LOSS.none
    if (liveState === LIVE.inactive) loss = LOSS.inactive
    else if (liveState === LIVE.outOfFlight) loss = LOSS.outOfFlight
    else if (isInStock[i] === 0) loss = LOSS.outOfStock
    // A page without a feed entry has no price that could be outdated.
    else if (liveState === LIVE.staleFeed && price[i] !== 0) loss = LOSS.staleFeed
    else if (((deviceMask[i] as number) & device) === 0) loss = LOSS.device
    else if (!isAmong(inCountries, request.country)) loss = LOSS.country
    else if (!lets(atPublishers, pubId)) loss = LOSS.blocked
    else if (!lets(merchants, merchId[i] as number)) loss = LOSS.blocked
    losses[i] = loss
  }
}

/** The checks of match, price, pacing and budget. */
function screenOffers(set: CandidateSet, request: AuctionRequest, losses: Uint16Array): void {
  const { n, campaign, campaignId, merchId, confidencePpm, price } = set
  const { budgetOk, paceFactor, ptr } = set.state
  const { isExclusive, originalMerchId } = request
  const { isPriceRequired } = request.publisher
  const { priceMaxMicros } = facts
  for (let i = 0; i < n; i++) {
    if (losses[i] !== LOSS.none) continue
    const at = campaign[i] as number
    const asked = price[i] as number
    const pass = ptr[at] as number
    const factor = paceFactor[at] as number
    let loss: number = LOSS.none
    if (isExclusive && merchId[i] !== originalMerchId) loss = LOSS.exclusive
    else if ((confidencePpm[i] as number) < CONFIDENCE_MIN_PPM) loss = LOSS.confidence
    else if (asked > priceMaxMicros || (asked === 0 && isPriceRequired)) loss = LOSS.price
    else if (pass < 1 && !isBelow(drawBits(seed, campaignId[i] as number, PURPOSE.pace), pass)) {
      loss = LOSS.paced
    } else if (factor < 1 && isPacedOut(set, request, i)) loss = LOSS.paced
    else if (budgetOk[at] === 0) loss = LOSS.unfunded
    losses[i] = loss
  }
}

/** Whether pacing alone takes the value of a click below the floor. */
function isPacedOut(set: CandidateSet, request: AuctionRequest, i: number): boolean {
  const at = set.campaign[i] as number
  const offered = (request.isExclusive ? set.posted : set.value)[i] as number
  const reserve = reservePrice(set, request, i)
  // A reserve is whole micros, so rounding a bid down changes nothing here.
  return offered >= reserve && offered * (set.state.paceFactor[at] as number) < reserve
}

/** What pacing leaves of a click's value; bids stay whole micros. For receipts. */
export function pacedValue(value: number, factor: number, model: number): number {
  return model === MODEL.cpc ? Math.floor(value * factor) : value * factor
}

/** Scores the remaining candidates and keeps the best two. */
function scoreOffers(set: CandidateSet, request: AuctionRequest, outcome: Outcome): void {
  const { n, campaign, model, price, fit, ceiling } = set
  const { paceFactor } = set.state
  const { losses, values, weights, scores } = outcome
  const { beta } = request.publisher
  const { isExploring, referenceMicros: reference, toleranceRatio } = facts
  const { isExclusive } = request
  const offered = isExclusive ? set.posted : set.value
  for (let i = 0; i < n; i++) {
    if (losses[i] !== LOSS.none) continue
    const asked = price[i] as number
    const gain = asked === 0 ? 0 : (reference - asked) / reference
    const clipped = Math.min(Math.max(gain, -toleranceRatio), GAIN_MAX)
    const weight = (fit[i] as number) * benefit(beta * clipped)
    const reserve = reservePrice(set, request, i)
    const at = campaign[i] as number
    const factor = paceFactor[at] as number
    // As pacedValue, which would allocate numbers here.
    let value = (offered[i] as number) * factor
    if (model[i] === MODEL.cpc) {
      value = roasBid(Math.floor(value), ceiling[i] as number, roasMultiplier(set, i, isExclusive))
    }
    if (isExploring) {
      noteMean(i, value >= reserve ? value : 0, weight)
      if (model[i] !== MODEL.cpc) value = sampledValue(set, i) * factor
    }
    values[i] = value
    weights[i] = weight
    scores[i] = value * weight
    if (value < reserve) losses[i] = LOSS.belowFloor
    else {
      losses[i] = LOSS.outbid // Until it turns out to have won.
      place(set, i, outcome)
    }
  }
}

/**
 * Expected micros per click before pacing: the bid after its ROAS goal, or the mean value of an
 * order rate. For receipts.
 */
export function offeredValue(set: CandidateSet, i: number, isExclusive: boolean): number {
  const value = (isExclusive ? set.posted[i] : set.value[i]) as number
  if (set.model[i] !== MODEL.cpc) return value
  return roasBid(value, set.ceiling[i] as number, roasMultiplier(set, i, isExclusive))
}

/**
 * The multiplier of a ROAS goal's ceiling in this auction: docs/spec/budgets.md#roas-goals. A
 * posted price has no rival, so above the ceiling it would only cost more.
 */
export function roasMultiplier(set: CandidateSet, i: number, isExclusive: boolean): number {
  const multiplier = set.state.roasFactor[set.campaign[i] as number] as number
  return isExclusive ? Math.min(1, multiplier) : multiplier
}

/** The mean is the yardstick of exploring; the draw ranks and prices. */
function noteMean(i: number, value: number, weight: number): void {
  const mean = value * weight
  means[i] = mean
  if (mean > facts.bestMean) {
    facts.bestMean = mean
    facts.bestMeanWeight = weight
  }
}

/**
 * The part of its mean value that a candidate drew in an exploring auction: a function of the
 * posterior and the result number, so it says nothing about the value of an order. For receipts.
 */
export function drawnPart(set: CandidateSet, i: number, resultNumber: Uint8Array): number {
  const own = createSeed()
  readSeed(resultNumber, own)
  const alpha = set.alpha[i] as number
  const bits = drawBits(own, set.campaignId[i] as number, PURPOSE.sample)
  return gammaQuantile(alpha, normalQuantile(bits)) / alpha
}

/** A Thompson draw of a click's value: the order rate from its posterior. */
function sampledValue(set: CandidateSet, i: number): number {
  const bits = drawBits(seed, set.campaignId[i] as number, PURPOSE.sample)
  const orders = gammaQuantile(set.alpha[i] as number, normalQuantile(bits))
  return (orders / (set.nEff[i] as number)) * (set.valuePerOrder[i] as number)
}

type Median = Pick<CandidateSet, 'medianPriceMicros'>
type Asked = Pick<AuctionRequest, 'publisher' | 'originalPriceMicros'>

/**
 * The price that candidates are compared with: the original's, or the median; 0 if none is known.
 */
export function referencePrice(set: Median, request: Asked): number {
  return request.originalPriceMicros > 0 ? request.originalPriceMicros : set.medianPriceMicros
}

/** The highest acceptable price in whole micros; an offer at exactly the tolerance passes. */
export function priceMax(set: Median, request: Asked): number {
  const reference = referencePrice(set, request)
  return reference + Math.floor((reference * request.publisher.tolerancePpm) / PPM)
}

/** The publisher's checks that do not depend on the reader, for the cut to CANDIDATES_MAX. */
export function acceptedBy({ publisher, originalPriceMicros }: Asked): CutRules['isAcceptable'] {
  const { pubId, merchants, isPriceRequired } = publisher
  return ({ campaign, merchId, priceMicros }, medianPriceMicros) =>
    lets(campaign.publishers, pubId) &&
    lets(merchants, merchId) &&
    !(priceMicros === 0 && isPriceRequired) &&
    priceMicros <= priceMax({ medianPriceMicros }, { publisher, originalPriceMicros })
}

/** The lowest price of a click for a candidate: the highest floor that applies. */
export function reservePrice(set: CandidateSet, request: AuctionRequest, i: number): number {
  const floors = set.floors[i] as Float64Array | null
  const base = Math.max(PLATFORM_RESERVE, request.publisher.floorMicros)
  return floors === null ? base : Math.max(base, floors[request.country] as number)
}

/**
 * Places an eligible candidate among the best two. Our choice: the runner-up always belongs to
 * another merchant, so that a merchant with two campaigns does not bid against itself.
 */
function place(set: CandidateSet, i: number, outcome: Outcome): void {
  outcome.eligible += 1
  const { winner, runnerUp } = outcome
  if (winner < 0) {
    outcome.winner = i
    return
  }
  const isOwn = set.merchId[i] === set.merchId[winner]
  if (outranks(set, outcome, i, winner)) {
    if (!isOwn) outcome.runnerUp = winner
    outcome.winner = i
  } else if (!isOwn && (runnerUp < 0 || outranks(set, outcome, i, runnerUp))) {
    outcome.runnerUp = i
  }
}

/** The total order: score, reader's price, a fair draw by campaign, offer id. */
function outranks(set: CandidateSet, { scores }: Outcome, i: number, j: number): boolean {
  const lead = (scores[i] as number) - (scores[j] as number)
  return lead !== 0 ? lead > 0 : winsTie(set, i, j)
}

function winsTie(set: CandidateSet, i: number, j: number): boolean {
  const cheaper = readerPrice(set, j) - readerPrice(set, i)
  if (cheaper !== 0) return cheaper > 0
  const a = set.campaignId[i] as number
  const b = set.campaignId[j] as number
  const turn = (drawBits(seed, a, PURPOSE.tie) >>> 0) - (drawBits(seed, b, PURPOSE.tie) >>> 0)
  if (turn !== 0) return turn > 0
  // Distinct campaigns never draw the same (drawBits), so these are two offers of one campaign.
  return offerOrder(set, i, j) < 0
}

function offerOrder({ offerId }: CandidateSet, i: number, j: number): number {
  const high = (offerId[2 * i + 1] as number) - (offerId[2 * j + 1] as number)
  return high !== 0 ? high : (offerId[2 * i] as number) - (offerId[2 * j] as number)
}

function readerPrice(set: CandidateSet, i: number): number {
  const price = set.price[i] as number
  return price === 0 ? facts.referenceMicros : price
}

/** The winner's price: docs/spec/auction.md#price-of-a-click. */
function priceWinner(set: CandidateSet, request: AuctionRequest, outcome: Outcome): void {
  const { winner, runnerUp, scores, weights, values } = outcome
  const value = values[winner] as number
  const reserve = reservePrice(set, request, winner)
  const rival = runnerUp < 0 ? 0 : (scores[runnerUp] as number)
  outcome.losses[winner] = LOSS.none
  outcome.score = scores[winner] as number
  outcome.runnerUpScore = rival
  outcome.reserveMicros = reserve
  if (set.model[winner] !== MODEL.cpc) {
    // The contract's commission on the sale; with second rate, at most what still wins. Pacing
    // lowered value and score, so the part that still wins is one of the paced commission.
    const isFull = set.hasSecondRate[winner] === 0 || request.isExclusive || request.isFirstPrice
    const factor = set.state.paceFactor[set.campaign[winner] as number] as number
    const least = Math.max(rival / outcome.score, reserve / value) * factor
    outcome.ratePpm = isFull ? PPM : Math.min(PPM, Math.ceil(least * PPM))
    return
  }
  outcome.ratePpm = PPM
  if (request.isExclusive || request.isFirstPrice) outcome.priceMicros = value
  else {
    const critical = Math.ceil((rival / (weights[winner] as number)) * ROUNDING_SLACK)
    outcome.priceMicros = Math.min(Math.max(critical, reserve), value)
  }
}

/** The cost of the draws against the best mean, per click of that best candidate. */
function regret(winner: number): number {
  const won = winner < 0 ? 0 : (means[winner] as number)
  return Math.max(0, facts.bestMean - won) / facts.bestMeanWeight
}

/** Why nobody won: the check that the candidate closest to winning failed. */
export function closestReason(n: number, losses: Uint16Array): number {
  let furthest = 0
  for (let i = 0; i < n; i++) furthest = Math.max(furthest, LADDER.indexOf(losses[i] as number))
  return LADDER[furthest] as number
}
