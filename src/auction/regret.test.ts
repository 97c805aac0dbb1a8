import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidates, request } from '../../test/support/auction-arbitraries.ts'
import {
  type CandidateSpec,
  hold,
  type RequestSpec,
  resultNumber,
} from '../../test/support/auction-world.ts'
import fc from '../../test/support/fast-check.ts'
import { sized } from '../../test/support/soak.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { createOutcome } from './outcome.ts'
import { winnerPropensity } from './propensity.ts'
import { packReceipt, unpackReceipt } from './receipt.ts'
import { ExploringDay, nextEpsilonPpm } from './regret.ts'
import { runAuction } from './run-auction.ts'

const amount = evenly(0, 1e12)

test('exploring is scaled to cost 2 % of revenue, within 0.5 % and 10 %', () => {
  const day = (regretMicros: number) => ({ regretMicros, revenueMicros: 1_000_000 })
  assert.equal(nextEpsilonPpm(50_000, day(20_000)), 50_000)
  assert.equal(nextEpsilonPpm(50_000, day(40_000)), 25_000)
  assert.equal(nextEpsilonPpm(50_000, day(16_000)), 62_500)
  assert.equal(nextEpsilonPpm(50_000, day(1)), 100_000)
  assert.equal(nextEpsilonPpm(50_000, day(0)), 100_000)
  assert.equal(nextEpsilonPpm(50_000, day(1e9)), 5_000)
  const least = { regretMicros: 0, revenueMicros: Number.MIN_VALUE }
  assert.equal(nextEpsilonPpm(1, least), 100_000)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      amount,
      amount,
      (epsilon, regret, revenue) => {
        fc.pre(regret > 0 || revenue > 0)
        const next = nextEpsilonPpm(epsilon, { regretMicros: regret, revenueMicros: revenue })
        assert.ok(Number.isInteger(next) && next >= 5_000 && next <= 100_000, `${next}`)
      },
    ),
  )
})

test('a publisher that switched exploring off stays off, and an empty day changes nothing', () => {
  assert.equal(nextEpsilonPpm(0, { regretMicros: 0, revenueMicros: 1e9 }), 0)
  assert.equal(nextEpsilonPpm(30_000, { regretMicros: 0, revenueMicros: 0 }), 30_000)
})

test("a day's regret and revenue are the publisher's part of each auction, clicked once", () => {
  const known = { name: 'known', model: 'cpa', orders: 200, clicks: 10_000 } as const
  const fresh = { name: 'fresh', model: 'cpa', orders: 1, clicks: 60 } as const
  const worth = { valuePerOrderMicros: 6_000_000 }
  const specs = [
    { ...known, ...worth },
    { ...fresh, ...worth },
  ]
  const numbers = Array.from({ length: 200 }, (_, n) => resultNumber(n))
  const held = numbers.map((number) => hold(specs, { epsilonPpm: 1_000_000 }, number))
  const auctions = held.map((one, n) =>
    unpackReceipt(packReceipt({ ...one, resultNumber: resultNumber(n) })),
  )
  const lost = held.filter(({ winner }) => winner === 'fresh').length
  assert.ok(lost > 20 && lost < 120)
  const day = new ExploringDay()
  for (const auction of auctions) day.add(auction)
  const { regretMicros, revenueMicros } = day
  assert.ok(Math.abs(regretMicros - lost * 20_000 * 0.75) < 1e-3)
  assert.ok(Math.abs(revenueMicros - (lost * 100_000 + (200 - lost) * 120_000) * 0.75) < 1e-3)
})

function propensityOf(epsilonPpm: number, number: Buffer): [string | null, number | null] {
  const held = hold(
    [
      { name: 'known', model: 'cpa', orders: 200, clicks: 10_000, valuePerOrderMicros: 6_000_000 },
      { name: 'fresh', model: 'cpa', orders: 1, clicks: 60, valuePerOrderMicros: 6_000_000 },
      { name: 'paced', bidMicros: 5_000_000, paceFactor: 1e-9 },
    ],
    { epsilonPpm },
    number,
  )
  const packed = packReceipt({ ...held, resultNumber: number })
  return [held.winner, winnerPropensity(unpackReceipt(packed))]
}

test('a propensity is the exact chance of the winner, and the chances of all sum to one', () => {
  const [best, certain] = propensityOf(0, resultNumber(1))
  assert.deepEqual([best, certain], ['known', 1])
  const found = new Map<string | null, number>()
  for (let n = 0; n < 400 && found.size < 2; n++) {
    const [winner, propensity] = propensityOf(500_000, resultNumber(n))
    found.set(winner, propensity ?? 0)
  }
  // P(fresh beats known): its order rate is gamma(1)/60, above 2 % with probability e^-1.2 = 0.30.
  const fresh = found.get('fresh') ?? 0
  assert.ok(Math.abs(fresh - 0.5 * 0.3) < 0.01, `${fresh}`)
  assert.ok(Math.abs((found.get('known') ?? 0) + fresh - 1) < 1e-3)
})

test('equal candidates share the propensity exactly, and a cheaper one takes all of it', () => {
  const propensity = (specs: readonly CandidateSpec[], epsilonPpm = 50_000) => {
    const held = hold(specs, { epsilonPpm, originalPriceMicros: 100_000_000 }, resultNumber(3))
    const packed = packReceipt({ ...held, resultNumber: resultNumber(3) })
    return winnerPropensity(unpackReceipt(packed))
  }
  const bid = { name: 'A', bidMicros: 300_000 }
  const low = { name: 'low', bidMicros: 290_000 }
  assert.equal(propensity([bid, { ...bid, name: 'B' }, low]), 0.5)
  assert.equal(propensity([bid, bid, bid, low]), 0.95 / 3 + 0.05 / 3)
  const twin = { ...bid, merchant: 9, campaign: 9 }
  assert.equal(propensity([twin, { ...twin, offerId: '7' }, bid]), 0.5, 'offers of one campaign')
  const plain = { priceMicros: 100_000_000 }
  assert.equal(
    propensity([{ ...bid, ...plain }, { ...bid, priceMicros: 99_000_000, quality: 0.5 }, low]),
    1,
  )
  assert.equal(propensity([bid, { ...bid, priceMicros: 100_000_000 }], 0), 0.5)
})

test('a propensity agrees with repeating the auction under other result numbers', () => {
  const REPEATS = 4_000
  let compared = 0
  fc.assert(
    fc.property(candidates, request, fc.nat(), (specs, asked, number) => {
      const drawing: RequestSpec = { ...asked, epsilonPpm: 500_000 }
      const steady = specs.slice(0, 12).map((spec) => ({ ...spec, ptr: 1 }))
      const held = hold(steady, drawing, resultNumber(number))
      if (held.winner === null) return
      const packed = packReceipt({ ...held, resultNumber: resultNumber(number) })
      const propensity = winnerPropensity(unpackReceipt(packed)) ?? 0
      const again = createOutcome()
      let won = 0
      for (let n = 0; n < REPEATS; n++) {
        runAuction(held.set, held.request, resultNumber(1_000_000 + n), again)
        if (again.winner === held.outcome.winner) won += 1
      }
      const bound = 5 * Math.sqrt((propensity * (1 - propensity)) / REPEATS) + 2e-3
      assert.ok(Math.abs(won / REPEATS - propensity) < bound, `${won / REPEATS} of ${propensity}`)
      if (propensity < 1) compared += 1
    }),
    { numRuns: sized(60, { soak: 500 }) },
  )
  assert.ok(compared > 5, `${compared} compared`)
})

test('without exploring, a candidate that is not best by mean has propensity zero', () => {
  const specs = [
    { name: 'best', bidMicros: 500_000 },
    { name: 'other', bidMicros: 400_000 },
  ]
  const held = hold(specs, { epsilonPpm: 0 }, resultNumber(1))
  const stored = unpackReceipt(packReceipt({ ...held, resultNumber: resultNumber(1) }))
  assert.equal(winnerPropensity(stored), 1)
  const loser = 1 - stored.outcome.winner
  const altered = { ...stored, outcome: { ...stored.outcome, winner: loser } }
  assert.equal(winnerPropensity(altered), 0)
})

test('an auction without a winner has no propensity', () => {
  const held = hold([], {}, resultNumber(1))
  const packed = packReceipt({ ...held, resultNumber: resultNumber(1) })
  assert.equal(winnerPropensity(unpackReceipt(packed)), null)
})
