import assert from 'node:assert/strict'
import { test } from 'node:test'
import { weightedMedian } from './weighted-median.ts'

const median = (...parts: readonly (readonly [number, number])[]) =>
  weightedMedian(parts.map(([value, weight]) => ({ value, weight })))

test('the weighted median has half of the weight on either side, or lies between two such', () => {
  assert.equal(median(), null)
  assert.equal(median([7, 3]), 7)
  assert.equal(median([9, 1], [1, 1], [5, 1]), 5)
  assert.equal(median([9, 1], [1, 3], [5, 1]), 1)
  assert.equal(median([9, 2], [1, 2]), 5, 'of two that count alike neither')
  assert.equal(median([9, 2], [1, 1], [5, 1]), 7)
})

test('one part moves the weighted median to a neighbour at most', () => {
  const others = [4, 5, 6].map((value) => [value, 2] as const)
  assert.equal(median(...others, [1e9, 2]), 5.5)
  assert.equal(median(...others, [-1e9, 2]), 4.5)
})
