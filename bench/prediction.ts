/**
 * Does the shrunken estimate beat simpler ones where the truth is known?
 *
 * Synthetic: 40 merchants and 25 publishers whose rates scatter as beta-binomials of K0 = 150 and
 * K1 = 800 around 2 %; few clicks for most pairs, many for some. Fitted on one half, measured on
 * another that was drawn from the same truth. Prints means over 30 seeds, and fails when ours is
 * not the best or its 80 % interval covers less than 77 or more than 83 % of the true rates.
 */

import { measure, type Outcome } from '../src/evaluation/metrics.ts'
import { fitConcentration } from '../src/prediction/fit.ts'
import { networkRate } from '../src/prediction/network-prior.ts'
import {
  type Counts,
  estimateRate,
  gammaQuantile,
  type RateModel,
} from '../src/prediction/predict.ts'
import { beta, normal, poisson, type Random, seededRandom } from '../test/support/seeded-random.ts'

const SEEDS = 30
const MERCHANTS = 40
const PUBLISHERS = 25
const TRUTH: RateModel = { globalRate: 0.02, k0: 150, k1: 800 }
const CLICKS_MEAN = 40
const CLICKS_SPREAD = 1.2 // of the logarithm
const Z80 = 1.2816

interface Pair {
  readonly merchId: number
  readonly rate: number
  readonly seen: Counts
  readonly next: Counts
}

function makePairs(random: Random): Pair[] {
  const scatter = (rate: number, k: number) => beta(random, { a: k * rate, b: k * (1 - rate) })
  const draw = (clicks: number, rate: number): Counts => ({
    clicks,
    orders: Math.min(clicks, poisson(random, clicks * rate)),
  })
  return Array.from({ length: MERCHANTS }, (_, merchId) => {
    const merchantRate = scatter(TRUTH.globalRate, TRUTH.k0)
    return Array.from({ length: PUBLISHERS }, (): Pair => {
      const rate = scatter(merchantRate, TRUTH.k1)
      const exponent = CLICKS_SPREAD * normal(random) - CLICKS_SPREAD ** 2 / 2
      const clicks = 1 + Math.floor(CLICKS_MEAN * Math.exp(exponent))
      return { merchId, rate, seen: draw(clicks, rate), next: draw(clicks, rate) }
    })
  }).flat()
}

function sum(parts: readonly Counts[]): Counts {
  return {
    clicks: parts.reduce((total, { clicks }) => total + clicks, 0),
    orders: parts.reduce((total, { orders }) => total + orders, 0),
  }
}

function runSeed(seed: number) {
  const pairs = makePairs(seededRandom(seed))
  const byMerchant = Map.groupBy(pairs, ({ merchId }) => merchId)
  const merchants = new Map(
    [...byMerchant].map(([merchId, of]) => [merchId, sum(of.map(({ seen }) => seen))]),
  )
  const network = sum([...merchants.values()])
  const globalRate = networkRate([...merchants.values()])
  const merchantOf = ({ merchId }: Pair): Counts => merchants.get(merchId) ?? network
  const k0 = fitConcentration([...merchants.values()].map((of) => ({ ...of, rate: globalRate })))
  const k1 = fitConcentration(
    pairs.map((pair) => {
      const model = { globalRate, k0, k1: 1 }
      return { ...pair.seen, rate: estimateRate(model, merchantOf(pair), pair.seen).merchantRate }
    }),
  )
  const estimate = (pair: Pair) => estimateRate({ globalRate, k0, k1 }, merchantOf(pair), pair.seen)
  const methods: Record<string, (pair: Pair) => number> = {
    'global mean': () => network.orders / network.clicks,
    'merchant mean': (pair) => merchantOf(pair).orders / merchantOf(pair).clicks,
    'raw pair': ({ seen }) => seen.orders / seen.clicks,
    ours: (pair) => estimate(pair).rate,
    'the truth': ({ rate }) => rate,
  }
  let [inside, clicks] = [0, 0]
  for (const pair of pairs) {
    const { alpha, nEff } = estimate(pair)
    const isIn =
      pair.rate >= gammaQuantile(alpha, -Z80) / nEff &&
      pair.rate <= gammaQuantile(alpha, Z80) / nEff
    inside += isIn ? pair.seen.clicks : 0
    clicks += pair.seen.clicks
  }
  const figures = Object.entries(methods).map(([name, predict]) => ({
    name,
    ...figuresOf(pairs, predict),
  }))
  return { figures, coverage: inside / clicks, k0, k1 }
}

function figuresOf(pairs: readonly Pair[], predict: (pair: Pair) => number) {
  const outcomes = pairs.map((pair): Outcome => {
    const predicted = Math.min(1 - 1e-5, Math.max(1e-5, predict(pair)))
    return { ...pair.next, predicted, posterior: null }
  })
  const wrong = pairs.reduce(
    (total, pair) => total + pair.seen.clicks * Math.abs(predict(pair) - pair.rate),
    0,
  )
  const right = pairs.reduce((total, pair) => total + pair.seen.clicks * pair.rate, 0)
  const { logLoss, normalisedEntropy } = measure(outcomes)
  return { error: wrong / right, logLoss, normalisedEntropy: normalisedEntropy ?? Number.NaN }
}

const runs = Array.from({ length: SEEDS }, (_, seed) => runSeed(seed + 1))
const mean = (values: readonly number[]) =>
  values.reduce((total, value) => total + value, 0) / values.length
const names = runs[0]?.figures.map(({ name }) => name) ?? []
const table = names.map((name) => {
  const rows = runs.flatMap(({ figures }) => figures.filter((row) => row.name === name))
  return {
    name,
    error: mean(rows.map(({ error }) => error)),
    logLoss: mean(rows.map(({ logLoss }) => logLoss)),
    entropy: mean(rows.map(({ normalisedEntropy }) => normalisedEntropy)),
  }
})
console.log(`synthetic world, means over ${SEEDS} seeds; error against the true rates`)
console.log('method          error   log loss  normalised entropy')
for (const { name, error, logLoss, entropy } of table) {
  const cells = [error.toFixed(3), logLoss.toFixed(5), entropy.toFixed(5)]
  console.log(`${name.padEnd(14)}  ${cells.join('   ')}`)
}
const coverage = mean(runs.map((run) => run.coverage))
const fitted = { k0: mean(runs.map(({ k0 }) => k0)), k1: mean(runs.map(({ k1 }) => k1)) }
console.log(
  `80 % interval covers ${(coverage * 100).toFixed(1)} % (77–83); ` +
    `K0 ${fitted.k0.toFixed(0)} (true ${TRUTH.k0}), K1 ${fitted.k1.toFixed(0)} (true ${TRUTH.k1})`,
)
const best = table
  .filter(({ name }) => name !== 'the truth')
  .toSorted((left, right) => left.logLoss - right.logLoss)[0]
if (best?.name !== 'ours' || coverage < 0.77 || coverage > 0.83) process.exitCode = 1
