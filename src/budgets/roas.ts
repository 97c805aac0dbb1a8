/**
 * How far must a CPC bid go down so that the merchant's return on ad spend meets its goal?
 *
 * `bid_eff = min(bid, θ·A/τ · m)`: what a click returns over the goal τ, corrected by a multiplier
 * `m` that follows the return really observed (economics 2.4).
 */
import type { PairOutlook } from '../prediction/outlook.ts'

/**
 * How fast the multiplier follows: a return of half the goal takes 0.5 % off it at each hour's
 * update, 11 % in a day. What it did shows in the return after days only (roas-store.ts): ten times
 * faster it never settled, and swung between its bounds every three weeks.
 */
const LEARNING_RATE = 0.01
const MULTIPLIER_MIN = 0.2
const MULTIPLIER_MAX = 1
/** Spend below this many clicks' worth says nothing about the return. */
const CLICKS_MIN = 50
/**
 * What an hour's update forgets without a return to follow: half of it after a week, as of the
 * clicks that taught it. A bid that the multiplier took below every floor gets no clicks any more,
 * and would stay there for good.
 */
const FORGOTTEN_PER_STEP = 1 - 0.5 ** (1 / (7 * 24))

/** Order value and spend of a campaign over its ripe clicks, both decayed alike. */
export interface RoasMeasure {
  readonly goal: number // τ: order value per spend
  readonly valueMicros: number
  readonly spendMicros: number
  readonly bidMicros: number
}

/**
 * The next multiplier: `m·exp(η(ROAS/τ − 1))`, within [.2, 1]; while little is known it goes back
 * to 1, which trusts the forecast.
 */
export function stepRoasMultiplier(multiplier: number, measure: RoasMeasure): number {
  const { goal, valueMicros, spendMicros, bidMicros } = measure
  if (spendMicros < CLICKS_MIN * bidMicros) {
    return multiplier + (MULTIPLIER_MAX - multiplier) * FORGOTTEN_PER_STEP
  }
  const ratio = valueMicros / spendMicros / goal
  // A single large order must not overflow the exponential; the clip holds anyway.
  const next = multiplier * Math.exp(LEARNING_RATE * Math.min(10, ratio - 1))
  return Math.min(MULTIPLIER_MAX, Math.max(MULTIPLIER_MIN, next))
}

/** What a click is worth to a goal, θ·A/τ in micros: the ceiling of its bid. None: no ceiling. */
export function roasCeiling(
  { rate, value }: Pick<PairOutlook, 'rate' | 'value'>,
  goal: number | null,
): number {
  return goal === null ? Number.POSITIVE_INFINITY : (rate.rate * value.meanMicros) / goal
}

/** Whole micros to bid under a ceiling, never above the typed bid. */
export function roasBid(bidMicros: number, ceilingMicros: number, multiplier: number): number {
  return Math.min(bidMicros, Math.floor(ceilingMicros * multiplier))
}
