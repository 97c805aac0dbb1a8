import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { joinableGtin14, readGtin } from './gtin.ts'

interface GtinCase {
  input: string
  api: string
  feed: string
  gtin14: string | null
  joinable: boolean
  why: string
}

test('all 333 cases of the GTIN oracle are answered as expected', (t) => {
  const path = kitPath(t, 'oracles/gtin-cases.json')
  if (path === null) return
  const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: GtinCase[] }
  assert.equal(cases.length, 333)
  for (const expected of cases) {
    const gtin = readGtin(expected.input)
    const found = {
      feed: gtin.kind,
      gtin14: gtin.gtin14,
      joinable: joinableGtin14(gtin) !== null,
      // A caller's number that had to be repaired was not valid as it was sent.
      api:
        gtin.kind === 'missing'
          ? 'missing'
          : gtin.kind === 'bad' || gtin.kind === 'repaired'
            ? 'invalid'
            : 'valid',
    }
    const { feed, gtin14, joinable, api } = expected
    const wanted = { feed, gtin14, joinable, api }
    assert.deepEqual(found, wanted, `${expected.input}: ${expected.why}`)
  }
})

test('one wrong digit never passes, and never joins', () => {
  const digit = fc.integer({ min: 0, max: 9 })
  fc.assert(
    fc.property(
      fc.constantFrom('3017620422003', '0660973141423', '10009511000179'),
      digit,
      digit,
      (code, at, by) => {
        const changed = (Number(code[at]) + 1 + (by % 9)) % 10
        const wrong = code.slice(0, at) + changed + code.slice(at + 1)
        assert.equal(readGtin(wrong).kind, 'bad')
        assert.equal(joinableGtin14(readGtin(wrong)), null)
      },
    ),
  )
})

test('zeros in front, spaces and hyphens never change which product a code means', () => {
  for (const written of ['012345678905', '0012345678905', '00012345678905', ' 0-12345 67890-5 ']) {
    assert.equal(joinableGtin14(readGtin(written)), '00012345678905', written)
  }
  assert.equal(
    joinableGtin14(readGtin('12345678905')),
    '00012345678905',
    'the lost zero of a UPC-A',
  )
})

test('any text at all is classified without an exception', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readGtin(text)))
})

test('an in-store number keeps its GTIN-14 but joins nothing', () => {
  for (const written of ['2488691019613', '02488691019613', '24-88691-019613']) {
    const gtin = readGtin(written)
    assert.deepEqual(gtin, { kind: 'restricted', gtin14: '02488691019613' })
    assert.equal(joinableGtin14(gtin), null)
  }
})

test('recovers a GTIN that a spreadsheet changed when all its digits are there', () => {
  const whole = '04006381333931'
  for (const written of [
    "'4006381333931",
    '“4006381333931”',
    '’4006381333931',
    '="4006381333931"',
    '"4006381333931"',
    '4006381333931.0',
    '4006381333931,00',
    '4,006,381,333,931',
    '4.006381333931E+12',
    '4,006381333931e+12',
  ]) {
    assert.deepEqual(readGtin(written), { kind: 'repaired', gtin14: whole }, written)
  }
  for (const lost of ['8.71E+12', '4.00638133393E+12', '4006381333931.5', "'4006381333930"]) {
    assert.equal(readGtin(lost).kind, 'bad', lost)
  }
})
