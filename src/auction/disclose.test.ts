import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidates, request, resultNumber } from '../../test/support/auction-arbitraries.ts'
import {
  type CandidateSpec,
  hold,
  resultNumber as numbered,
  type RequestSpec,
} from '../../test/support/auction-world.ts'
import fc from '../../test/support/fast-check.ts'
import { sized } from '../../test/support/soak.ts'
import { MODEL } from '../events/event.ts'
import type { CandidateSet } from './candidate-set.ts'
import { discloseToPublisher, rangeOf } from './disclose.ts'
import { explainAuction } from './explain.ts'
import { NoFillRun } from './no-fill.ts'
import { packReceipt, unpackReceipt } from './receipt.ts'
import { ExploringDay } from './regret.ts'
import { offeredValue } from './run-auction.ts'
import { WhatIfRun } from './what-if.ts'

const RUNS = { numRuns: sized(300, { soak: 10_000 }) }

function stored(specs: readonly CandidateSpec[], asked: RequestSpec, number: Buffer) {
  return unpackReceipt(packReceipt({ ...hold(specs, asked, number), resultNumber: number }))
}

test('ranges double from one cent on, and a value at a bound is in the upper one', () => {
  const dollars = (value: number) => {
    const { lowMicros, highMicros } = rangeOf(value * 1_000_000)
    return [lowMicros / 1_000_000, highMicros / 1_000_000]
  }
  assert.deepEqual(dollars(0.009_999), [0, 0.01])
  assert.deepEqual(dollars(0.01), [0.01, 0.02])
  assert.deepEqual(dollars(0.5), [0.32, 0.64])
  assert.deepEqual(dollars(0.64), [0.64, 1.28])
})

test('a disclosed auction has the winner and the price of the real one', () => {
  fc.assert(
    fc.property(candidates, request, resultNumber, (specs, asked, number) => {
      const auction = stored(specs, asked, number)
      const { auction: disclosed, outcome, ranges } = discloseToPublisher(auction)
      assert.equal(outcome.winner, auction.outcome.winner)
      assert.equal(outcome.priceMicros, auction.outcome.priceMicros)
      const isHidden = outcome.winner >= 0 && ranges.has(outcome.winner)
      if (isHidden && auction.set.model[outcome.winner] === MODEL.cpc) {
        assert.ok(offeredValue(disclosed.set, outcome.winner, false) > outcome.priceMicros)
      }
    }),
    RUNS,
  )
})

/** Everything about an auction that its publisher can request, or that follows from it. */
function published(auction: ReturnType<typeof stored>) {
  const disclosed = discloseToPublisher(auction).auction
  const exploring = new ExploringDay() // Sets tomorrow's share of exploring auctions.
  exploring.add(auction)
  const noFill = new NoFillRun()
  noFill.add({ auction: disclosed, auctionId: '1', clicks: 3 })
  const changes = [
    {},
    { floorMicros: 250_000 },
    { floorMicros: 470_123 },
    { isFirstPrice: true },
    { blockMerchants: [1] },
    { beta: 0 },
    { categoryFloors: [] },
  ]
  return {
    receipt: explainAuction(auction, { kind: 'publisher', merchIds: new Set() }),
    exploring: { ...exploring },
    noFill: noFill.report(),
    whatIf: changes.map((change) => {
      const run = new WhatIfRun(change)
      run.add({ auction: disclosed, clicks: 3 })
      return run.report()
    }),
  }
}

/** The candidate with another value of a click out of the same range. */
function withinRange(
  spec: CandidateSpec,
  { set, i, part }: { set: CandidateSet; i: number; part: number },
): CandidateSpec {
  const moved = (value: number) => {
    const { lowMicros, highMicros } = rangeOf(value)
    return lowMicros + part * (highMicros - 1 - lowMicros)
  }
  if (set.model[i] !== MODEL.cpc) {
    const [alpha, nEff] = [set.alpha[i] as number, set.nEff[i] as number]
    // Away from the lower bound, below which rounding would lead.
    const value = set.value[i] as number
    const other = Math.max(moved(value), rangeOf(value).lowMicros + 1)
    return { ...spec, valuePerOrderMicros: alpha > 0 ? (other * nEff) / alpha : 0 }
  }
  return {
    ...spec,
    bidMicros: Math.floor(moved(offeredValue(set, i, false))),
    exclusiveBidMicros: Math.floor(moved(offeredValue(set, i, true))),
    ceilingMicros: Number.POSITIVE_INFINITY,
  }
}

/**
 * An exploring auction that a hidden bid wins. Whether it also wins by means depends on its place
 * within its range: at $1.50 it does, and at $1.28 its rival's $1.40 would.
 */
const DRAWN_WINNER: [CandidateSpec[], RequestSpec, Buffer, number, number] = [
  [
    { name: 'bid', bidMicros: 1_500_000 },
    { name: 'draw', model: 'epp', orders: 1, clicks: 20, valuePerOrderMicros: 28_000_000 },
  ],
  { epsilonPpm: 50_000 },
  numbered(121),
  0,
  0,
]

test('no receipt, what-if, missed amount or share of exploring distinguishes two bids of one range', () => {
  let compared = 0
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(
      ...[candidates, request, resultNumber, fc.nat(), part],
      (all, asked, number, pick, part) => {
        const specs = all.slice(0, 8)
        const auction = stored(specs, asked, number)
        const hidden = [...discloseToPublisher(auction).ranges.keys()]
        const i = hidden[pick % hidden.length]
        if (i === undefined) return
        const at = specs.findIndex((_, index) => index + 1 === auction.set.campaignId[i])
        const moved = withinRange(specs[at] as CandidateSpec, { set: auction.set, i, part })
        const other = stored(specs.with(at, moved), asked, number)
        const { outcome } = auction
        // Only if the auction itself ended alike: its outcome is public.
        if (other.outcome.winner !== outcome.winner) return
        if (other.outcome.priceMicros !== outcome.priceMicros) return
        if (other.outcome.runnerUp !== outcome.runnerUp) return
        if (other.outcome.ratePpm !== outcome.ratePpm) return
        if (other.outcome.losses.join() !== outcome.losses.join()) return
        if (other.set.campaignId.join() !== auction.set.campaignId.join()) return
        compared += 1
        assert.deepEqual(published(other), published(auction))
      },
    ),
    { ...RUNS, endOnFailure: true, examples: [DRAWN_WINNER] },
  )
  assert.ok(compared > 30, `${compared} compared`)
})
