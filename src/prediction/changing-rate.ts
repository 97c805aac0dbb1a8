/**
 * What is the rate now, if it may have changed at any time? For orders per click, or value per
 * order, of one campaign in consecutive spans of time.
 *
 * A plain mean of two weeks is precise while nothing changes, and wrong for a week once a shop's
 * checkout breaks. So the spans are taken as stretches of constant rate (Bayesian change points;
 * Adams and MacKay 2007). Each possible start of the present stretch counts by how likely it makes
 * the counts that were seen. Counts scatter as Poisson counts, the prior is a gamma.
 */
import { logGamma } from './log-gamma.ts'

/** What was seen in a span of time, e.g. clicks and their orders. */
export interface Span {
  readonly exposure: number
  readonly count: number
}

export interface RatePrior {
  readonly rate: number // count per exposure
  readonly count: number // that the prior is worth in each stretch; its shape
  /** The chance that the rate changes from one span to the next. */
  readonly changeChance: number
}

export interface ChangingRate {
  readonly rate: number
  /**
   * Standard deviation of the rate over the possible starts of the present stretch. Near 0 while
   * all starts agree; large where a change is suspected and not certain.
   */
  readonly doubt: number
}

/** A possible start of the present stretch: what was seen since then. */
interface Stretch extends Span {
  readonly logWeight: number // of the spans before it, and of starting there
}

/** Estimates the present rate from spans, the oldest first. */
export function estimateChangingRate(spans: readonly Span[], prior: RatePrior): ChangingRate {
  const logLikelihood = likelihoodUnder(prior)
  let stretches: readonly Stretch[] = []
  for (const span of spans) {
    const before = logSum(stretches.map((of) => of.logWeight + logLikelihood(of)))
    const isFirst = stretches.length === 0
    const started = { ...span, logWeight: isFirst ? 0 : before + Math.log(prior.changeChance) }
    const lasting = stretches.map(({ exposure, count, logWeight }) => ({
      exposure: exposure + span.exposure,
      count: count + span.count,
      logWeight: logWeight + Math.log1p(-prior.changeChance),
    }))
    stretches = [...lasting, started]
  }
  if (stretches.length === 0) return { rate: prior.rate, doubt: 0 }
  const logWeights = stretches.map((of) => of.logWeight + logLikelihood(of))
  const all = logSum(logWeights)
  const priorExposure = prior.count / prior.rate
  const starts = stretches.map(({ exposure, count }, at) => ({
    weight: Math.exp((logWeights[at] ?? 0) - all),
    rate: (prior.count + count) / (priorExposure + exposure),
  }))
  const rate = starts.reduce((sum, start) => sum + start.weight * start.rate, 0)
  // From the deviations: the difference of two squares would lose half of all digits.
  const variance = starts.reduce((sum, start) => sum + start.weight * (start.rate - rate) ** 2, 0)
  return { rate, doubt: Math.sqrt(variance) }
}

/** The log likelihood of a stretch, less what all ways of cutting the spans share. */
function likelihoodUnder({ count: shape, rate }: RatePrior): (of: Span) => number {
  const priorExposure = shape / rate
  const none = logGamma(shape)
  return ({ exposure, count }) =>
    logGamma(shape + count) -
    none -
    count * Math.log(priorExposure) -
    (shape + count) * Math.log1p(exposure / priorExposure)
}

/** ln Σ e^log, also where the terms are too small for a number; -Infinity for none. */
function logSum(logs: readonly number[]): number {
  const most = Math.max(...logs)
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0))
}
