import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getHeapStatistics } from 'node:v8'
import { type CandidateSpec, makeRequest, makeSet, resultNumber } from '../../test/auction-world.ts'
import { createOutcome } from './outcome.ts'
import { runAuction } from './run-auction.ts'

const WARM_UP = 100_000
const AUCTIONS = 100_000
const ROUNDS = 4
/** A tenth of the smallest object: what is left is the compiler's own. */
const BYTES_MAX = 4

test('an auction allocates nothing, with every candidate scored and every order rate drawn', () => {
  const specs = Array.from(
    { length: 64 },
    (_, i): CandidateSpec => ({
      name: String(i),
      model: i % 2 === 0 ? 'cpc' : 'cpa',
      bidMicros: 100_000 + i * 1000,
      valuePerOrderMicros: 5_000_000,
      priceMicros: 90_000_000 + i * 100_000,
      ptr: 0.7,
      countries: ['US'],
      blockPublishers: [2],
      floorMicros: { '*': 15_000 },
    }),
  )
  const set = makeSet(specs)
  const request = makeRequest({ epsilonPpm: 1_000_000, originalPriceMicros: 100_000_000 })
  const numbers = Array.from({ length: 1024 }, (_, n) => resultNumber(n))
  const outcome = createOutcome()
  const run = (auctions: number) => {
    for (let n = 0; n < auctions; n++) {
      runAuction(set, request, numbers[n % numbers.length] as Buffer, outcome)
    }
  }
  run(WARM_UP)
  // On a busy machine the compiler may come late, and allocates itself: one clean round is proof.
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = allocatedBytes()
    run(AUCTIONS)
    return (allocatedBytes() - before) / AUCTIONS
  })
  const each = Math.min(...rounds)
  assert.ok(outcome.explored && outcome.eligible > 1)
  assert.ok(each < BYTES_MAX, `${each} bytes an auction`)
})

function allocatedBytes(): number {
  const { total_allocated_bytes: bytes } = getHeapStatistics() as { total_allocated_bytes?: number }
  assert.ok(bytes !== undefined, 'this engine does not count allocated bytes: use the pinned Node')
  return bytes
}
