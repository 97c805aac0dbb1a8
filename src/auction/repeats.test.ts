import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeRepeats } from './repeats.ts'

const MIB = 1024 * 1024

test('long answers are dropped before they fill the memory, the least recently used first', () => {
  const repeats = makeRepeats(() => 0)
  for (let nth = 1; nth <= 30; nth += 1) repeats.set(String(nth), 'x'.repeat(5 * MIB))
  assert.equal(repeats.get('1'), undefined)
  assert.ok(repeats.get('30'))
  assert.ok(repeats.calculatedSize <= 100 * MIB)
})

test('an answer is repeated for five minutes', () => {
  let nowMs = 1
  const repeats = makeRepeats(() => nowMs)
  repeats.set('a', 'answer')
  nowMs += 5 * 60_000
  assert.equal(repeats.get('a'), 'answer')
  nowMs += 1
  assert.equal(repeats.get('a'), undefined)
})
