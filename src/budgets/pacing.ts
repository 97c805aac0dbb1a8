/**
 * Computes how much of its bid a campaign may offer now, so that its daily budget lasts the day.
 *
 * Multiplicative pacing: the bid is multiplied by a factor of at most 1. At the same budget a lower
 * bid buys more clicks than skipping a share of auctions, because it skips the expensive ones. Once
 * a minute the factor is set so that spending meets the day's traffic curve a little ahead:
 * docs/spec/budgets.md#pacing.
 *
 * Pure: a state and a measurement in, the next state out.
 */

/** The assumed elasticity of spending to the factor: 2 if rivals' bids are spread evenly. */
const ELASTICITY = 2.5
/** Weight lost by the past in a minute: the learned demand is that of about 16 minutes. */
const FORGETTING = 0.06
/** Demand is learned from at least this many clicks, or a small budget would follow chance. */
const CLICKS_LEARNED_FROM = 10
/** The controller aims at the curve after this further part of the day's traffic. */
const LOOK_AHEAD = 0.03
/** And at least this many clicks ahead, because spending moves by whole clicks. */
const CLICKS_AHEAD = 1.5
/** Weight of a new campaign's assumed demand, in clicks. */
const PRIOR_CLICKS = 2
/** A hundredth of a bid is below every floor, or buys next to nothing. */
export const PACE_MIN = 0.01
const MINUTES_PER_DAY = 1440
const LAST_MINUTE = 1 / MINUTES_PER_DAY

/** The interval at which `stepPacer` is to be called. */
export const PACING_INTERVAL_MS = 60_000

/** The controller's state of one campaign. */
export interface Pacer {
  readonly spendMicros: number // recent spending, decayed
  readonly exposure: number // parts of a day, weighted by factor^elasticity, decayed alike
  readonly factor: number
  readonly spentMicros: number // Of the day, when last measured.
  readonly share: number // F when last measured.
}

/** The day so far. */
export interface PacingMeasure {
  readonly budgetMicros: number // B
  readonly spentMicros: number // Of today's budget, by all nodes.
  readonly share: number // F: the part of the day's traffic that the curve expects until now, 0..1.
  readonly priceMaxMicros: number
}

/**
 * A campaign without data: its demand is assumed to equal its budget, so it starts with its whole
 * bid and adapts within minutes. Ten times that demand costs 0.7 % of the budget in the first
 * minute (bench/pacing.ts).
 */
export function newPacer({
  budgetMicros,
  spentMicros,
  share,
  priceMaxMicros,
}: PacingMeasure): Pacer {
  const spendMicros = Math.max(1, PRIOR_CLICKS * priceMaxMicros)
  return { spendMicros, exposure: spendMicros / budgetMicros, factor: 1, spentMicros, share }
}

/** Applies the measurement of another minute and sets the factor for the next one. */
export function stepPacer(before: Pacer, measure: PacingMeasure): Pacer {
  const { spentMicros, share } = measure
  // At midnight UTC both restart from zero: the current values are all of today.
  const isNewDay = share < before.share
  const spend = Math.max(0, spentMicros - (isNewDay ? 0 : before.spentMicros))
  const traffic = share - (isNewDay ? 0 : before.share)
  const kept = 1 - forgetting(measure)
  // A ratio of sums, not a mean of ratios: minutes at a low factor then carry little evidence about
  // the demand at the whole bid, and a late click of a better minute cannot inflate it.
  const spendMicros = kept * before.spendMicros + spend
  const exposure = kept * before.exposure + traffic * before.factor ** ELASTICITY
  const demandMicros = exposure > 0 ? spendMicros / exposure : 0
  return { spendMicros, exposure, factor: paceFactor(measure, demandMicros), spentMicros, share }
}

/**
 * The factor at which a day's demand of `demandMicros` at the whole bid spends the needed amount:
 * within [PACE_MIN, 1], and monotone in the unspent amount.
 */
export function paceFactor(measure: PacingMeasure, demandMicros: number): number {
  const { budgetMicros, spentMicros, share } = measure
  const ahead = Math.max(LOOK_AHEAD, CLICKS_AHEAD / clicksOfBudget(measure))
  const aim = budgetMicros * Math.min(1, share + ahead)
  // At the end of the day less traffic is left than the look-ahead: dividing by the rest spends the
  // last percent as well (used .9892 → .9998 of the budget in bench/pacing.ts).
  const left = Math.max(LAST_MINUTE, Math.min(ahead, 1 - share))
  const need = Math.max(0, aim - spentMicros) / left
  // Compared before dividing: without any demand the whole bid may be offered.
  if (need >= demandMicros) return 1
  return Math.max(PACE_MIN, (need / demandMicros) ** (1 / ELASTICITY))
}

function forgetting(measure: PacingMeasure): number {
  return Math.min(FORGETTING, clicksOfBudget(measure) / (CLICKS_LEARNED_FROM * MINUTES_PER_DAY))
}

/** At the highest price of a click. */
function clicksOfBudget({ budgetMicros, priceMaxMicros }: PacingMeasure): number {
  return budgetMicros / Math.max(1, priceMaxMicros)
}
