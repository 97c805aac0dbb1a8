import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidates, request, resultNumber } from '../../test/support/auction-arbitraries.ts'
import { type CandidateSpec, hold, type RequestSpec } from '../../test/support/auction-world.ts'
import fc from '../../test/support/fast-check.ts'
import { sized } from '../../test/support/soak.ts'
import { MODEL } from '../events/event.ts'
import { discloseToPublisher, rangeOf } from './disclose.ts'
import { explainAuction } from './explain.ts'
import { NoFillRun } from './no-fill.ts'
import { packReceipt, unpackReceipt } from './receipt.ts'
import { rerun } from './replay.ts'
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

function isTied(auction: ReturnType<typeof stored>): boolean {
  const { scores, winner } = rerun(auction)
  return winner >= 0 && scores.filter((score) => score === scores[winner]).length > 1
}

/** Everything about an auction that its publisher can request. */
function published(auction: ReturnType<typeof stored>) {
  const disclosed = discloseToPublisher(auction).auction
  const noFill = new NoFillRun()
  noFill.add({ auction: disclosed, clicks: 3 })
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
    noFill: noFill.report(),
    whatIf: changes.map((change) => {
      const run = new WhatIfRun(change)
      run.add({ auction: disclosed, clicks: 3 })
      return run.report()
    }),
  }
}

test('no receipt, what-if or missed amount distinguishes two bids of one range', () => {
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
        if (i === undefined || auction.set.model[i] !== MODEL.cpc) return
        if (Number.isFinite(auction.set.ceiling[i])) return
        const move = (value: number) => {
          const { lowMicros, highMicros } = rangeOf(value)
          return Math.floor(lowMicros + part * (highMicros - 1 - lowMicros))
        }
        const at = specs.findIndex((_, index) => index + 1 === auction.set.campaignId[i])
        const spec = specs[at] as CandidateSpec
        const moved: CandidateSpec = {
          ...spec,
          bidMicros: move(spec.bidMicros ?? 0),
          exclusiveBidMicros: move(spec.exclusiveBidMicros ?? spec.bidMicros ?? 0),
        }
        const other = stored(specs.with(at, moved), asked, number)
        const { outcome } = auction
        // Only if the auction itself ended alike: its outcome is public.
        if (other.outcome.winner !== outcome.winner) return
        if (other.outcome.priceMicros !== outcome.priceMicros) return
        if (other.outcome.runnerUp !== outcome.runnerUp) return
        if (other.outcome.ratePpm !== outcome.ratePpm) return
        if (other.outcome.losses.join() !== outcome.losses.join()) return
        if (other.set.campaignId.join() !== auction.set.campaignId.join()) return
        // A tie is published too: the winner's bid is its price, and no floor could take more.
        if (isTied(auction) || isTied(other)) return
        compared += 1
        assert.deepEqual(published(other), published(auction))
      },
    ),
    { numRuns: sized(300, { soak: 10_000 }), endOnFailure: true },
  )
  assert.ok(compared > 30, `${compared} compared`)
})
