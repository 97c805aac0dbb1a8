/**
 * How well does pacing spend a daily budget, and what does it buy? docs/spec/budgets.md#pacing.
 *
 * Simulated days of a second-price market: a diurnal curve, a forecast that is wrong by up to ±35 %
 * in any hour, one hour with three times the traffic. The best rival of each auction asks a price
 * drawn from the market; the campaign wins if its paced bid reaches it, and pays it.
 *
 * Prints the part of the budget used, the mean distance of the spending from the forecast curve,
 * and the clicks against a coin that leaves out a share of auctions. Exits 1 if a goal is missed.
 */
import { newPacer, type Pacer, stepPacer } from '../src/budgets/pacing.ts'
import { normal, poisson, type Random, seededRandom } from '../test/support/seeded-random.ts'

const MINUTES = 1440
const SEED = 20_260_413
const BID_MICROS = 350_000
const FLOOR_MICROS = 10_000
const FORECAST_ERROR = 0.35
const BURST_FACTOR = 3
/** Prices by quantile; enough for means and draws alike. */
const PRICES = 4_096

/** The prices of a market that the whole bid would win, ascending, and their mean. */
interface Market {
  readonly prices: Float64Array
  readonly meanMicros: number
  readonly drawsPerMicro: number // Auctions that the whole bid wins, per micro spent.
}

/** Draws the asked price of an auction's best rival, as a part of the typed bid. */
const MARKETS: Record<string, (random: Random) => number> = {
  'log-normal': (random) => 0.7 * Math.exp(0.6 * normal(random)),
  uniform: (random) => 1.2 * random(),
  close: (random) => 0.7 * Math.exp(0.2 * normal(random)),
  'one rival': () => 0.6,
}

interface Day {
  readonly traffic: readonly number[] // True share of the day by minute, without the burst: sum 1.
  readonly forecast: readonly number[] // F at the end of each minute.
}

interface Result {
  readonly used: number
  readonly error: number
  readonly clicks: number
}

interface Campaign {
  readonly budgetMicros: number
  readonly demand: number // What its whole bid would spend in a day, in budgets.
}

function makeMarket(draw: (random: Random) => number): Market {
  const random = seededRandom(SEED)
  const won: number[] = []
  while (won.length < PRICES) {
    const asked = Math.max(FLOOR_MICROS, Math.ceil(draw(random) * BID_MICROS))
    if (asked <= BID_MICROS) won.push(asked)
  }
  const prices = Float64Array.from(won.sort((a, b) => a - b))
  const meanMicros = prices.reduce((sum, price) => sum + price, 0) / PRICES
  return { prices, meanMicros, drawsPerMicro: 1 / meanMicros }
}

function makeDay(random: Random): Day {
  const burstHour = Math.floor(random() * 24)
  const hours = Array.from(
    { length: 24 },
    (_, hour) => 1 - 0.6 * Math.cos((hour - 4) * (Math.PI / 12)),
  )
  const total = hours.reduce((sum, weight) => sum + weight, 0)
  const guessed = hours.map((weight) => weight * (1 + (random() * 2 - 1) * FORECAST_ERROR))
  const guessedTotal = guessed.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  const traffic: number[] = []
  const forecast: number[] = []
  for (let minute = 0; minute < MINUTES; minute++) {
    const hour = Math.floor(minute / 60)
    const burst = hour === burstHour ? BURST_FACTOR : 1
    traffic.push(((hours[hour] ?? 0) / total / 60) * burst)
    sum += (guessed[hour] ?? 0) / guessedTotal / 60
    forecast.push(sum)
  }
  return { traffic, forecast }
}

/** How many of the sorted prices a bid reaches. */
function countReached(prices: Float64Array, bidMicros: number): number {
  let low = 0
  let high = prices.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((prices[middle] as number) <= bidMicros) low = middle + 1
    else high = middle
  }
  return low
}

/** How a controller takes part in a minute: with which bid, in what share of the auctions. */
interface Offer {
  readonly bidMicros: number
  readonly share: number
}

type Controller = (state: { minute: number; spentMicros: number; day: Day }) => Offer

function byBid({ budgetMicros }: Campaign): Controller {
  const at = (spentMicros: number, share: number) => ({
    ...{ budgetMicros, spentMicros, share, priceMaxMicros: BID_MICROS },
  })
  let pacer: Pacer = newPacer(at(0, 0))
  return ({ minute, spentMicros, day }) => {
    if (minute > 0) pacer = stepPacer(pacer, at(spentMicros, day.forecast[minute - 1] ?? 0))
    return { bidMicros: Math.floor(BID_MICROS * Math.fround(pacer.factor)), share: 1 }
  }
}

/** Leaves out auctions at the whole bid, by the same rule with an elasticity of 1. */
function byCoin({ budgetMicros }: Campaign): Controller {
  let [spent, exposure, share, before] = [budgetMicros / MINUTES, 1 / MINUTES, 1, 0]
  return ({ minute, spentMicros, day }) => {
    if (minute > 0) {
      const now = day.forecast[minute - 1] ?? 0
      spent = 0.94 * spent + 0.06 * (spentMicros - before)
      exposure = 0.94 * exposure + 0.06 * share * (now - (day.forecast[minute - 2] ?? 0))
      const left = Math.max(1 / MINUTES, Math.min(0.03, 1 - now))
      const need = Math.max(0, budgetMicros * Math.min(1, now + 0.03) - spentMicros) / left
      share = Math.min(1, Math.max(0.01, (need * exposure) / spent))
      before = spentMicros
    }
    return { bidMicros: BID_MICROS, share }
  }
}

const CONTROLLERS = {
  none: (): Controller => () => ({ bidMicros: BID_MICROS, share: 1 }),
  coin: byCoin,
  bid: byBid,
}

function runDay(
  decide: Controller,
  { campaign, market, random }: { campaign: Campaign; market: Market; random: Random },
): Result {
  const { budgetMicros, demand } = campaign
  const day = makeDay(random)
  let [spent, error, clicks] = [0, 0, 0]
  for (let minute = 0; minute < MINUTES; minute++) {
    const { bidMicros, share } = decide({ minute, spentMicros: spent, day })
    const reached = countReached(market.prices, bidMicros)
    const all = budgetMicros * demand * (day.traffic[minute] ?? 0) * market.drawsPerMicro
    const won = poisson(random, (all * share * reached) / PRICES)
    for (let click = 0; click < won; click++) {
      const price = market.prices[Math.floor(random() * reached)] as number
      // The lease holds the cap; a click that does not fit is not charged.
      if (spent + price > budgetMicros) break
      spent += price
      clicks += 1
    }
    error += Math.abs(spent / budgetMicros - (day.forecast[minute] ?? 1)) / MINUTES
  }
  return { used: spent / budgetMicros, error, clicks }
}

function runDays(
  make: (campaign: Campaign) => Controller,
  { campaign, market, days }: { campaign: Campaign; market: Market; days: number },
): Result {
  let [used, error, clicks] = [0, 0, 0]
  for (let index = 0; index < days; index++) {
    const random = seededRandom(SEED + index)
    const result = runDay(make(campaign), { campaign, market, random })
    used += result.used / days
    error += result.error / days
    clicks += result.clicks / days
  }
  return { used, error, clicks }
}

interface Row {
  readonly market: string
  readonly demand: number
  readonly budgetClicks: number // Of the budget, at the mean price of the whole bid.
  readonly days: number
  readonly goals?: { readonly error?: number; readonly clicks?: number }
}

const ERROR_MAX = 0.0024
const ROWS: readonly Row[] = [
  {
    market: 'log-normal',
    demand: 3,
    budgetClicks: 3_000,
    days: 60,
    goals: { error: ERROR_MAX, clicks: 1.3 },
  },
  { market: 'log-normal', demand: 10, budgetClicks: 3_000, days: 60, goals: { error: ERROR_MAX } },
  {
    market: 'log-normal',
    demand: 3,
    budgetClicks: 28_000,
    days: 40,
    goals: { error: ERROR_MAX, clicks: 1.3 },
  },
  { market: 'log-normal', demand: 1.1, budgetClicks: 3_000, days: 60 },
  {
    market: 'uniform',
    demand: 3,
    budgetClicks: 3_000,
    days: 60,
    goals: { error: ERROR_MAX, clicks: 1.3 },
  },
  { market: 'close', demand: 3, budgetClicks: 3_000, days: 60, goals: { error: ERROR_MAX } },
  { market: 'one rival', demand: 3, budgetClicks: 3_000, days: 60 },
  ...[20, 50, 200, 1_000].map((budgetClicks) => ({
    ...{ market: 'log-normal', demand: 3, budgetClicks, days: 200 },
  })),
]

console.log(`seed ${SEED}; error: mean |spent/budget - F|; clicks: against the coin`)
console.log('market      demand  budget  pacing    used    error   clicks')
for (const { market: name, demand, budgetClicks, days, goals = {} } of ROWS) {
  const draw = MARKETS[name]
  if (draw === undefined) throw new Error(`no market ${name}`)
  const market = makeMarket(draw)
  const campaign = { budgetMicros: Math.round(budgetClicks * market.meanMicros), demand }
  const results = Object.entries(CONTROLLERS).map(
    ([pacing, make]) => [pacing, runDays(make, { campaign, market, days })] as const,
  )
  const coin = results.find(([pacing]) => pacing === 'coin')?.[1].clicks ?? 1
  for (const [pacing, { used, error, clicks }] of results) {
    const gain = clicks / coin
    const isMissed = pacing === 'bid' && (error > (goals.error ?? 1) || gain < (goals.clicks ?? 0))
    if (isMissed) process.exitCode = 1
    console.log(
      [
        name.padEnd(10),
        `${demand}x`.padStart(6),
        String(budgetClicks).padStart(6),
        pacing.padEnd(6),
        used.toFixed(4).padStart(7),
        error.toFixed(4).padStart(7),
        `${gain.toFixed(2)}${isMissed ? '  MISSED' : ''}`.padStart(6),
      ].join('  '),
    )
  }
}
