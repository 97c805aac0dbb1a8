import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CANDIDATES_MAX } from '../src/auction/candidate-set.ts'
import { LADDER } from '../src/auction/loss-code.ts'
import { candidates, open, request, resultNumber, rivals } from './support/auction-arbitraries.ts'
import {
  type CandidateSpec,
  type Held,
  hold,
  lossWord,
  type RequestSpec,
} from './support/auction-world.ts'
import fc from './support/fast-check.ts'

const AUCTIONS = 2_000
const SEED = 20_260_413

const given = sample(candidates, request)
const held = given.map((one) => hold(...one))

test('most random auctions have a winner, many a rival, and each check fails somewhere', () => {
  const share = (is: (outcome: Held['outcome']) => boolean) =>
    held.filter(({ outcome }) => is(outcome)).length / AUCTIONS
  assert.ok(share(({ winner }) => winner >= 0) > 0.5)
  assert.ok(share(({ runnerUp }) => runnerUp >= 0) > 0.25)
  assert.ok(share(({ explored, winner }) => explored && winner >= 0) > 0.1)
  assert.ok(share(({ regretMicros }) => regretMicros > 0) > 0.003)
  assert.ok(share(({ winner, ratePpm }) => winner >= 0 && ratePpm < 1_000_000) > 0.01)
  const failed = new Set(held.flatMap(({ losses }) => Object.values(losses)))
  const checks = LADDER.map(lossWord).filter((word) => word !== 'noCandidates')
  assert.deepEqual(
    checks.filter((word) => !failed.has(word)),
    [],
  )
})

test('some random auctions are a tie between merchants, and some are cut', () => {
  const tied = (some: readonly Held[]) => some.filter(isTie).length / AUCTIONS
  assert.ok(tied(held) > 0.03)
  assert.ok(tied(sample(rivals, open).map((one) => hold(...one))) > 0.1)
  const cut = given.filter(([specs]) => specs.length > CANDIDATES_MAX)
  assert.ok(cut.length / AUCTIONS > 0.01)
})

function isTie({ outcome }: Held): boolean {
  return outcome.runnerUp >= 0 && outcome.runnerUpScore === outcome.score
}

function sample(specs: fc.Arbitrary<CandidateSpec[]>, asked: fc.Arbitrary<RequestSpec>) {
  const auctions = fc.tuple(specs, asked, resultNumber)
  return fc.sample(auctions, { numRuns: AUCTIONS, seed: SEED })
}
