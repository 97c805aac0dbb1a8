/**
 * The probability that an auction's winner wins, for evaluating other policies on the log (inverse
 * propensity): `p = (1 − ε)·[winner is best by mean] + ε·P_TS(winner)`.
 */
import { createHash } from 'node:crypto'
import { PPM } from '../platform/money.ts'
import type { CandidateSet } from './candidate-set.ts'
import { LOSS } from './loss-code.ts'
import { createOutcome } from './outcome.ts'
import type { StoredAuction } from './receipt.ts'
import { type AuctionRequest, runAuction } from './run-auction.ts'

/** Standard error of P_TS at most 1.6 %. */
const SALTS = 1000

/** The propensity of a stored auction's winner, 0 to 1; null without a winner. */
export function winnerPropensity(auction: StoredAuction): number | null {
  const { outcome, request, resultNumber } = auction
  if (outcome.winner < 0) return null
  const set = withCoinsFallen(auction)
  const sampled = withEpsilon(request, PPM)
  const again = createOutcome()
  const epsilon = request.publisher.epsilonPpm / PPM
  let drawn = 0
  for (let salt = 0; salt < SALTS; salt++) {
    runAuction(set, sampled, salted(resultNumber, salt), again)
    if (again.winner === outcome.winner) drawn += 1
  }
  runAuction(set, withEpsilon(request, 0), resultNumber, again)
  const isBest = again.winner === outcome.winner ? 1 : 0
  return (1 - epsilon) * isBest + (epsilon * drawn) / SALTS
}

function withEpsilon(request: AuctionRequest, epsilonPpm: number): AuctionRequest {
  return { ...request, publisher: { ...request.publisher, epsilonPpm } }
}

/** Pacing decided who competes. The question is who of those wins, so its coins stay as drawn. */
function withCoinsFallen({ set, outcome }: StoredAuction): CandidateSet {
  const ptr = Float32Array.from(set.campaign, (_, i) => (outcome.losses[i] === LOSS.paced ? 0 : 1))
  return { ...set, state: { ...set.state, ptr } }
}

function salted(resultNumber: Buffer, salt: number): Buffer {
  return createHash('sha256').update(resultNumber).update(`:${salt}`).digest().subarray(0, 16)
}
