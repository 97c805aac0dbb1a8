/**
 * An auction as its publisher may see it: bids that did not set the price become ranges, because a
 * floor at the exact bid would take a merchant's whole surplus. docs/spec/auction.md#ranges.
 *
 * The disclosed auction is computed from ranges and published facts alone. So nothing derived from
 * it (scores, what-if, missed amounts) says more about a bid than its range, however often it is
 * requested.
 */
import { MODEL } from '../events/event.ts'
import type { CandidateSet } from './candidate-set.ts'
import { LOSS } from './loss-code.ts'
import type { Outcome } from './outcome.ts'
import type { StoredAuction } from './receipt.ts'
import { rerun } from './replay.ts'
import { canReplay, drawnPart, offeredValue, pacedValue, reservePrice } from './run-auction.ts'

/** The lowest range ends at $0.01, below which no click sells; each next one is twice as wide. */
const FIRST_MICROS = 10_000

/** A value of a click in micros: `lowMicros` ≤ value < `highMicros`. */
export interface ValueRange {
  readonly lowMicros: number
  readonly highMicros: number
}

/** The range of a value: below $0.01, $0.01 to $0.02, to $0.04, to $0.08 and so on. */
export function rangeOf(valueMicros: number): ValueRange {
  if (valueMicros < FIRST_MICROS) return { lowMicros: 0, highMicros: FIRST_MICROS }
  let lowMicros = FIRST_MICROS
  while (valueMicros >= 2 * lowMicros) lowMicros *= 2
  return { lowMicros, highMicros: 2 * lowMicros }
}

export type PriceSetter = 'floor' | 'rival' | 'posted_price' | 'bid' | 'contract'

/** What set the winner's price or rate; null without a winner. */
export function priceSetter({ set, request, outcome }: StoredAuction): PriceSetter | null {
  const { winner, runnerUp } = outcome
  if (winner < 0) return null
  if (set.model[winner] !== MODEL.cpc) {
    if (!canChangeRate(set, winner) || request.isExclusive || request.isFirstPrice)
      return 'contract'
    if (runnerUp < 0) return 'floor'
    const value = outcome.score / (outcome.weights[winner] as number)
    return outcome.runnerUpScore / outcome.score >= outcome.reserveMicros / value
      ? 'rival'
      : 'floor'
  }
  if (request.isExclusive) return 'posted_price'
  if (request.isFirstPrice) return 'bid'
  const isFloor = runnerUp < 0 || outcome.priceMicros <= outcome.reserveMicros
  return isFloor ? 'floor' : 'rival'
}

/** Whether what a candidate pays depends on floors and rivals, so that its bid needs hiding. */
function canChangeRate({ model, hasSecondRate }: CandidateSet, i: number): boolean {
  return model[i] === MODEL.cpc || hasSecondRate[i] === 1
}

export interface Disclosed {
  /** With values in the middle of their ranges; it has the stored winner and price. */
  readonly auction: StoredAuction
  /** Of `auction` run again: its values, weights and scores. */
  readonly outcome: Outcome
  /** The candidates whose bids are hidden, each with the range of a click's value. */
  readonly ranges: ReadonlyMap<number, ValueRange>
  readonly setter: PriceSetter | null
}

/** The auction without what its publisher must not know; merchants of the same user stay exact. */
export function discloseToPublisher(
  stored: StoredAuction,
  ownMerchIds: ReadonlySet<number> = new Set(),
): Disclosed {
  const again = rerun(stored)
  const { values, weights, scores } = again
  const exact: StoredAuction = {
    ...stored,
    outcome: { ...stored.outcome, values, weights, scores },
  }
  const setter = priceSetter(exact)
  const ranges = new Map<number, ValueRange>()
  for (let i = 0; i < stored.set.n; i++) {
    if (!isShown(exact, i, { setter, ownMerchIds })) {
      ranges.set(i, rangeOf(offeredValue(stored.set, i, stored.request.isExclusive)))
    }
  }
  const auction = canReplay(stored.ruleVersion) ? withMiddles(exact, ranges, setter) : exact
  return { auction, outcome: rerun(auction), ranges, setter }
}

function isShown(
  { set, request, outcome }: StoredAuction,
  i: number,
  known: { setter: PriceSetter | null; ownMerchIds: ReadonlySet<number> },
): boolean {
  if (known.ownMerchIds.has(set.merchId[i] as number) || !canChangeRate(set, i)) return true
  if (i === outcome.winner) return request.isExclusive || request.isFirstPrice
  return i === outcome.runnerUp && known.setter === 'rival'
}

/** Each hidden value becomes the middle of its range, moved by no more than the outcome says. */
function withMiddles(
  exact: StoredAuction,
  ranges: ReadonlyMap<number, ValueRange>,
  setter: PriceSetter | null,
): StoredAuction {
  const { set, request } = exact
  const hidden = {
    value: set.value.slice(),
    posted: set.posted.slice(),
    ceiling: set.ceiling.slice(),
    valuePerOrder: set.valuePerOrder.slice(),
  }
  // The winner first: its merchant's other campaigns are bounded by it.
  const order = [...ranges.keys()].sort((a, b) => Number(isWinner(b)) - Number(isWinner(a)))
  function isWinner(i: number): boolean {
    return i === exact.outcome.winner
  }
  let winnerScore = exact.outcome.score
  const shownScore = bestShown(exact, ranges)
  for (const i of order) {
    const value = middleWithin(exact, i, { setter, winnerScore, shownScore })
    if (isWinner(i)) {
      // Rounded as the auction does, or the winner's other campaigns might score above it.
      const counted = pacedValue(value, ratioOf(exact, i), set.model[i] as number)
      winnerScore = counted * (exact.outcome.weights[i] as number)
    }
    if (set.model[i] === MODEL.cpc) {
      const { lowMicros, highMicros } = rangeOf(offeredValue(set, i, !request.isExclusive))
      const other = Math.round((lowMicros + highMicros) / 2)
      hidden.value[i] = request.isExclusive ? other : value
      hidden.posted[i] = request.isExclusive ? value : other
      hidden.ceiling[i] = Number.POSITIVE_INFINITY
    } else {
      const [alpha, nEff] = [set.alpha[i] as number, set.nEff[i] as number]
      hidden.valuePerOrder[i] = alpha > 0 ? (value * nEff) / alpha : 0
      hidden.value[i] = (alpha / nEff) * (hidden.valuePerOrder[i] as number)
      hidden.posted[i] = hidden.value[i] as number
    }
  }
  return { ...exact, set: { ...set, ...hidden } }
}

/**
 * The factor that pacing and a draw put on a candidate's value. It is computed from published
 * numbers: value counted over value offered would differ in its last bit with the hidden value.
 */
function ratioOf({ set, outcome, resultNumber }: StoredAuction, i: number): number {
  const pace = set.state.paceFactor[set.campaign[i] as number] as number
  const isDrawn = outcome.explored && set.model[i] !== MODEL.cpc && isScored(outcome, i)
  if (!isDrawn || (set.alpha[i] as number) <= 0) return pace
  const ratio = drawnPart(set, i, resultNumber) * pace
  return ratio > 0 ? ratio : pace
}

/**
 * The best score that the publisher knows of a loser: exactly, or at least what its floor comes to.
 * The winner's is above it.
 */
function bestShown({ outcome, set, request }: StoredAuction, ranges: Disclosed['ranges']): number {
  let best = 0
  for (let i = 0; i < set.n; i++) {
    if (outcome.losses[i] !== LOSS.outbid) continue
    const atFloor = reservePrice(set, request, i) * (outcome.weights[i] as number)
    best = Math.max(best, ranges.has(i) ? atFloor : (outcome.scores[i] as number))
  }
  return best
}

function isScored({ losses }: Outcome, i: number): boolean {
  return losses[i] === LOSS.none || losses[i] === LOSS.outbid || losses[i] === LOSS.belowFloor
}

const ABOVE = 1 + 1e-9
const BELOW = 1 - 1e-9

/**
 * The middle of the values that the range and the published outcome allow, before pacing and draw.
 */
function middleWithin(
  exact: StoredAuction,
  i: number,
  known: { setter: PriceSetter | null; winnerScore: number; shownScore: number },
): number {
  const { setter, winnerScore, shownScore } = known
  const { set, request, outcome } = exact
  const { lowMicros, highMicros } = rangeOf(offeredValue(set, i, request.isExclusive))
  const isCpc = set.model[i] === MODEL.cpc
  const whole = (value: number, round: (of: number) => number) => (isCpc ? round(value) : value)
  const reserve = reservePrice(set, request, i)
  const ratio = ratioOf(exact, i)
  if (!isCpc && (set.alpha[i] as number) <= 0) return 0 // No draw makes anything of it.
  if (!isScored(outcome, i) || ratio <= 0) {
    if (outcome.losses[i] !== LOSS.paced || ratio <= 0)
      return whole((lowMicros + highMicros) / 2, Math.round)
    const most = (reserve / ratio) * BELOW
    const between = (Math.max(lowMicros, reserve) + Math.min(highMicros, most)) / 2
    return Math.max(whole(Math.min(between, most), Math.floor), reserve)
  }
  const [low, high] = [lowMicros * ratio, highMicros * ratio]
  const weight = outcome.weights[i] as number
  const { winner, runnerUpScore, priceMicros, reserveMicros } = outcome
  const rivalScore =
    setter === 'rival' ? runnerUpScore : reserveMicros * (outcome.weights[winner] as number)
  if (i === winner) {
    const beaten = (Math.max(rivalScore, shownScore) / weight) * ABOVE
    const least = Math.max(isCpc ? priceMicros + 1 : reserve, beaten)
    const between = Math.max((Math.max(low, least) + high) / 2, least)
    return whole(between / ratio, Math.ceil)
  }
  if (outcome.losses[i] === LOSS.belowFloor) {
    const most = reserve * BELOW
    return whole(Math.min((low + Math.min(high, most)) / 2, most) / ratio, Math.floor)
  }
  const isOwn = set.merchId[i] === set.merchId[winner]
  const isOpen = setter === 'rival' || setter === 'floor'
  const most = ((isOwn || !isOpen ? winnerScore : rivalScore) / weight) * BELOW
  const between = Math.min((Math.max(low, reserve) + Math.min(high, most)) / 2, most)
  return between <= reserve
    ? whole(reserve / ratio, Math.ceil)
    : Math.max(whole(between / ratio, Math.floor), whole(reserve / ratio, Math.ceil))
}
