/**
 * Measures the cost of an auction: the pure core with every rule on, against a loop that only reads
 * the same arrays and finds the top two. The ratio is the result; the goal is at most 4.
 *
 * Every rule on: country, device and publisher lists, floors, ROAS limits, pacing, all payment
 * models, exploration at 5 %, losses of all candidates. Short rounds of both alternate, so a busy
 * machine slows both. The result is the median of the rounds' ratios.
 */
import { parseArgs } from 'node:util'
import type { CandidateSet } from '../src/auction/candidate-set.ts'
import { createOutcome } from '../src/auction/outcome.ts'
import { packReceipt } from '../src/auction/receipt.ts'
import { type AuctionRequest, runAuction } from '../src/auction/run-auction.ts'
import type { IdList } from '../src/auction/targeting.ts'
import { PPM } from '../src/platform/money/money.ts'
import {
  type CandidateSpec,
  makeRequest,
  makeSet,
  resultNumber,
} from '../test/support/auction-world.ts'
import { median } from './median.ts'

const SIZES = [5, 20, 64]
/** Several sets in turn, as on a node, so that not all arrays are in the nearest cache. */
const SETS = 256
const NUMBERS = 4096
const WARM_UP_AUCTIONS = 200_000
const SINGLE_CALLS = 100_000
const RATIO_GOAL = 4

interface Round {
  readonly core: number // microseconds per auction
  readonly loop: number
}

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '61' },
    auctions: { type: 'string', default: '10000' }, // of each kind per round
    json: { type: 'boolean', default: false },
  },
})

const numbers = Array.from({ length: NUMBERS }, (_, n) => resultNumber(n))
const outcome = createOutcome()
const top = { first: -1, second: -1, firstScore: 0.5, secondScore: 0.5, sum: 0.5 }

const results = SIZES.map((size) => measure(size))
if (options.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
else for (const result of results) process.stdout.write(`${describe(result)}\n`)
if (results.some(({ size, ratio }) => size === 64 && ratio > RATIO_GOAL)) process.exitCode = 1

function measure(size: number) {
  const sets = Array.from({ length: SETS }, (_, n) => makeSet(specs(size, n)))
  const request = makeRequest({
    originalPriceMicros: 100_000_000,
    originalMerchant: 1,
    floorMicros: 20_000,
    epsilonPpm: 50_000,
    blockMerchants: [size + 1],
  })
  const auction = (n: number) => runOne(sets, request, n)
  const baseline = (n: number) => readTopTwo(sets[n % SETS] as CandidateSet, request)
  for (const warm of [auction, baseline, pack(sets, request)]) time(warm, WARM_UP_AUCTIONS)
  const auctions = Number(options.auctions)
  const rounds: Round[] = []
  for (let round = 0; round < Number(options.rounds); round++) {
    rounds.push({ core: time(auction, auctions), loop: time(baseline, auctions) })
  }
  const core = median(rounds.map((round) => round.core))
  const loop = median(rounds.map((round) => round.loop))
  const ratio = median(rounds.map((round) => round.core / round.loop))
  const receipt = time(pack(sets, request), SINGLE_CALLS)
  return { size, core, loop, ratio, receipt, ...distribution(auction, SINGLE_CALLS) }
}

/** Each list rule excludes one candidate in four; half pay per click, some are paced. */
function specs(size: number, n: number): CandidateSpec[] {
  return Array.from({ length: size }, (_, i) => ({
    name: String(i),
    campaign: n * 100 + i + 1,
    model: i % 4 === 1 ? 'cpa' : i % 4 === 3 ? 'epp' : 'cpc',
    bidMicros: 100_000 + ((i * 7919 + n * 104_729) % 900_000),
    orders: 3 + (i % 40),
    clicks: 1000 + 10 * i,
    valuePerOrderMicros: 4_000_000 + 100_000 * (i % 50),
    quality: 0.8 + (i % 20) / 100,
    confidencePpm: [PPM, 980_000, 970_000][i % 3] ?? PPM,
    priceMicros: 80_000_000 + ((i * 1_299_709 + n * 15_485_863) % 26_000_000),
    ceilingMicros: i % 8 === 0 ? 600_000 : Number.POSITIVE_INFINITY,
    roasFactor: 0.9,
    countries: i % 4 === 0 ? ['US', 'GB', 'CA'] : [],
    devices: i % 5 === 0 ? ['desktop', 'mobile'] : [],
    blockPublishers: i % 6 === 0 ? [2, 3] : [],
    floorMicros: i % 3 === 0 ? { '*': 15_000, US: 30_000 } : { '*': 0 },
    ptr: i % 7 === 0 ? 0.6 : 1,
    budgetOk: i % 31 !== 30,
    flight: { isActive: i % 37 !== 36 },
  }))
}

function runOne(sets: readonly CandidateSet[], request: AuctionRequest, n: number): void {
  runAuction(sets[n % SETS] as CandidateSet, request, numbers[n % NUMBERS] as Buffer, outcome)
}

function pack(sets: readonly CandidateSet[], request: AuctionRequest): (n: number) => void {
  return (n) => {
    const set = sets[n % SETS] as CandidateSet
    packReceipt({ set, request, resultNumber: numbers[n % NUMBERS] as Buffer, outcome })
  }
}

/** The baseline: reads every array that the core reads, but only finds the top two. */
function readTopTwo(set: CandidateSet, request: AuctionRequest): void {
  const { state } = set
  const countryWord = request.country >>> 5
  const publisherWord = request.publisher.pubId >>> 5
  let first = -1
  let second = -1
  let firstScore = 0
  let secondScore = 0
  let sum = 0
  for (let i = 0; i < set.n; i++) {
    const campaign = set.campaign[i] as number
    const countries = set.countries[i] as Uint32Array | null
    const publishers = set.publishers[i] as IdList | null
    const floors = set.floors[i] as Float64Array | null
    sum +=
      (state.live[campaign] as number) +
      (state.budgetOk[campaign] as number) +
      (state.ptr[campaign] as number) +
      (state.roasFactor[campaign] as number) +
      (set.campaignId[i] as number) +
      (set.merchId[i] as number) +
      (set.model[i] as number) +
      (set.isInStock[i] as number) +
      (set.deviceMask[i] as number) +
      (countries === null ? 0 : (countries[countryWord] as number)) +
      (publishers === null ? 0 : (publishers.bits[publisherWord] as number)) +
      (floors === null ? 0 : (floors[request.country] as number)) +
      (set.ceiling[i] as number) +
      (set.price[i] as number) +
      (set.alpha[i] as number) +
      (set.nEff[i] as number) +
      (set.valuePerOrder[i] as number) +
      (set.confidencePpm[i] as number)
    const score = (set.value[i] as number) * (set.fit[i] as number)
    if (score > firstScore) {
      second = first
      secondScore = firstScore
      first = i
      firstScore = score
    } else if (score > secondScore) {
      second = i
      secondScore = score
    }
  }
  top.first = first
  top.second = second
  top.firstScore = firstScore
  top.secondScore = secondScore
  top.sum = sum
}

/** Microseconds per call, over many calls. */
function time(run: (n: number) => void, calls: number): number {
  const start = process.hrtime.bigint()
  for (let n = 0; n < calls; n++) run(n)
  return Number(process.hrtime.bigint() - start) / 1000 / calls
}

/** Single calls; the time includes reading the clock. */
function distribution(run: (n: number) => void, calls: number) {
  const micros = new Float64Array(calls)
  for (let n = 0; n < calls; n++) {
    const start = performance.now()
    run(n)
    micros[n] = (performance.now() - start) * 1000
  }
  micros.sort()
  const at = (share: number) => micros[Math.min(calls - 1, Math.floor(calls * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}

function describe(result: ReturnType<typeof measure>): string {
  const µs = (value: number) => `${value.toFixed(2)} µs`
  const { size, core, loop, ratio, p50, p99, p999 } = result
  return (
    `${String(size).padStart(2)} candidates: auction ${µs(core)}, reading loop ${µs(loop)}, ` +
    `ratio ${ratio.toFixed(2)}${size === 64 ? ` (goal <= ${RATIO_GOAL})` : ''}; ` +
    `single calls p50 ${µs(p50)}, p99 ${µs(p99)}, p99.9 ${µs(p999)}; receipt ${µs(result.receipt)}`
  )
}
