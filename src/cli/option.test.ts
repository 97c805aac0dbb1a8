import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDollars, readFraction, readInteger, readNumber } from './option.ts'

test('a whole number that no column holds is told the range, not that it is no number', () => {
  assert.deepEqual(['0', '2147483647'].map(readInteger), [0, 2_147_483_647])
  for (const wrong of ['2147483648', '-1', '1.5', '1e3', '', ' 1', '99999999999999999999']) {
    assert.throws(() => readInteger(wrong), /from 0 to 2147483647/, wrong)
  }
})

test('a fraction may leave out the nought before its point', () => {
  assert.deepEqual(['0.75', '.75', '-.5', '1', ''].map(readFraction), [
    750_000,
    750_000,
    -500_000,
    1_000_000,
    null,
  ])
  for (const wrong of ['.', '-', '1.', '1e3', '0x1', ' 1', 'half', '1.2.3']) {
    assert.throws(() => readNumber(wrong), /must be a number/, wrong)
  }
})

test('dollars may leave out the nought before their point', () => {
  assert.deepEqual(['.60', '0.60', '12', ''].map(readDollars), [600_000, 600_000, 12_000_000, null])
  for (const wrong of ['.', '-.5', '1.', '$1', '1,20', '.0000001']) {
    assert.throws(() => readDollars(wrong), /US dollars, such as 0.60/, wrong)
  }
})
