import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hold,
  makeRequest,
  makeSet,
  NOON_MS,
  resultNumber,
} from '../../test/support/auction-world.ts'
import { FEED_AGE_MAX_MS } from '../catalog/merchant.ts'
import { LIVE, liveAt, refreshLive } from './campaign-state.ts'
import { createOutcome } from './outcome.ts'
import { runAuction } from './run-auction.ts'

const always = {
  index: 0,
  isActive: true,
  startsAtMs: null,
  endsAtMs: null,
  feedImportedAtMs: null,
}

test('a flight is half open, and a feed is fresh for exactly 24 hours', () => {
  const flight = { ...always, startsAtMs: 1000, endsAtMs: 2000 }
  assert.equal(liveAt(flight, 999), LIVE.outOfFlight)
  assert.equal(liveAt(flight, 1000), LIVE.live)
  assert.equal(liveAt(flight, 1999), LIVE.live)
  assert.equal(liveAt(flight, 2000), LIVE.outOfFlight)
  const fed = { ...always, feedImportedAtMs: 5000 }
  assert.equal(liveAt(fed, 5000 + FEED_AGE_MAX_MS), LIVE.live)
  assert.equal(liveAt(fed, 5001 + FEED_AGE_MAX_MS), LIVE.staleFeed)
  assert.equal(liveAt({ ...flight, isActive: false }, 1500), LIVE.inactive)
})

test('a candidate set sees a campaign start, run out of budget and be paced, without being rebuilt', () => {
  const set = makeSet([{ name: 'A', flight: { startsAtMs: NOON_MS + 1000 } }])
  const outcome = createOutcome()
  const winner = () => {
    runAuction(set, makeRequest(), resultNumber(1), outcome)
    return outcome.winner
  }
  const flights = [{ ...always, startsAtMs: NOON_MS + 1000 }]
  assert.equal(winner(), -1)
  refreshLive(set.state, flights, NOON_MS + 1000)
  assert.equal(winner(), 0)
  set.state.budgetOk[0] = 0
  assert.equal(winner(), -1)
  set.state.budgetOk[0] = 1
  set.state.paceFactor[0] = 0
  assert.equal(winner(), -1)
  set.state.paceFactor[0] = 1
  assert.equal(winner(), 0)
})

test('a reused outcome carries nothing over from the previous auction', () => {
  const won = makeSet([{ name: 'A', bidMicros: 900_000 }, { name: 'B' }])
  const outcome = createOutcome()
  runAuction(won, makeRequest({ epsilonPpm: 1_000_000 }), resultNumber(1), outcome)
  runAuction(makeSet([]), makeRequest(), resultNumber(1), outcome)
  const { losses, values, weights, scores, ...decision } = hold([]).outcome
  const { losses: l, values: v, weights: w, scores: s, ...decided } = outcome
  assert.deepEqual(decided, decision)
})
