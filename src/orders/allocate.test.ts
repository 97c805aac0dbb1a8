import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { micros } from '../platform/money/money.ts'
import { allocate } from './allocate.ts'

const CENT_MICROS = 10_000

interface Case {
  earnings_cents: number
  line_revenue_cents: number[]
  line_earnings_cents: number[]
}

test('divides an order over its lines as the golden table says (needs the data kit)', (t) => {
  const path = kitPath(t, 'oracles/orders-returns.json')
  if (path === null) return
  const cases: Case[] = JSON.parse(readFileSync(path, 'utf8')).allocation
  assert.ok(cases.length > 10)
  for (const { earnings_cents, line_revenue_cents, line_earnings_cents } of cases) {
    assert.deepEqual(
      allocate(micros(earnings_cents * CENT_MICROS), line_revenue_cents.map(BigInt)),
      line_earnings_cents.map((cents) => cents * CENT_MICROS),
    )
  }
})

test('the remainder goes to the lines that lost most by rounding down, the lower line first', () => {
  const cents = (total: number, ...weights: bigint[]) =>
    allocate(micros(total * CENT_MICROS), weights).map((part) => part / CENT_MICROS)
  assert.deepEqual(cents(5500, 400n, 150n), [4000, 1500])
  assert.deepEqual(cents(10, 3n, 3n, 1n), [4, 4, 2]) // of 4.29, 4.29 and 1.43
  assert.deepEqual(cents(5, 1n, 1n, 1n), [2, 2, 1])
})

const weightsArbitrary = fc.array(fc.bigInt({ min: 0n, max: 10n ** 15n }), {
  minLength: 1,
  maxLength: 40,
})
const totalArbitrary = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 40 }),
  fc.integer({ min: 0, max: 2 ** 30 }).map((cents) => cents * CENT_MICROS),
)

test('the lines of an order add up to the order exactly, in every unit (P42)', () => {
  fc.assert(
    fc.property(totalArbitrary, weightsArbitrary, (total, weights) => {
      const parts = allocate(micros(total), weights)
      assert.equal(parts.length, weights.length)
      assert.equal(
        parts.reduce((sum, part) => sum + part, 0),
        total,
      )
    }),
  )
})

test('no line is off by a whole unit, and whole cents stay whole', () => {
  fc.assert(
    fc.property(totalArbitrary, weightsArbitrary, (total, weights) => {
      const sum = weights.reduce((all, weight) => all + weight, 0n)
      fc.pre(sum > 0n)
      const unit = total % CENT_MICROS === 0 ? CENT_MICROS : 1
      allocate(micros(total), weights).forEach((part, line) => {
        assert.equal(part % unit, 0)
        const distance = BigInt(part) * sum - BigInt(total) * (weights[line] ?? 0n)
        const magnitude = distance < 0n ? -distance : distance
        assert.ok(magnitude < BigInt(unit) * sum, `line ${line} of ${part}`)
      })
    }),
  )
})

test('divides an order of free lines evenly, and refuses an order without lines', () => {
  assert.deepEqual(allocate(micros(30_000), [0n, 0n]), [20_000, 10_000])
  assert.throws(() => allocate(micros(1), []), /at least one line/)
})
