/** What a click on an auction's result is worth to its publisher. */
import { MODEL } from '../events/event.ts'
import { micros, PPM, publisherPart } from '../platform/money/money.ts'
import type { CandidateSet } from './candidate-set.ts'
import type { Outcome } from './outcome.ts'
import type { AuctionRequest } from './run-auction.ts'

/**
 * The publisher's micros per click: its part of the price as the ledger books it, or its share of
 * the mean commission if the winner pays on the sale (also if a draw made it win). 0 without a
 * winner.
 */
export function earningsPerClick(
  set: CandidateSet,
  request: AuctionRequest,
  outcome: Outcome,
): number {
  const { winner } = outcome
  if (winner < 0) return 0
  const { sharePpm } = request.publisher
  if (set.model[winner] === MODEL.cpc) return publisherPart(micros(outcome.priceMicros), sharePpm)
  return (set.value[winner] as number) * (outcome.ratePpm / PPM) * (sharePpm / PPM)
}
