import assert from 'node:assert/strict'
import { test } from 'node:test'
import { characterCount } from './characters.ts'

test('a letter beyond 16 bits counts as one character', () => {
  assert.equal(characterCount(''), 0)
  assert.equal(characterCount('kettle é'), 8)
  assert.equal(characterCount('\u{1F600}'.repeat(255)), 255)
})
