/** Properties P1 to P15 of the auction, on random auctions; P16 is in draw.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  candidates,
  open,
  request,
  resultNumber,
  rivals,
} from '../../test/support/auction-arbitraries.ts'
import {
  type CandidateSpec,
  hold,
  makeRequest,
  makeSet,
  resultNumber as numberOf,
  type RequestSpec,
} from '../../test/support/auction-world.ts'
import fc from '../../test/support/fast-check.ts'
import { sized } from '../../test/support/soak.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { roasBid } from '../budgets/roas.ts'
import { MODEL } from '../events/event.ts'
import { LOSS } from './loss-code.ts'
import { createOutcome, type Outcome } from './outcome.ts'
import { runAuction } from './run-auction.ts'

const unit = evenly(0, 1)
const RUNS = { numRuns: sized(200, { soak: 5_000 }) }

/** The same candidates with another bid for one of them. */
function withBid(specs: readonly CandidateSpec[], name: string, bidMicros: number) {
  return specs.map((spec) => (spec.name === name ? { ...spec, bidMicros } : spec))
}

/** Names stay with campaigns when candidates move, as ids do in the service. */
function fixed(specs: readonly CandidateSpec[]): CandidateSpec[] {
  return specs.map((spec, index) => ({
    campaign: index + 1,
    merchant: index + 1,
    offerId: String(1000 + index),
    ...spec,
  }))
}

function isEligible({ losses }: Outcome, i: number): boolean {
  return losses[i] === LOSS.none || losses[i] === LOSS.outbid
}

test('P1: the winner passed every check, and nobody wins only if nobody passed', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, asked, number) => {
      const { outcome, set } = hold(specs, asked, number)
      const losses = Array.from(outcome.losses.subarray(0, set.n))
      const eligible = losses.filter((loss) => loss === LOSS.none || loss === LOSS.outbid)
      assert.equal(eligible.length, outcome.eligible)
      if (outcome.winner < 0) {
        assert.notEqual(outcome.reason, LOSS.none)
        assert.ok(outcome.regretMicros >= 0)
        const { winner, priceMicros, score, runnerUp, runnerUpScore, eligible, ...rest } = outcome
        assert.deepEqual([winner, priceMicros, score, eligible], [-1, 0, 0, 0])
        assert.deepEqual([runnerUp, runnerUpScore], [-1, 0])
        assert.deepEqual([rest.reserveMicros, rest.ratePpm], [0, 0])
      } else {
        assert.deepEqual(
          losses.map((loss, i) => (loss === LOSS.none ? i : -1)).filter((i) => i >= 0),
          [outcome.winner],
        )
        assert.equal(outcome.reason, LOSS.none)
      }
    }),
    RUNS,
  )
})

test('P2: the order of the candidates changes neither winner nor price', () => {
  const shuffled = fc.tuple(candidates, request, resultNumber).chain(([specs, asked, number]) => {
    const some = fixed(specs.slice(0, 64)) // Above the cap, ties may be cut by position.
    return fc.tuple(
      fc.constant(some),
      fc.shuffledSubarray(some, { minLength: some.length }),
      fc.constant(asked),
      fc.constant(number),
    )
  })
  fc.assert(
    fc.property(shuffled, ([specs, moved, asked, number]) => {
      const one = hold(specs, asked, number)
      const other = hold(moved, asked, number)
      assert.equal(other.winner, one.winner)
      assert.deepEqual(other.losses, one.losses)
      for (const field of ['priceMicros', 'score', 'runnerUpScore', 'ratePpm'] as const) {
        assert.equal(other.outcome[field], one.outcome[field], field)
      }
    }),
    RUNS,
  )
})

test('P3: reserve <= price <= bid, in whole micros', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, asked, number) => {
      const { outcome, set } = hold(specs, asked, number)
      const { winner, priceMicros, reserveMicros, values } = outcome
      if (winner < 0) return
      assert.ok(Number.isSafeInteger(priceMicros))
      if (set.model[winner] !== MODEL.cpc) {
        assert.equal(priceMicros, 0)
        return
      }
      assert.equal(outcome.ratePpm, 1_000_000)
      assert.ok(reserveMicros >= 10_000)
      assert.ok(reserveMicros <= priceMicros, `${reserveMicros} > ${priceMicros}`)
      assert.ok(priceMicros <= (values[winner] as number))
    }),
    RUNS,
  )
})

test('P4: the price is critical: a bid one micro above it wins, two below it loses', () => {
  fc.assert(
    fc.property(rivals, open, resultNumber, (specs, asked, number) => {
      const { winner, outcome } = hold(specs, asked, number)
      if (winner === null) return
      const above = hold(withBid(specs, winner, outcome.priceMicros + 1), asked, number)
      assert.equal(above.winner, winner)
      const below = hold(withBid(specs, winner, outcome.priceMicros - 2), asked, number)
      assert.notEqual(below.winner, winner)
    }),
    RUNS,
  )
})

test('P5: raising the winning bid changes neither winner nor price', () => {
  const raise = fc.integer({ min: 1, max: 5_000_000 })
  fc.assert(
    fc.property(rivals, open, resultNumber, raise, (specs, asked, number, by) => {
      const { winner, outcome } = hold(specs, asked, number)
      const bid = specs.find(({ name }) => name === winner)?.bidMicros
      if (winner === null || bid === undefined) return
      const held = hold(withBid(specs, winner, bid + by), asked, number)
      assert.equal(held.winner, winner)
      assert.equal(held.outcome.priceMicros, outcome.priceMicros)
    }),
    RUNS,
  )
})

test('at equal weights the winner pays exactly the second bid', () => {
  const bid = fc.integer({ min: 10_000, max: 9_000_000_000 })
  const quality = evenly(0.01, 1)
  fc.assert(
    fc.property(bid, bid, quality, resultNumber, (one, other, q, number) => {
      const specs = [one, other].map((bidMicros) => ({
        name: `${bidMicros}`,
        bidMicros,
        quality: q,
      }))
      const { outcome } = hold(specs, {}, number)
      assert.equal(outcome.priceMicros, Math.min(one, other))
    }),
    RUNS,
  )
})

const MODELS = ['cpc', 'cpa', 'epp'] as const
const pays = fc.array(fc.constantFrom(...MODELS), { minLength: 8, maxLength: 8 })
const RATE = 24 / 1000
const DEVIATIONS = sized(1_000, { soak: 20_000 })

/** The rivals under other payment models; a click stays worth about the same to them. */
function paying(specs: readonly CandidateSpec[], models: readonly string[], second: boolean) {
  return specs.map((spec, index): CandidateSpec => {
    const model = models[index] as (typeof MODELS)[number]
    if (model === 'cpc') return spec
    const valuePerOrderMicros = Math.round((spec.bidMicros ?? 0) / RATE)
    return { ...spec, model, orders: 24, clicks: 1000, valuePerOrderMicros, hasSecondRate: second }
  })
}

/**
 * What a merchant gains per click by winning: its true value of a click or order, less what it
 * pays. An order is paid in steps of a millionth of the rate, so as much may be gained by a bid
 * that rounds better.
 */
function gain(spec: CandidateSpec, offered: CandidateSpec, held: ReturnType<typeof hold>): number {
  if (held.winner !== spec.name) return 0
  if (spec.model === undefined) return (spec.bidMicros ?? 0) - held.outcome.priceMicros
  const paid = ((offered.valuePerOrderMicros ?? 0) * held.outcome.ratePpm) / 1_000_000
  return RATE * ((spec.valuePerOrderMicros ?? 0) - paid)
}

/** The share of deviations from the true value that gain more than it, for one payment model. */
function profitable(model: (typeof MODELS)[number], second: boolean): number {
  const deviation = fc.integer({ min: 0, max: 3_000_000 })
  let [tried, paid] = [0, 0]
  fc.assert(
    fc.property(
      ...[rivals, open, resultNumber, fc.nat({ max: 7 }), deviation, pays, fc.boolean()],
      (list, asked, number, pick, bid, models, isExploring) => {
        const at = pick % list.length
        const specs = paying(list, models.with(at, model), second)
        const own = specs[at] as CandidateSpec
        const other: CandidateSpec =
          model === 'cpc'
            ? { ...own, bidMicros: bid }
            : { ...own, valuePerOrderMicros: Math.round(bid / RATE) }
        const drawing = { ...asked, epsilonPpm: isExploring ? 1_000_000 : 0 }
        const truthful = gain(own, own, hold(specs, drawing, number))
        const deviant = gain(own, other, hold(specs.with(at, other), drawing, number))
        const step = model === 'cpc' ? 0 : 2e-6 * RATE * (own.valuePerOrderMicros ?? 0) + 1e-6
        tried += 1
        if (deviant > truthful + step) paid += 1
      },
    ),
    { numRuns: DEVIATIONS },
  )
  return paid / tried
}

test('P6: no bid other than its true value earns a merchant more, under any payment model', () => {
  for (const model of MODELS) assert.equal(profitable(model, true), 0, model)
})

const goals = fc.array(
  fc.record({ ceilingMicros: evenly(0, 2_000_000), roasFactor: evenly(0.2, 5) }),
  { minLength: 8, maxLength: 8 },
)

/** The share of bids that gain more than a CPC campaign's true value lowered by its ROAS goal. */
function profitableUnderGoal(isGoalKept: boolean): number {
  let [tried, paid] = [0, 0]
  fc.assert(
    fc.property(
      ...[rivals, open, resultNumber, fc.nat({ max: 7 }), fc.nat({ max: 3_000_000 }), goals],
      fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      (list, asked, number, pick, bidMicros, all, have) => {
        const at = pick % list.length
        const specs = list.map((spec, i) => (i === at || have[i] ? { ...spec, ...all[i] } : spec))
        const own = specs[at] as CandidateSpec
        const { bidMicros: typed = 0, ceilingMicros = 0, roasFactor = 1 } = own
        const worth = { ...own, bidMicros: roasBid(typed, ceilingMicros, Math.fround(roasFactor)) }
        const other: CandidateSpec = isGoalKept
          ? { ...own, bidMicros }
          : { ...own, bidMicros, ceilingMicros: Number.POSITIVE_INFINITY }
        const truthful = gain(worth, own, hold(specs, asked, number))
        const deviant = gain(worth, other, hold(specs.with(at, other), asked, number))
        tried += 1
        if (deviant > truthful) paid += 1
      },
    ),
    { numRuns: DEVIATIONS },
  )
  return paid / tried
}

test('P6: under a ROAS goal no bid earns more than the lower of true value and multiplied ceiling', () => {
  assert.equal(profitableUnderGoal(true), 0, 'another typed bid')
  assert.equal(profitableUnderGoal(false), 0, 'any bid')
})

test('without the second rate, CPA and EPP bidders gain by offering less than their true value', () => {
  assert.equal(profitable('cpc', false), 0)
  for (const model of ['cpa', 'epp'] as const) {
    const share = profitable(model, false)
    assert.ok(share > 0.02 && share < 0.5, `${model}: ${share}`)
  }
})

test('P7: no eligible candidate has more value times weight than the winner', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, asked, number) => {
      const { outcome, set } = hold(specs, asked, number)
      for (let i = 0; i < set.n; i++) {
        if (outcome.losses[i] !== LOSS.outbid) continue
        assert.ok((outcome.scores[i] as number) <= outcome.score)
        if (set.merchId[i] === set.merchId[outcome.winner]) continue
        assert.ok((outcome.scores[i] as number) <= outcome.runnerUpScore)
      }
      if (outcome.runnerUp >= 0) {
        assert.notEqual(set.merchId[outcome.runnerUp], set.merchId[outcome.winner])
      }
    }),
    RUNS,
  )
})

test('P8: adding a losing candidate never lowers the price, removing one never raises it', () => {
  fc.assert(
    fc.property(rivals, open, resultNumber, fc.nat(), (specs, asked, number, pick) => {
      const all = fixed(specs)
      const held = hold(all, asked, number)
      const losers = all.filter(({ name }) => name !== held.winner)
      const leaving = losers[pick % losers.length]
      if (leaving === undefined) return
      const without = hold(
        all.filter((spec) => spec !== leaving),
        asked,
        number,
      )
      assert.equal(without.winner, held.winner)
      assert.ok(without.outcome.priceMicros <= held.outcome.priceMicros)
    }),
    RUNS,
  )
})

test('P9: a greater beta never selects a more expensive product at equal value, quality and match', () => {
  const beta = evenly(0, 3)
  const price = fc.integer({ min: 60_000_000, max: 105_000_000 })
  const prices = fc.array(price, { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(prices, beta, beta, resultNumber, (list, one, other, number) => {
      const specs = list.map((priceMicros, i) => ({ name: String(priceMicros), priceMicros, i }))
      const won = (b: number) =>
        Number(hold(specs, { originalPriceMicros: 100_000_000, beta: b }, number).winner)
      assert.ok(won(Math.max(one, other)) <= won(Math.min(one, other)))
    }),
    RUNS,
  )
})

test('P10: an exclusive link goes to its own merchant or to nobody', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, asked, number) => {
      const { outcome, set } = hold(specs, { ...asked, isExclusive: true }, number)
      if (outcome.winner >= 0) assert.equal(set.merchId[outcome.winner], asked.originalMerchant)
    }),
    RUNS,
  )
})

test('P11: the same set, request and result number give the same outcome, whatever ran between', () => {
  // A draw sometimes lets the worse one win, so leftovers of an earlier auction, regret included,
  // would show.
  const worth = { model: 'cpa', valuePerOrderMicros: 6_000_000 } as const
  const others = makeSet([
    { ...worth, name: 'known', orders: 200, clicks: 10_000 },
    { ...worth, name: 'fresh', orders: 1, clicks: 60 },
  ])
  const exploring = makeRequest({ epsilonPpm: 1_000_000 })
  let regretted = 0
  fc.assert(
    fc.property(candidates, request, resultNumber, resultNumber, (specs, asked, number, other) => {
      const set = makeSet(specs, asked)
      const [first, again] = [createOutcome(), createOutcome()]
      runAuction(set, makeRequest(asked), number, first)
      runAuction(others, exploring, other, again)
      if (again.regretMicros > 0) regretted += 1
      runAuction(set, makeRequest(asked), number, again)
      const { losses, values, weights, scores, ...decision } = first
      const { losses: l, values: v, weights: w, scores: s, ...decidedAgain } = again
      assert.deepEqual(decidedAgain, decision)
      assert.deepEqual(l.subarray(0, set.n), losses.subarray(0, set.n))
    }),
    RUNS,
  )
  assert.ok(regretted > RUNS.numRuns / 10, `${regretted} regretted`)
})

test('P12: each of k equal candidates wins one time in k, within four standard errors', () => {
  const AUCTIONS = 40_000
  for (const k of [2, 3, 7]) {
    const set = makeSet(Array.from({ length: k }, (_, i) => ({ name: `C${i}` })))
    const request = makeRequest()
    const outcome = createOutcome()
    const wins = new Array<number>(k).fill(0)
    for (let n = 0; n < AUCTIONS; n++) {
      runAuction(set, request, numberOf(n), outcome)
      wins[outcome.winner] = (wins[outcome.winner] ?? 0) + 1
    }
    const bound = 4 * Math.sqrt(AUCTIONS * (1 / k) * (1 - 1 / k))
    for (const count of wins) assert.ok(Math.abs(count - AUCTIONS / k) < bound, `${wins} of ${k}`)
  }
})

test('P13: without exploration no draw affects the outcome', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, resultNumber, (specs, asked, one, other) => {
      const still: RequestSpec = { ...asked, epsilonPpm: 0 }
      const a = hold(specs, still, one).outcome
      const b = hold(specs, still, other).outcome
      assert.equal(b.score, a.score)
      assert.equal(b.eligible, a.eligible)
      assert.equal(b.reason, a.reason)
      assert.equal(a.explored, false)
      assert.equal(a.regretMicros, 0)
      // The only remaining use of the number is the rotation among equals.
      const isBest = (i: number) => isEligible(a, i) && a.scores[i] === a.score
      const best = specs.slice(0, 64).filter((_, i) => isBest(i)).length
      if (best > 1) return
      assert.equal(b.winner, a.winner)
      assert.equal(b.priceMicros, a.priceMicros)
      assert.deepEqual(b.losses, a.losses)
    }),
    RUNS,
  )
})

test('P14: scaling bids, values and reserves by c keeps the winner and scales the price within c', () => {
  const scale = fc.integer({ min: 2, max: 500 })
  // Above the platform's own reserve, which does not scale.
  const floors = fc.constantFrom(20_000, 300_000)
  fc.assert(
    fc.property(rivals, open, floors, resultNumber, scale, (specs, asked, floor, number, c) => {
      const one = hold(specs, { ...asked, floorMicros: floor }, number)
      const scaled = specs.map((spec) => ({ ...spec, bidMicros: (spec.bidMicros ?? 0) * c }))
      const many = hold(scaled, { ...asked, floorMicros: floor * c }, number)
      assert.equal(many.winner, one.winner)
      assert.ok(Math.abs(many.outcome.priceMicros - one.outcome.priceMicros * c) <= c)
    }),
    RUNS,
  )
})

test('P15: without candidates nobody wins, and the reason says so', () => {
  fc.assert(
    fc.property(request, resultNumber, (asked, number) => {
      const { outcome } = hold([], asked, number)
      assert.equal(outcome.winner, -1)
      assert.equal(outcome.priceMicros, 0)
      assert.equal(outcome.reason, LOSS.noCandidates)
    }),
  )
})

/** The same candidates with another pacing factor for one of them. */
function withPace(specs: readonly CandidateSpec[], name: string, paceFactor: number) {
  return specs.map((spec) => (spec.name === name ? { ...spec, paceFactor } : spec))
}

test('a paced campaign pays at most its typed bid times its factor', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, unit, (specs, asked, number, factor) => {
      const paced = specs.map((spec) => ({ ...spec, paceFactor: factor }))
      const { outcome, set } = hold(paced, asked, number)
      const { winner } = outcome
      if (winner < 0 || set.model[winner] !== MODEL.cpc) return
      const typed = (asked.isExclusive ? set.posted : set.value)[winner] ?? 0
      assert.ok(outcome.priceMicros <= Math.floor(typed * Math.fround(factor)))
    }),
    RUNS,
  )
})

test('a lower pacing factor wins no auction that a higher one lost, and never at a higher price', () => {
  const factors = fc.tuple(unit, unit).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
  fc.assert(
    fc.property(candidates, request, resultNumber, factors, (specs, asked, number, [low, high]) => {
      const name = specs[0]?.name ?? ''
      const [less, more] = [low, high].map((at) => hold(withPace(specs, name, at), asked, number))
      if (less?.winner !== name) return
      assert.equal(more?.winner, name)
      assert.ok(less.outcome.priceMicros <= (more?.outcome.priceMicros ?? 0))
      // The same rate, but for a rounding of one part in a million.
      assert.ok(less.outcome.ratePpm <= (more?.outcome.ratePpm ?? 0) + 1)
    }),
    RUNS,
  )
})

test('a second-price winner pays the same at every factor that still wins', () => {
  const market = [
    { name: 'A', bidMicros: 600_000 },
    { name: 'B', bidMicros: 300_000 },
  ]
  const at = (paceFactor: number) => {
    const { winner, outcome } = hold(withPace(market, 'A', paceFactor))
    return [winner, outcome.priceMicros]
  }
  assert.deepEqual(at(1), ['A', 300_000])
  assert.deepEqual(at(0.75), ['A', 300_000])
  assert.deepEqual(at(0.25), ['B', 150_000])
})

test('a bid that pacing alone takes below the floor is paced; one below it anyway is not', () => {
  const loss = (bidMicros: number, paceFactor: number) =>
    hold([{ name: 'A', bidMicros, paceFactor }], { floorMicros: 200_000 }).losses.A
  assert.equal(loss(400_000, 0.25), 'paced')
  assert.equal(loss(100_000, 0.25), 'belowFloor')
  assert.equal(loss(400_000, 0.5), undefined)
})

test('a factor lowers the expected value of a commission campaign, and its second rate', () => {
  const cpa = { name: 'S', model: 'cpa', orders: 10, clicks: 1_000 } as const
  const specs = [
    { ...cpa, valuePerOrderMicros: 80_000_000 },
    { name: 'B', bidMicros: 300_000 },
  ]
  const at = (paceFactor: number) => hold(withPace(specs, 'S', paceFactor))
  const [whole, half, little] = [at(1), at(0.5), at(0.25)]
  assert.deepEqual([whole.winner, half.winner, little.winner], ['S', 'S', 'B'])
  assert.ok(Math.abs(half.outcome.score - 400_000) < 1e-6)
  assert.equal(little.outcome.priceMicros, 200_000)
})

test('exploring sometimes finds the better of two unknown merchants, and reports its cost', () => {
  const AUCTIONS = 4000
  const known = { name: 'known', model: 'cpa', orders: 200, clicks: 10_000 } as const
  const fresh = { name: 'fresh', model: 'cpa', orders: 1, clicks: 60 } as const
  const worth = { valuePerOrderMicros: 6_000_000 }
  const set = makeSet([
    { ...known, ...worth },
    { ...fresh, ...worth },
  ])
  const request = makeRequest({ epsilonPpm: 50_000 })
  const outcome = createOutcome()
  let explored = 0
  let fresher = 0
  for (let n = 0; n < AUCTIONS; n++) {
    runAuction(set, request, numberOf(n), outcome)
    assert.ok(outcome.explored || outcome.winner === 0)
    if (outcome.explored) explored += 1
    if (outcome.winner !== 1) continue
    fresher += 1
    const [best, won] = [(200 / 10_000) * 6_000_000, (1 / 60) * 6_000_000]
    assert.ok(Math.abs(outcome.regretMicros - (best - won)) < 1e-6)
  }
  const bound = 4 * Math.sqrt(AUCTIONS * 0.05 * 0.95)
  assert.ok(Math.abs(explored - AUCTIONS * 0.05) < bound, `${explored} explored`)
  assert.ok(fresher > explored * 0.2 && fresher < explored * 0.6, `${fresher} of ${explored}`)
})

test('regret is what the best mean would have brought per click, with its weight and floor', () => {
  const worth = { model: 'cpa', valuePerOrderMicros: 6_000_000 } as const
  // Mean $0.12.
  const known = { ...worth, name: 'known', orders: 200, clicks: 10_000, quality: 0.5 }
  const fresh = { ...worth, name: 'fresh', orders: 1, clicks: 60, quality: 0.25 } // Mean $0.10.
  const seen = new Set<string>()
  for (let n = 0; n < 300; n++) {
    // The floor equals the known one's mean value, so it is eligible by mean.
    const asked = { epsilonPpm: 1_000_000, floorMicros: 120_000 }
    const { winner, outcome } = hold([known, fresh], asked, numberOf(n))
    // By mean the fresh one is below the floor: whatever its draw won counts as regret.
    const expected = winner === 'known' ? 0 : 120_000
    assert.ok(Math.abs(outcome.regretMicros - expected) < 1e-6, `${winner}`)
    seen.add(String(winner))
  }
  assert.deepEqual([...seen].sort(), ['fresh', 'known', 'null'])
})
