/**
 * The probability that an auction's winner wins, for evaluating other policies on the log (inverse
 * propensity): `p = (1 − ε)·share of the mean auction + ε·share of the drawn one`. Computed, not
 * sampled: docs/spec/auction.md#propensity.
 */

import { MODEL } from '../events/event.ts'
import { PPM } from '../platform/money/money.ts'
import { gammaQuantile } from '../prediction/predict.ts'
import { type CandidateSet, offerIdOf } from './candidate-set.ts'
import { probabilityBelow, quantileAt } from './draw.ts'
import { LOSS } from './loss-code.ts'
import { createOutcome, type Outcome } from './outcome.ts'
import type { StoredAuction } from './receipt.ts'
import { type AuctionRequest, referencePrice, reservePrice, runAuction } from './run-auction.ts'

/** Points at which the winner's own draw is evaluated; 2,000 leave an error below 0.001. */
const POINTS = 2_000

/** The auction by means, and the candidates that pass every check but the floor. */
interface MeanAuction {
  readonly set: CandidateSet
  readonly request: AuctionRequest
  readonly outcome: Outcome
  readonly competing: readonly number[]
}

/**
 * The propensity of a stored auction's winner, 0 to 1; null without a winner. A publisher's is that
 * of its disclosed auction (disclose.ts): whether the winner is also the best by means depends on
 * exact bids if draws decided, and so does the share by draws.
 */
export function winnerPropensity(auction: StoredAuction): number | null {
  const { winner } = auction.outcome
  if (winner < 0) return null
  const held = runByMeans(auction)
  const epsilon = auction.request.publisher.epsilonPpm / PPM
  const ofMeans = shareOfTie(held, held.competing, winner)
  const { set, competing } = held
  const isDrawn = epsilon > 0 && competing.some((i) => set.model[i] !== MODEL.cpc)
  if (!isDrawn) return ofMeans
  return (1 - epsilon) * ofMeans + epsilon * shareOfDraws(held, winner)
}

function runByMeans({ set: stored, request: asked, resultNumber, outcome }: StoredAuction) {
  // Pacing decided who competes. The question is which of those wins, so its coins stay as drawn.
  const ptr = Float32Array.from(stored.campaign, (_, i) =>
    outcome.losses[i] === LOSS.paced ? 0 : 1,
  )
  const set = { ...stored, state: { ...stored.state, ptr } }
  const request = { ...asked, publisher: { ...asked.publisher, epsilonPpm: 0 } }
  const again = createOutcome()
  runAuction(set, request, resultNumber, again)
  const scored: readonly number[] = [LOSS.none, LOSS.outbid, LOSS.belowFloor]
  const competing = Array.from({ length: set.n }, (_, i) => i).filter((i) =>
    scored.includes(again.losses[i] as number),
  )
  return { set, request, outcome: again, competing }
}

/**
 * The share of `winner` among these candidates at their values: 0 if another outranks it, 1/k if k
 * campaigns have its score and reader price, between which a fair draw decides.
 */
function shareOfTie(held: MeanAuction, among: readonly number[], winner: number): number {
  const { set, outcome } = held
  const { scores, losses } = outcome
  const able = among.filter((i) => losses[i] !== LOSS.belowFloor)
  if (!able.includes(winner)) return 0
  const readerPrice = (i: number) => (set.price[i] as number) || referencePrice(set, held.request)
  const best = Math.max(...able.map((i) => scores[i] as number))
  const highest = able.filter((i) => scores[i] === best)
  const cheapest = Math.min(...highest.map(readerPrice))
  const tied = highest.filter((i) => readerPrice(i) === cheapest)
  if (!tied.includes(winner)) return 0
  const isOwn = (i: number) => set.campaignId[i] === set.campaignId[winner]
  const offer = (i: number) => BigInt(offerIdOf(set, i))
  if (tied.some((i) => isOwn(i) && offer(i) < offer(winner))) return 0
  return 1 / new Set(tied.map((i) => set.campaignId[i])).size
}

/** The share of `winner` if CPA and EPP candidates compete with drawn order rates. */
function shareOfDraws(held: MeanAuction, winner: number): number {
  const { set, outcome, competing } = held
  const isFixed = (i: number) => set.model[i] === MODEL.cpc
  const fixed = competing.filter(isFixed)
  const isOwn = (i: number) => set.campaignId[i] === set.campaignId[winner]
  const drawn = competing.filter((i) => !isFixed(i))
  const rivals = [
    ...Map.groupBy(
      drawn.filter((i) => !isOwn(i)),
      (i) => set.campaignId[i] as number,
    ).values(),
  ]
  const isAbove = (score: number) =>
    rivals.reduce((product, offers) => product * chanceBelow(held, offers, score), 1)
  if (isFixed(winner)) {
    const share = shareOfTie(held, fixed, winner)
    return share === 0 ? 0 : share * isAbove(outcome.scores[winner] as number)
  }
  const weight = outcome.weights[winner] as number
  const able = fixed.filter((i) => outcome.losses[i] !== LOSS.belowFloor)
  const fixedScore = Math.max(0, ...able.map((i) => outcome.scores[i] as number))
  const least = Math.max(reservePrice(set, held.request, winner), fixedScore / weight)
  const from = chanceOfLess(set, winner, least)
  const own = drawn.filter(isOwn)
  let sum = 0
  for (let point = 0; point < POINTS && from < 1; point++) {
    const value = valueAt(set, winner, from + ((1 - from) * (point + 0.5)) / POINTS)
    if (isBestOffer(held, own, { winner, value })) sum += isAbove(value * weight)
  }
  return (sum * (1 - from)) / POINTS
}

/** Whether none of its campaign's other offers, which share its draw, outranks the winner. */
function isBestOffer(
  { set, request, outcome }: MeanAuction,
  own: readonly number[],
  { winner, value }: { winner: number; value: number },
): boolean {
  const { weights } = outcome
  const readerPrice = (i: number) => (set.price[i] as number) || referencePrice(set, request)
  return own.every((i) => {
    if (i === winner || value < reservePrice(set, request, i)) return true
    const lead = (weights[winner] as number) - (weights[i] as number)
    const cheaper = readerPrice(i) - readerPrice(winner)
    if (lead !== 0) return lead > 0
    return cheaper !== 0 ? cheaper > 0 : BigInt(offerIdOf(set, winner)) < BigInt(offerIdOf(set, i))
  })
}

/** The probability that no offer of a campaign, all under one draw, reaches this score. */
function chanceBelow(
  { set, request, outcome }: MeanAuction,
  offers: readonly number[],
  score: number,
): number {
  return Math.min(
    ...offers.map((i) => {
      const needed = score / (outcome.weights[i] as number)
      return chanceOfLess(set, i, Math.max(needed, reservePrice(set, request, i)))
    }),
  )
}

const paceOf = ({ state, campaign }: CandidateSet, i: number): number =>
  state.paceFactor[campaign[i] as number] as number

/** A candidate's drawn value of a click at this probability, as `runAuction` draws it. */
function valueAt(set: CandidateSet, i: number, probability: number): number {
  const orders = gammaQuantile(set.alpha[i] as number, quantileAt(probability))
  return (orders / (set.nEff[i] as number)) * (set.valuePerOrder[i] as number) * paceOf(set, i)
}

/** The probability that a candidate's drawn value is below this one: the inverse of `valueAt`. */
function chanceOfLess(set: CandidateSet, i: number, value: number): number {
  const alpha = set.alpha[i] as number
  const perOrder = (set.valuePerOrder[i] as number) * paceOf(set, i)
  const orders = (value * (set.nEff[i] as number)) / perOrder
  if (alpha <= 0 || !Number.isFinite(orders)) return 1 // The value is always 0.
  const root = Math.cbrt(orders / alpha)
  return probabilityBelow((root - 1 + 1 / (9 * alpha)) * 3 * Math.sqrt(alpha))
}
