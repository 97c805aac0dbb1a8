/** The outcome of an auction, in one reused record: nothing is allocated per auction. */
import { CANDIDATES_MAX } from './candidate-set.ts'

export interface Outcome {
  /** Index of the winning candidate; -1 for none: the link keeps its own destination. */
  winner: number
  /**
   * The merchant's cost per click; 0 for CPA and EPP, which pay on the sale, and without a winner.
   */
  priceMicros: number
  /** Value times weight of the winner, in micros before the publisher's share; 0 without one. */
  score: number
  /** The best eligible candidate of another merchant; -1 for none. */
  runnerUp: number
  runnerUpScore: number
  eligible: number
  /** Whether CPA and EPP candidates competed with drawn instead of mean order rates. */
  explored: boolean
  /** The loss code that best explains a missing winner; 0 with a winner. */
  reason: number
  /** The winner's floor; 0 without a winner. */
  reserveMicros: number
  /**
   * The part of a CPA or EPP winner's contract rate that is paid; a million without second rate.
   */
  ratePpm: number
  /** What exploring gave up against the best mean, in micros per click; 0 unless explored. */
  regretMicros: number
  /** Loss code by candidate, 0 for the winner; valid below the set's `n`. */
  readonly losses: Uint16Array
  /** Value, weight and score by candidate; valid for those that were scored. */
  readonly values: Float64Array
  readonly weights: Float64Array
  readonly scores: Float64Array
}

/** The caller creates one per thread and passes it to every auction. */
export function createOutcome(): Outcome {
  return {
    winner: -1,
    priceMicros: 0,
    score: 0,
    runnerUp: -1,
    runnerUpScore: 0,
    eligible: 0,
    explored: false,
    reason: 0,
    reserveMicros: 0,
    ratePpm: 0,
    regretMicros: 0,
    losses: new Uint16Array(CANDIDATES_MAX),
    values: new Float64Array(CANDIDATES_MAX),
    weights: new Float64Array(CANDIDATES_MAX),
    scores: new Float64Array(CANDIDATES_MAX),
  }
}
