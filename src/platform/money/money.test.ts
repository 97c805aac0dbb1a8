import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import { formatCents, formatExact, micros, parseDollars, publisherPart } from './money.ts'

const amountArbitrary = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -30_000, max: 30_000 }),
  // Around the ties, where rounding errors occur.
  fc
    .tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: -1, max: 1 }))
    .map(([cents, off]) => cents * 10_000 + 5_000 + off),
)

test('cents are rounded half to even, also below zero', () => {
  for (const [amount, text] of [
    [0, '0.00'],
    [4_999, '0.00'],
    [5_000, '0.00'],
    [5_001, '0.01'],
    [15_000, '0.02'],
    [25_000, '0.02'],
    [-5_000, '0.00'],
    [-5_001, '-0.01'],
    [-15_000, '-0.02'],
    [542_235, '0.54'],
    [999_995_000, '1000.00'],
    [-999_999, '-1.00'],
    [9_007_199_254_740_991, '9007199254.74'],
  ] as const) {
    for (const same of [amount, BigInt(amount), String(amount)]) {
      assert.equal(formatCents(same), text, `${typeof same} ${amount}`)
    }
  }
  assert.equal(formatCents('9007199254740993000'), '9007199254740.99', 'beyond what a number holds')
})

test('cents equal exact division for every amount and every type of number', () => {
  fc.assert(
    fc.property(amountArbitrary, (amount) => {
      const text = formatCents(amount)
      const cents = BigInt(text.replace('.', ''))
      const twiceOff = 2n * (BigInt(amount) - cents * 10_000n)
      assert.ok(twiceOff <= 10_000n && -twiceOff <= 10_000n)
      if (twiceOff === 10_000n || -twiceOff === 10_000n) assert.equal(cents % 2n, 0n)
      assert.match(text, /^(0\.\d\d|-?[1-9]\d*\.\d\d|-0\.(?!00)\d\d)$/)
      assert.equal(formatCents(String(amount)), text)
      assert.equal(formatCents(BigInt(amount)), text)
    }),
  )
})

test('an exact amount survives being written and read', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (amount) => {
      assert.equal(parseDollars(formatExact(amount)), amount)
      assert.equal(formatExact(-amount), amount === 0 ? '0.00' : `-${formatExact(amount)}`)
    }),
  )
  assert.equal(formatExact(12_500_000), '12.50')
  assert.equal(formatExact(542_235), '0.542235')
})

test("a publisher's part is the floor of price times share", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (price, sharePpm) => {
        const short =
          BigInt(price) * BigInt(sharePpm) -
          BigInt(publisherPart(micros(price), sharePpm)) * 1_000_000n
        assert.ok(short >= 0n && short < 1_000_000n)
      },
    ),
  )
})

test('a text that is no plain dollar amount, or no safe number of micros, is refused', () => {
  for (const text of [
    '',
    '.5',
    '1.',
    '-1',
    '1e3',
    '1,50',
    ' 1',
    '0.1234567',
    '99999999999',
    'NaN',
  ]) {
    assert.equal(parseDollars(text), null, text)
  }
  assert.equal(parseDollars('9999999999'), null, 'above the safe range')
  for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1]) {
    assert.throws(() => micros(value), RangeError)
  }
})
