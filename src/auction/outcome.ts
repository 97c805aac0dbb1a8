/** What an auction decided, in one record that is used again: nothing is allocated per auction. */
import { CANDIDATES_MAX } from './candidate-set.ts'

export interface Outcome {
  /** Index of the winning candidate; -1: nobody, the link keeps its own destination. */
  winner: number
  /** What a click costs its merchant; 0 for CPA and EPP, which pay on the sale, and for nobody. */
  priceMicros: number
  /** Value times weight of the winner, in micros before the publisher's share; 0 for nobody. */
  score: number
  /** The best eligible candidate of another merchant; -1: none. */
  runnerUp: number
  runnerUpScore: number
  eligible: number
  /** Whether CPA and EPP candidates competed with drawn instead of mean order rates. */
  explored: boolean
  /** Loss code that says best why nobody won (loss-reason.ts); 0 when somebody did. */
  reason: number
  /** The least price that held for the winner; 0 for nobody. */
  reserveMicros: number
  /** Part of a CPA or EPP winner's contract rate that is paid; a million unless `cpaSecondRate`. */
  ratePpm: number
  /** What exploring gave up against the best mean, in micros a click; 0 unless explored. */
  regretMicros: number
  /** Loss code by candidate, 0 for the winner; meaningful below the set's `n`. */
  readonly losses: Uint16Array
  /** Value, weight and score by candidate; meaningful for those that reached the scoring. */
  readonly values: Float64Array
  readonly weights: Float64Array
  readonly scores: Float64Array
}

/** The caller makes one per thread and hands it to every auction. */
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
