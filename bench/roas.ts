/**
 * Does a campaign with a ROAS goal meet it on average, and what does it buy? Simulated second-price
 * markets: docs/spec/budgets.md#roas-goals. After 30 days the order rate halves.
 *
 *   node bench/roas.ts [--seeds N] [--from SEED]
 *
 * Some minutes. Prints the return over the goal, the worst seed of each figure in brackets, and the
 * order value bought in the first 30 days against a multiplier that stays at 1. Exits 1 if the
 * reference world misses a goal.
 */
import { parseArgs } from 'node:util'
import {
  ROAS_WORLD,
  type RoasDay,
  type RoasWorld,
  returnOf,
  runRoasWorld,
} from '../test/support/roas-world.ts'

const { values: args } = parseArgs({
  options: { seeds: { type: 'string', default: '20' }, from: { type: 'string', default: '1' } },
})
const SEEDS = Array.from({ length: Number(args.seeds) }, (_, index) => Number(args.from) + index)

const HALVED_ON = 30
const halved = (day: number) => (day < HALVED_ON ? 1 : 1 / 2)
/** Half of the orders come later than three days after their click. */
const SLOW = [0.1, 0.1, 0.2, 0.2, 0.2, 0.2]

const REFERENCE = 'uniform'
const WORLDS: Readonly<Record<string, Partial<RoasWorld>>> = {
  [REFERENCE]: {},
  wide: { rivals: 'wide' },
  narrow: { rivals: 'narrow' },
  'slow orders': { delayCurve: SLOW },
  'rate 2 %': { ordersPerClick: 0.02 },
  '1,500 clicks': { clicksPerDay: 1_500 },
  '1,500, 2 %': { clicksPerDay: 1_500, ordersPerClick: 0.02 },
  '400, 2 %': { clicksPerDay: 400, ordersPerClick: 0.02 },
  '-3 % a day': { rateOn: (day) => 0.97 ** day },
}

interface Figures {
  readonly orders: number // a day, before the change
  readonly steadyLeast: number // of 14 days within days 7 to 30
  readonly steadyMost: number
  readonly recovered: number // days 5 to 7 after the change
  readonly least: number // of any 14 days
  readonly leastRealised: number
  readonly gain: number
}

function figuresOf(world: RoasWorld, seed: number): Figures {
  const days = runRoasWorld(world, seed)
  const bounded = runRoasWorld({ ...world, days: HALVED_ON, multiplier: 1 }, seed)
  const fortnights = (from: number, to: number, of?: 'realisedMicros') =>
    Array.from({ length: to - from - 13 }, (_, at) =>
      returnOf(days, { first: from + at, length: 14, ...(of && { of }) }),
    )
  const steady = fortnights(7, HALVED_ON)
  return {
    orders: (bought(days) / HALVED_ON / 60e6) | 0,
    steadyLeast: Math.min(...steady),
    steadyMost: Math.max(...steady),
    recovered: returnOf(days, { first: HALVED_ON + 5, length: 3 }),
    least: Math.min(...fortnights(0, days.length)),
    leastRealised: Math.min(...fortnights(0, days.length, 'realisedMicros')),
    gain: bought(days) / bought(bounded),
  }
}

function bought(days: readonly RoasDay[]): number {
  return days.slice(0, HALVED_ON).reduce((sum, { expectedMicros }) => sum + expectedMicros, 0)
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}

/** `1.01 (0.97)`: the median of the seeds, and the worst. */
function spread(values: readonly number[], worst: (...values: number[]) => number): string {
  return `${median(values).toFixed(2)} (${worst(...values).toFixed(2)})`.padStart(13)
}

console.log(`seeds ${SEEDS[0]} to ${SEEDS.at(-1)}; return over goal, median (worst)`)
console.log(
  'world          orders   steady: low         high   recovered   any 14 days     realised   gain',
)
for (const [name, changed] of Object.entries(WORLDS)) {
  const world = { ...ROAS_WORLD, rateOn: halved, ...changed }
  const all = SEEDS.map((seed) => figuresOf(world, seed))
  const of = (read: (figures: Figures) => number) => all.map(read)
  const { min, max } = Math
  console.log(
    `${name.padEnd(14)}${median(of(({ orders }) => orders))
      .toFixed(0)
      .padStart(7)}` +
      spread(
        of(({ steadyLeast }) => steadyLeast),
        min,
      ) +
      spread(
        of(({ steadyMost }) => steadyMost),
        max,
      ) +
      spread(
        of(({ recovered }) => recovered),
        min,
      ) +
      spread(
        of(({ least }) => least),
        min,
      ) +
      spread(
        of(({ leastRealised }) => leastRealised),
        min,
      ) +
      median(of(({ gain }) => gain))
        .toFixed(2)
        .padStart(7),
  )
  const isMissed = all.some(
    ({ steadyLeast, steadyMost, recovered, least }) =>
      steadyLeast < 0.95 || steadyMost > 1.05 || recovered < 0.95 || least < 0.9,
  )
  if (name === REFERENCE && isMissed) {
    console.log(`missed: a goal in ${name}`)
    process.exitCode = 1
  }
}
