import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { COUNTRIES } from '../platform/net/countries.ts'
import { countryBits, countryCode, countryIndex, idList, lets } from './targeting.ts'

const ids = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 12 })

test('a list admits exactly those that are allowed and not blocked', () => {
  fc.assert(
    fc.property(ids, ids, fc.integer({ min: 1, max: 5000 }), (allow, block, id) => {
      const list = idList(allow, block)
      const expected = (allow.length === 0 || allow.includes(id)) && !block.includes(id)
      assert.equal(lets(list, id), expected)
    }),
    { numRuns: 2000 },
  )
})

test('a list handles ids beyond the last word of its bits', () => {
  const allow = idList([3], [])
  const block = idList([], [3])
  assert.ok(allow !== null && block !== null)
  assert.equal(lets(allow, 1_000_000), false)
  assert.equal(lets(block, 1_000_000), true)
  assert.throws(() => idList([2 ** 22], []), /above/)
})

test('every assigned country has its own index, which maps back to it', () => {
  const indexes = COUNTRIES.map(countryIndex)
  assert.equal(new Set(indexes).size, COUNTRIES.length)
  assert.ok(Math.min(...indexes) === 1 && Math.max(...indexes) < 256)
  for (const code of COUNTRIES) assert.equal(countryCode(countryIndex(code)), code)
  assert.equal(countryIndex(null), 0)
  assert.equal(countryIndex('XX'), 0)
  assert.equal(countryCode(0), null)
})

test('a country list contains only its own countries, and never the unknown one', () => {
  const bits = countryBits(['US', 'ZW', 'AD'])
  const held = COUNTRIES.filter((code) => {
    const index = countryIndex(code)
    return (((bits?.[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1
  })
  assert.deepEqual(held, ['AD', 'US', 'ZW'])
  assert.equal((bits?.[0] ?? 0) & 1, 0)
  assert.equal(countryBits([]), null)
})

test('a list of only unknown countries is open to none, not to all', () => {
  assert.deepEqual(countryBits(['XX', '']), new Uint32Array(8))
})
