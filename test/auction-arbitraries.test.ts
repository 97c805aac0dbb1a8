import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LADDER } from '../src/auction/loss-code.ts'
import { candidates, request, resultNumber } from './auction-arbitraries.ts'
import { hold, lossWord } from './auction-world.ts'
import fc from './fast-check.ts'

const AUCTIONS = 2_000
const SEED = 20_260_413

test('of the random auctions most have a winner, many a rival, and each check fails somewhere', () => {
  const given = fc.sample(fc.tuple(candidates, request, resultNumber), {
    numRuns: AUCTIONS,
    seed: SEED,
  })
  const held = given.map(([specs, asked, number]) => hold(specs, asked, number))
  const share = (is: (outcome: (typeof held)[number]['outcome']) => boolean) =>
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
