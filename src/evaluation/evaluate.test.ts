import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { beta, gamma, poisson, seededRandom } from '../../test/support/seeded-random.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { UNFITTED_MODEL } from '../prediction/prediction-model.ts'
import { calibrationPlot } from './calibration-plot.ts'
import { type Cohort, evaluate, METHODS } from './evaluate.ts'
import { binsOf, measure, type Outcome, predictiveShares } from './metrics.ts'

const model = { ...UNFITTED_MODEL, delayCurve: [1, 0, 0, 0, 0, 0] }
const options = {
  ...{ slotMs: DAY_MS, fromSlot: 10, toSlot: 20, model, refitSlots: 1 },
  knownUntilMs: Number.POSITIVE_INFINITY,
}

const outcome = (clicks: number, orders: number, predicted: number): Outcome => ({
  ...{ clicks, orders, predicted },
  posterior: null,
})

const near = (got: number | null | undefined, wanted: number, within = 1e-12) =>
  assert(Math.abs((got ?? Number.NaN) - wanted) <= within, `${got}, not ${wanted}`)

test('the metrics match a calculation by hand', () => {
  const metrics = measure([outcome(100, 10, 0.2), outcome(300, 30, 0.1)])
  const loss =
    -(10 * Math.log(0.2) + 90 * Math.log(0.8) + 30 * Math.log(0.1) + 270 * Math.log(0.9)) / 400
  near(metrics.logLoss, loss)
  near(metrics.normalisedEntropy, loss / -(0.1 * Math.log(0.1) + 0.9 * Math.log(0.9)))
  near(metrics.calibration, 50 / 40)
  near(metrics.weightedError, (10 + 0) / 40)
  near(metrics.calibrationError, (100 * 0.1 + 300 * 0) / 40, 1e-9)
  assert.equal(metrics.coverage, null)
})

test('predicting half of the base rate is an error of half, at any base rate', () => {
  for (const rate of [0.1, 0.001]) {
    const groups = Array.from({ length: 20 }, () => outcome(10_000, 10_000 * rate, rate / 2))
    near(measure(groups).calibrationError, 0.5, 1e-9)
  }
})

test('reports calibration by the clicks that a merchant had before', () => {
  const of = (merchantClicks: number, predicted: number) => ({
    ...outcome(1_000, 20, predicted),
    merchantClicks,
  })
  const { calibrationByAge } = measure([of(0, 0.01), of(99, 0.03), of(300, 0.02), of(5_000, 0.04)])
  assert.deepEqual(
    calibrationByAge.map(({ fromClicks, orders }) => [fromClicks, orders]),
    [[0, 40], [100, 0], [300, 20], [1_000, 0], [3_000, 20]], // biome-ignore format: a table
  )
  const shares = calibrationByAge.map(({ calibration }) => calibration)
  near(shares[0], 1)
  assert.equal(shares[1], null)
  near(shares[2], 1)
  near(shares[4], 2)
})

test('coverage groups clicks until they have ten expected orders', () => {
  const posterior = { alpha: 1e6, nEff: 1e6 / 0.02 }
  const slots = (orders: readonly number[]) =>
    orders.map((count) => ({ ...outcome(100, count, 0.02), posterior, group: 'pair' }))
  // Two orders are expected of each slot: five slots are a cohort, and the rest is none.
  const right = measure(slots([2, 2, 2, 2, 2, 9, 9]))
  assert.deepEqual([right.cohorts, (right.coverage ?? 0) > 0.9], [1, true])
  assert.equal(measure(slots([9, 9, 9, 9, 9])).coverage, 0)
  assert.deepEqual(measure(slots([2, 2])).coverage, null)
})

test('the base rate has a normalised entropy of 1, the truth one below', () => {
  const groups = [outcome(1_000, 5, 0.02), outcome(1_000, 35, 0.02)]
  near(measure(groups).normalisedEntropy, 1)
  const truth = [outcome(1_000, 5, 0.005), outcome(1_000, 35, 0.035)]
  assert((measure(truth).normalisedEntropy ?? 1) < 1)
})

test('the normalised entropy is null when every click brought an order', () => {
  for (const orders of [3, 4]) {
    const metrics = measure([outcome(3, orders, 0.02)])
    assert.equal(metrics.normalisedEntropy, null)
    const { calibrationByAge: _, ...numbers } = metrics
    for (const value of Object.values(numbers)) assert(value === null || Number.isFinite(value))
  }
})

test('bins contain equal clicks and lose none', () => {
  const group = fc.record({
    clicks: fc.integer({ min: 1, max: 5_000 }),
    rate: evenly(0, 1),
    predicted: evenly(1e-5, 0.99),
  })
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 60 }), (groups) => {
      const outcomes = groups.map(({ clicks, rate, predicted }) =>
        outcome(clicks, Math.floor(clicks * rate), predicted),
      )
      const bins = binsOf(outcomes)
      const clicks = outcomes.reduce((sum, of) => sum + of.clicks, 0)
      near(
        bins.reduce((sum, bin) => sum + bin.clicks, 0),
        clicks,
        1e-6 * clicks,
      )
      near(
        bins.reduce((sum, bin) => sum + bin.clicks * bin.actual, 0),
        outcomes.reduce((sum, of) => sum + of.orders, 0),
        1e-6 * clicks,
      )
      for (const bin of bins) near(bin.clicks, clicks / 20, 1e-6 * clicks)
      const predicted = bins.map((bin) => bin.predicted)
      predicted.reduce((before, now) => {
        assert(now >= before - 1e-9)
        return now
      }, 0)
    }),
  )
})

test('a constant prediction is judged by its mean, whatever the order of outcomes', () => {
  const groups = Array.from({ length: 40 }, (_, at) => outcome(100, at < 20 ? 0 : 4, 0.02))
  near(measure(groups).calibrationError, 0)
})

test('the predictive probabilities are a distribution', () => {
  const posterior = { alpha: 3, nEff: 200, rate: 0.015, merchantRate: 0.015, merchantError: 0 }
  let upTo = 0
  for (let orders = 0; orders < 200; orders++) {
    const shares = predictiveShares(posterior, { clicks: 1_000, orders })
    near(shares.below, upTo, 1e-12)
    upTo = shares.upTo
  }
  near(upTo, 1, 1e-9)
})

test('covers the expected outcome at any number of orders per slot', () => {
  for (const orders of [250, 750, 5_000]) {
    const posterior = {
      alpha: 100_000,
      nEff: 4_000_000,
      rate: 0.025,
      merchantRate: 0.025,
      merchantError: 0,
    }
    const group = { ...outcome(orders * 40, orders, 0.025), posterior }
    near(measure([group]).coverage, 1)
  }
})

test('a correct posterior covers 80 % of outcomes, an overconfident one less', () => {
  const random = seededRandom(3)
  const outcomes = (sureness: number) =>
    Array.from({ length: 20_000 }, (): Outcome => {
      const rate = gamma(random, 6) / 300
      const posterior = {
        alpha: 6 * sureness,
        nEff: 300 * sureness,
        rate: 0.02,
        merchantRate: 0.02,
        merchantError: 0,
      }
      return { clicks: 500, orders: poisson(random, 500 * rate), predicted: 0.02, posterior }
    })
  near(measure(outcomes(1)).coverage, 0.8, 0.01)
  assert((measure(outcomes(20)).coverage ?? 1) < 0.65)
})

test('evaluates a network of any size', () => {
  const cohort: Cohort = { pubId: 1, merchId: 1, slot: 12, clicks: 1, orders: [] }
  const cohorts = Array.from({ length: 200_000 }, () => cohort)
  assert.equal(evaluate(cohorts, options).clicks, 200_000)
})

/** Merchants that differ much and publishers that differ little, over some weeks. */
function makeCohorts(seed: number): Cohort[] {
  const random = seededRandom(seed)
  return Array.from({ length: 12 }, (_, merchId) => {
    const merchantRate = beta(random, { a: 2, b: 60 })
    return Array.from({ length: 10 }, (_, pubId) => {
      const rate = beta(random, { a: 500 * merchantRate, b: 500 * (1 - merchantRate) })
      const clicksPerDay = 2 + 60 * random() ** 3
      return Array.from({ length: 20 }, (_, slot): Cohort => {
        const clicks = 1 + poisson(random, clicksPerDay)
        const count = Math.min(clicks, poisson(random, clicks * rate))
        // Half of the orders come a day later.
        const late = poisson(random, count / 2)
        const orders = [
          { slot, count: Math.max(0, count - late) },
          { slot: slot + 1, count: Math.min(count, late) },
        ]
        return { pubId, merchId, slot, clicks, orders }
      })
    }).flat()
  }).flat()
}

test('in a known world our estimate beats every baseline and covers what it claims', () => {
  const runs = [1, 2, 3, 4, 5].map((seed) => evaluate(makeCohorts(seed), options))
  const mean = (read: (run: (typeof runs)[number]) => number | null | undefined) =>
    runs.reduce((sum, run) => sum + (read(run) ?? Number.NaN), 0) / runs.length
  const lossOf = (method: (typeof METHODS)[number]) => mean((run) => run.methods?.[method].logLoss)
  for (const method of METHODS) {
    if (method !== 'ours') assert(lossOf('ours') < lossOf(method), method)
  }
  assert(mean((run) => run.methods?.ours.normalisedEntropy) < 1)
  const calibration = mean((run) => run.methods?.ours.calibration)
  assert(calibration > 0.95 && calibration < 1.05, String(calibration))
  const coverage = mean((run) => run.methods?.ours.coverage)
  assert(coverage > 0.77 && coverage < 0.83, String(coverage))
})

/** Readers who order three days after their click, with a log that ends one day after. */
function makeSlowCohorts(seed: number, days: number): Cohort[] {
  const random = seededRandom(seed)
  const waitDays = () => -3 * Math.log(1 - random())
  return Array.from({ length: 48 }, (_, pair) =>
    Array.from({ length: days }, (_, slot): Cohort => {
      const orders = Array.from({ length: poisson(random, 12) }, () => ({
        slot: Math.floor(slot + random() + waitDays()),
        count: 1,
      }))
      const known = orders.filter((order) => order.slot < days)
      return { pubId: pair % 6, merchId: Math.floor(pair / 6), slot, clicks: 600, orders: known }
    }),
  ).flat()
}

test('where orders are still to come, predicts only those due by now', () => {
  const days = 60
  const worlds = [1, 2, 3, 4, 5].map((seed) => makeSlowCohorts(seed, days))
  for (const lastDays of [28, 7]) {
    const window = { fromSlot: days - lastDays, toSlot: days, knownUntilMs: days * DAY_MS }
    const runs = worlds.map((cohorts) =>
      evaluate(cohorts, { ...options, ...window, model: UNFITTED_MODEL }),
    )
    const mean = (read: (run: (typeof runs)[number]) => number | null | undefined) =>
      runs.reduce((sum, run) => sum + (read(run) ?? Number.NaN), 0) / runs.length
    near(
      mean(({ methods }) => methods?.ours.calibration),
      1,
      0.03,
    )
    near(
      mean(({ methods }) => methods?.merchant.calibration),
      1,
      0.03,
    )
    near(
      mean(({ methods }) => methods?.ours.coverage),
      0.8,
      0.02,
    )
  }
})

/** Each method's prediction for the clicks of pair 1/1 in slot 10. */
function predictions(before: readonly Cohort[]) {
  const asked = { pubId: 1, merchId: 1, slot: 10, clicks: 100, orders: [{ slot: 10, count: 5 }] }
  const { methods } = evaluate([...before, asked], { ...options, toSlot: 11 })
  const rates = METHODS.map((method) => [method, ((methods?.[method].calibration ?? 0) * 5) / 100])
  return Object.fromEntries(rates)
}

const cohort = (pubId: number, merchId: number, slot: number, clicks: number, count: number) => ({
  ...{ pubId, merchId, slot, clicks },
  orders: [{ slot, count }],
})

test('the baselines are the means of the network, of the merchant, and of the pair’s last week', () => {
  const seen = predictions([
    cohort(1, 1, 5, 100, 10),
    cohort(2, 1, 5, 300, 6),
    cohort(1, 2, 5, 600, 2),
  ])
  near(seen.global, 18 / 1000)
  near(seen.merchant, 16 / 400, 0.003) // Some of its clicks may still bring their orders.
  near(seen.pair7d, 10 / 100)
  assert(seen.ours > seen.merchant / 2 && seen.ours < seen.pair7d, 'ours lies between')
})

test('a week is seven days, without anything that came later', () => {
  const late = { ...cohort(1, 1, 9, 50, 4), orders: [9, 10].map((slot) => ({ slot, count: 4 })) }
  const week = predictions([cohort(1, 1, 2, 1_000, 500), cohort(1, 1, 3, 50, 1), late])
  near(week.pair7d, 5 / 100)
  const [old, other] = [cohort(1, 1, 2, 1_000, 500), cohort(2, 2, 5, 1_000, 20)]
  near(predictions([old, other]).pair7d, 520 / 2_000)
})

test('a pair without evidence gets the network’s rate, an empty network the model’s', () => {
  const { global, merchant, pair7d } = predictions([cohort(2, 2, 5, 1_000, 30)])
  for (const rate of [global, merchant, pair7d]) near(rate, 0.03)
  const silent = predictions([])
  for (const method of METHODS) near(silent[method], UNFITTED_MODEL.rates.globalRate)
})

test('many orders of one click move other merchants’ prediction no more than one order', () => {
  const of = (count: number) => predictions([cohort(2, 2, 5, 1, count)]).ours
  near(of(60), of(1))
})

test('refits the model every few slots, on the data known then', () => {
  const random = seededRandom(6)
  // Merchants and publishers that do not differ at all: needs more shrinkage than at the start.
  const alike = Array.from({ length: 40 }, (_, pubId) =>
    Array.from({ length: 20 }, (_, slot): Cohort => {
      const count = Math.min(60, poisson(random, 1.2))
      return { pubId, merchId: pubId % 8, slot, clicks: 60, orders: [{ slot, count }] }
    }),
  ).flat()
  const lossOf = (refitSlots: number) =>
    evaluate(alike, { ...options, refitSlots }).methods?.ours.logLoss ?? Number.NaN
  assert(lossOf(1) < lossOf(1_000))
})

test('nothing that comes later changes a prediction', () => {
  const cohorts = makeCohorts(9)
  const until = { ...options, toSlot: 15 }
  const whole = evaluate(cohorts, until)
  const cut = cohorts
    .filter(({ slot }) => slot < 15)
    // Later orders still count as outcomes; they were not known before.
    .map((cohort) => cohort)
  assert.deepEqual(evaluate(cut, until), whole)
  const foreseen = cohorts.map((cohort) =>
    cohort.slot < 15 ? cohort : { ...cohort, clicks: 1, orders: [{ slot: cohort.slot, count: 1 }] },
  )
  assert.deepEqual(evaluate(foreseen, until), whole)
})

test('an order is known from the slot after it came', () => {
  const pair = { pubId: 1, merchId: 1, clicks: 1_000 }
  const withOrders = (slot: number) => [
    { ...pair, slot: 0, orders: [{ slot, count: 500 }] },
    { ...pair, slot: 2, orders: [{ slot: 2, count: 1 }] },
  ]
  const predictedAt2 = (orderSlot: number) =>
    evaluate(withOrders(orderSlot), { ...options, fromSlot: 2, toSlot: 3 }).bins[0]?.predicted ?? 0
  assert(predictedAt2(1) > 0.2)
  assert(predictedAt2(2) < 0.02)
})

test('measures a click whose node’s clock is ahead like one of the current moment', () => {
  const asked = { pubId: 1, merchId: 1, slot: 12, clicks: 9, orders: [{ slot: 12, count: 1 }] }
  for (const early of [0, 1, DAY_MS]) {
    const { methods } = evaluate([asked], { ...options, knownUntilMs: 12 * DAY_MS - early })
    const { calibrationByAge: _, coverage, ...numbers } = methods?.ours ?? {}
    assert.equal(coverage, null, 'no cohort had ten expected orders')
    for (const value of Object.values(numbers)) assert(Number.isFinite(value), String(early))
  }
})

test('reports that there is nothing to measure without clicks or orders', () => {
  assert.deepEqual(evaluate([], options), {
    ...{ clicks: 0, orders: 0, pairSlots: 0 },
    ...{ methods: null, bins: [] },
  })
  const barren = [{ pubId: 1, merchId: 1, slot: 12, clicks: 9, orders: [] }]
  assert.equal(evaluate(barren, options).methods, null)
})

test('the plot has a dot for each bin and labels its contents', () => {
  const evaluation = evaluate(makeCohorts(4), options)
  const svg = calibrationPlot(evaluation)
  assert.equal(svg.match(/<circle /g)?.length, evaluation.bins.length)
  assert.match(svg, /normalised entropy 0\.\d{4}, calibration \d\.\d{3}/)
  assert.match(svg, /^<svg .*<\/svg>\n$/s)
  assert.doesNotMatch(svg, /NaN|undefined|Infinity/)
  assert.match(calibrationPlot(evaluate([], options)), /nothing to measure/)
  const certain = { ...evaluation, bins: [{ clicks: 9, predicted: 0.02, actual: 1 }] }
  assert.match(calibrationPlot(certain), />100 %</, 'writes a rate in plain decimals')
})

test('a mark on the plot’s axes is at its rate, in round steps', () => {
  for (const most of [0.00031, 0.0078, 0.14, 0.4, 1]) {
    const bins = [{ clicks: 9, predicted: most / 2, actual: most }]
    const svg = calibrationPlot({ ...evaluate([], options), bins })
    const dot = Number(svg.match(/<circle [^>]*cy="([\d.]+)"/)?.[1])
    const marks = [...svg.matchAll(/y="([\d.]+)" text-anchor="end">([\d.]+) %</g)]
    assert(marks.length >= 2, svg)
    for (const [, y, percent] of marks) {
      near(424 - (Number(y) - 4), ((424 - dot) * Number(percent)) / 100 / most, 0.02)
    }
    assert.match(marks[0]?.[2] ?? '', /^(0\.0*)?[125]0?$/)
  }
})
