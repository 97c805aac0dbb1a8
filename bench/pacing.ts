/**
 * How well does pacing spend a daily budget along the traffic? The table of economics 2.4.
 *
 * 200 simulated days for each demand: a diurnal curve, a forecast that is wrong by up to ±35 % in
 * any hour, one hour with three times the traffic, readers who click at random. Prints the part of
 * the budget used and the mean distance of the spending from the forecast curve, and fails when
 * ours is above the error stated there.
 */
import { newPacer, stepPacer } from '../src/demand/pacing.ts'
import { poisson, type Random, seededRandom } from '../test/seeded-random.ts'

const DAYS = 200
const MINUTES = 1440
const SEED = 20_260_413
/** Some 28,000 clicks; with a tenth of that their own noise alone is .0023. */
const BUDGET_MICROS = 10_000e6
const PRICE_MICROS = 350_000
const FORECAST_ERROR = 0.35
const BURST_FACTOR = 3

interface Day {
  readonly traffic: readonly number[] // true share of the day by minute, without the burst: sum 1
  readonly forecast: readonly number[] // F at the end of each minute
}

interface Figures {
  used: number
  error: number
  exhausted: number[] // minutes at which the budget ran out
}

/** Decides, once a minute, what part of the next minute's traffic may be taken. */
type Controller = (state: { minute: number; spentMicros: number; day: Day }) => number

const controllers: Record<string, () => Controller> = {
  none: () => () => 1,
  'steps of 10 %': () => {
    let ptr = 0.1
    return ({ minute, spentMicros, day }) => {
      const behind = spentMicros < BUDGET_MICROS * (day.forecast[minute] ?? 1)
      ptr = Math.min(1, Math.max(0.01, ptr * (behind ? 1.1 : 0.9)))
      return ptr
    }
  },
  ours: () => {
    let pacer = newPacer(measure(0, 0))
    return ({ minute, spentMicros, day }) => {
      if (minute > 0) pacer = stepPacer(pacer, measure(spentMicros, day.forecast[minute - 1] ?? 0))
      return pacer.ptr
    }
  },
}

/** What economics 2.4 states for ours: the budget used at least, the error at most. */
const STATED: Record<string, { used: number; error: number }> = {
  '3': { used: 0.9997, error: 0.0023 },
  '10': { used: 0.9997, error: 0.0024 },
  '1.1': { used: 0.979, error: 0.0144 },
}

function measure(spentMicros: number, share: number) {
  return { budgetMicros: BUDGET_MICROS, spentMicros, share, priceMaxMicros: PRICE_MICROS }
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

function runDay(
  day: Day,
  decide: Controller,
  { demand, random }: { demand: number; random: Random },
) {
  let spent = 0
  let error = 0
  let exhausted = MINUTES
  for (let minute = 0; minute < MINUTES; minute++) {
    const ptr = decide({ minute, spentMicros: spent, day })
    const cost = BUDGET_MICROS * demand * (day.traffic[minute] ?? 0)
    const clicks = poisson(random, (ptr * cost) / PRICE_MICROS)
    // The lease holds the cap; a click that does not fit is not charged.
    spent += Math.min(clicks, Math.floor((BUDGET_MICROS - spent) / PRICE_MICROS)) * PRICE_MICROS
    if (spent > BUDGET_MICROS - PRICE_MICROS) exhausted = Math.min(exhausted, minute)
    error += Math.abs(spent / BUDGET_MICROS - (day.forecast[minute] ?? 1)) / MINUTES
  }
  return { used: spent / BUDGET_MICROS, error, exhausted }
}

function runDays(make: () => Controller, demand: number): Figures {
  const figures: Figures = { used: 0, error: 0, exhausted: [] }
  for (let index = 0; index < DAYS; index++) {
    const random = seededRandom(SEED + index)
    const result = runDay(makeDay(random), make(), { demand, random })
    figures.used += result.used / DAYS
    figures.error += result.error / DAYS
    if (result.exhausted < MINUTES) figures.exhausted.push(result.exhausted)
  }
  return figures
}

console.log(`${DAYS} days a row, seed ${SEED}; error: mean |spent/budget - F|`)
console.log('demand  controller      used     error    stated')
for (const demand of [3, 10, 1.1]) {
  for (const [name, make] of Object.entries(controllers)) {
    const { used, error, exhausted } = runDays(make, demand)
    const stated = name === 'ours' ? STATED[String(demand)] : undefined
    const isMissed = stated !== undefined && (error > stated.error || used < stated.used)
    if (isMissed) process.exitCode = 1
    const mean = exhausted.reduce((sum, minute) => sum + minute, 0) / Math.max(1, exhausted.length)
    console.log(
      [
        `${demand}x`.padEnd(6),
        name.padEnd(14),
        used.toFixed(4).padStart(7),
        error.toFixed(4).padStart(8),
        stated === undefined
          ? name === 'none'
            ? `  exhausted at minute ${mean.toFixed(0)}`
            : ''
          : `  >= ${stated.used}, <= ${stated.error}${isMissed ? '  MISSED' : ''}`,
      ].join('  '),
    )
  }
}
