import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyFaults } from './user.ts'

test("a key's label counts characters, also beyond 16 bits", () => {
  const fields = (description: string) =>
    keyFaults({ description, expiresAt: null }, new Date()).map(({ field }) => field)
  const letter = '\u{1D7D9}'
  assert.deepEqual(fields(letter.repeat(255)), [])
  assert.deepEqual(fields(letter.repeat(256)), ['description'])
})

test('a label of only spaces is refused', () => {
  const faults = keyFaults({ description: ' ', expiresAt: null }, new Date())
  const rule = 'must have 1 to 255 characters, not only spaces'
  assert.deepEqual(faults, [{ field: 'description', rule }])
})
