import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readInteger } from './option.ts'

test('a whole number that no column holds is told the range, not that it is no number', () => {
  assert.deepEqual(['0', '2147483647'].map(readInteger), [0, 2_147_483_647])
  for (const wrong of ['2147483648', '-1', '1.5', '1e3', '', ' 1', '99999999999999999999']) {
    assert.throws(() => readInteger(wrong), /from 0 to 2147483647/, wrong)
  }
})
