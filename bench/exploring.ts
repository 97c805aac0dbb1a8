/**
 * What does exploring cost or earn? A simulated market in which only clicks on commission campaigns
 * that won teach their order rates, under different ways to explore.
 * See docs/spec/auction.md#exploration.
 *
 * `node bench/exploring.ts [--seeds N]`: about a minute.
 */
import { parseArgs } from 'node:util'
import { quantileAt } from '../src/auction/draw.ts'
import { gammaQuantile } from '../src/prediction/predict.ts'
import { seededRandom } from '../test/support/seeded-random.ts'

interface Policy {
  readonly name: string
  readonly epsilon: number
  readonly draws: 'none' | 'posterior' | 'uniform' | 'uniform among commissions'
}

interface Merchant {
  readonly isCpc: boolean
  readonly bid: number // Dollars a click.
  readonly rate: number // True orders per click.
  readonly perOrder: number // Dollars of commission.
  readonly startDay: number
  orders: number
  clicks: number
}

const DAYS = 60
const CLICKS_A_DAY = 2_000
const MERCHANTS = 40
const CANDIDATES = 4
const RATE = 0.02
const K0 = 150 // Clicks that the network's rate is worth.
const FLOOR = 0.01

const POLICIES: readonly Policy[] = [
  { name: 'never', epsilon: 0, draws: 'none' },
  ...[0.05, 0.1].map((epsilon) => ({ name: 'posterior', epsilon, draws: 'posterior' }) as const),
  ...(['uniform', 'uniform among commissions'] as const).flatMap((draws) =>
    [0.005, 0.01, 0.02, 0.05].map((epsilon) => ({ name: draws, epsilon, draws })),
  ),
]

function createMerchants(random: () => number): Merchant[] {
  const normal = () => quantileAt(Math.min(Math.max(random(), 1e-9), 1 - 1e-9))
  return Array.from({ length: MERCHANTS }, () => ({
    isCpc: random() < 0.5,
    bid: RATE * 5 * Math.exp(0.5 * normal()),
    rate: gammaQuantile(K0 * RATE, normal()) / K0,
    perOrder: 5 * Math.exp(0.5 * normal()),
    startDay: random() < 0.5 ? Math.floor(random() * DAYS * 0.7) : 0,
    orders: K0 * RATE,
    clicks: K0,
  }))
}

/** The revenue of one market; the truth and the candidates depend on the seed alone. */
function revenueOf(policy: Policy, seed: number): number {
  const world = seededRandom(seed)
  const exploring = seededRandom(seed + 1_000_003)
  const merchants = createMerchants(world)
  let revenue = 0
  for (let click = 0; click < DAYS * CLICKS_A_DAY; click++) {
    const live = merchants.filter(({ startDay }) => startDay <= click / CLICKS_A_DAY)
    const shown = new Set<Merchant>()
    while (shown.size < Math.min(CANDIDATES, live.length)) {
      const drawn = live[Math.floor(world() * live.length)]
      if (drawn !== undefined) shown.add(drawn)
    }
    revenue += holdAuction([...shown], { policy, exploring, chance: world() })
  }
  return revenue
}

function holdAuction(
  candidates: readonly Merchant[],
  from: { policy: Policy; exploring: () => number; chance: number },
): number {
  const { policy, exploring, chance } = from
  const isExploring = exploring() < policy.epsilon
  const score = (one: Merchant) => {
    if (one.isCpc) return one.bid
    const isDrawn = isExploring && policy.draws === 'posterior'
    const orders = isDrawn ? gammaQuantile(one.orders, quantileAt(exploring())) : one.orders
    return (orders / one.clicks) * one.perOrder
  }
  const scores = new Map(candidates.map((one) => [one, score(one)]))
  const drawn = isExploring ? drawOne(candidates, policy, exploring) : undefined
  const ranked = candidates.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0))
  const winner = drawn ?? ranked[0]
  if (winner === undefined) return 0
  if (!winner.isCpc) {
    winner.clicks += 1
    if (chance < winner.rate) winner.orders += 1
    return winner.rate * winner.perOrder
  }
  // The bid of a uniformly drawn winner did not make it win, so it pays the floor.
  const rival = drawn === undefined ? (scores.get(ranked[1] ?? winner) ?? 0) : FLOOR
  return Math.min(winner.bid, Math.max(FLOOR, rival))
}

function drawOne(
  candidates: readonly Merchant[],
  { draws }: Policy,
  random: () => number,
): Merchant | undefined {
  if (!draws.startsWith('uniform')) return undefined
  const able = draws === 'uniform' ? candidates : candidates.filter(({ isCpc }) => !isCpc)
  return able[Math.floor(random() * able.length)]
}

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '20' } } })
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + 1)
const never = seeds.map((seed) => revenueOf(POLICIES[0] as Policy, seed))
console.log('policy                        share   revenue % ± standard error')
for (const policy of POLICIES.slice(1)) {
  const changes = seeds.map((seed, at) => 100 * (revenueOf(policy, seed) / (never[at] ?? 1) - 1))
  const mean = changes.reduce((sum, change) => sum + change, 0) / changes.length
  const squares = changes.reduce((sum, change) => sum + (change - mean) ** 2, 0)
  const error = Math.sqrt(squares / changes.length / Math.max(1, changes.length - 1))
  const share = `${100 * policy.epsilon} %`.padStart(6)
  console.log(`${policy.name.padEnd(28)}${share}   ${mean.toFixed(2)} ± ${error.toFixed(2)}`)
}
