import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { type Micros, micros } from '../platform/money/money.ts'
import { goneMinor, goneOf, placeReturn, returnedPart } from './returns.ts'

const CENT_MICROS = 10_000

/** The effect of one return of `count` units. */
function returnAmount(
  total: Micros,
  { before, count, quantity }: { before: number; count: number; quantity: number },
): number {
  const after = returnedPart(total, { returned: before + count, quantity })
  return after - returnedPart(total, { returned: before, quantity })
}

interface Case {
  line_earnings_cents: number
  quantity: number
  returned_one_by_one_cents: number[]
  cumulative_cents: number[]
}

test('units returned one by one give the rows of the golden table (needs the data kit)', (t) => {
  const path = kitPath(t, 'oracles/orders-returns.json')
  if (path === null) return
  const cases: Case[] = JSON.parse(readFileSync(path, 'utf8')).returns
  assert.ok(cases.length > 10)
  for (const row of cases) {
    const total = micros(row.line_earnings_cents * CENT_MICROS)
    const { quantity } = row
    assert.deepEqual(
      row.returned_one_by_one_cents.map((_, before) =>
        returnAmount(total, { before, count: 1, quantity }),
      ),
      row.returned_one_by_one_cents.map((cents) => Math.abs(cents) * CENT_MICROS),
    )
    assert.deepEqual(
      row.cumulative_cents.map((_, before) =>
        returnedPart(total, { returned: before + 1, quantity }),
      ),
      row.cumulative_cents.map((cents) => cents * CENT_MICROS),
    )
  }
})

test('every way of splitting a full return nets to nothing (P43)', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 45 }),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 30 }),
      (total, counts) => {
        const quantity = counts.reduce((sum, count) => sum + count, 0)
        let before = 0
        let left = total
        for (const count of counts) {
          const amount = returnAmount(micros(total), { before, count, quantity })
          assert.ok(amount >= 0, 'a return never pays out')
          left -= amount
          before += count
        }
        assert.equal(left, 0)
      },
    ),
  )
})

test('more units than were bought are a broken invariant, not a number', () => {
  assert.throws(() => returnedPart(micros(100), { returned: 3, quantity: 2 }), /cannot be returned/)
})

const whole = { valueMinor: 9_999n, refundedMinor: 0n }
const lines = [
  { line: 0, productId: 'A1', quantity: 2, returned: 1, ...whole },
  { line: 1, productId: 'B1', quantity: 1, returned: 0, ...whole },
  { line: 2, productId: 'A1', quantity: 3, returned: 0, ...whole },
]
const unitsOf = (line: number | null, productId: string | null, quantity: number) => ({
  ...{ line, productId, quantity, amountMinor: 0n },
})
const amountOf = (line: number | null, productId: string | null, amountMinor: bigint) => ({
  ...{ line, productId, quantity: 0, amountMinor },
})
const counts = (placed: ReturnType<typeof placeReturn>) =>
  typeof placed === 'string' ? placed : placed.map(({ line, count }) => ({ line, count }))

test('a return of a product fills its lines in order', () => {
  assert.deepEqual(counts(placeReturn(lines, unitsOf(null, 'A1', 3))), [
    { line: 0, count: 1 },
    { line: 2, count: 2 },
  ])
})

test('a completely returned line gets no row of the next return', () => {
  const [first, ...others] = lines
  assert.ok(first)
  const allBack = [{ ...first, returned: 2 }, ...others]
  assert.deepEqual(counts(placeReturn(allBack, unitsOf(null, 'A1', 1))), [{ line: 2, count: 1 }])
})

test('a return names a line, a product, or one line of a product', () => {
  assert.deepEqual(counts(placeReturn(lines, unitsOf(1, null, 1))), [{ line: 1, count: 1 }])
  assert.deepEqual(counts(placeReturn(lines, unitsOf(2, 'A1', 1))), [{ line: 2, count: 1 }])
  assert.equal(placeReturn(lines, unitsOf(1, 'A1', 1)), 'unknown_line')
  assert.equal(placeReturn(lines, unitsOf(null, 'Z9', 1)), 'unknown_line')
})

test('refuses a return of more than is left as a whole', () => {
  assert.equal(placeReturn(lines, unitsOf(1, null, 2)), 'over_quantity')
  assert.equal(placeReturn(lines, unitsOf(null, 'A1', 5)), 'over_quantity')
})

test('an amount for the order is spread by the remaining value, and one for a product fills its lines', () => {
  const amounts = (placed: ReturnType<typeof placeReturn>) =>
    typeof placed === 'string' ? placed : placed.map((part) => [part.line, part.amountMinor])
  // What is left: 49.99 (the refund keeps the larger part of a half-cent), 99.99 and 99.99.
  assert.deepEqual(amounts(placeReturn(lines, amountOf(null, null, 25_000n))), 'over_amount')
  assert.deepEqual(amounts(placeReturn(lines, amountOf(null, null, 100n))), [
    [0, 20n],
    [1, 40n],
    [2, 40n],
  ])
  assert.deepEqual(amounts(placeReturn(lines, amountOf(null, 'A1', 5_100n))), [
    [0, 5_000n],
    [2, 100n],
  ])
  assert.equal(placeReturn(lines, amountOf(1, null, 10_000n)), 'over_amount')
})

test('units whose value was refunded cannot be returned too', () => {
  const [, one, three] = lines
  assert.ok(one && three)
  const refunded = { ...three, refundedMinor: 6_000n }
  assert.deepEqual(counts(placeReturn([one, refunded], unitsOf(2, null, 1))), [
    { line: 2, count: 1 },
  ])
  assert.equal(placeReturn([one, refunded], unitsOf(2, null, 2)), 'over_amount')
})

test('units and amounts never exceed a line, and take all of it when no value is left', () => {
  const step = fc.record({ units: fc.nat(3), amount: fc.nat(400) })
  fc.assert(
    fc.property(
      fc.record({ value: fc.nat(1_000), quantity: fc.integer({ min: 1, max: 7 }) }),
      fc.nat(2 ** 40),
      fc.array(step, { maxLength: 30 }),
      ({ value, quantity }, total, steps) => {
        let line = {
          ...{ line: 0, productId: 'A', quantity, returned: 0 },
          ...{ valueMinor: BigInt(value), refundedMinor: 0n },
        }
        let before = 0
        const rest = [...steps.flatMap(({ units, amount }) => [unitsOf(0, null, units), amount])]
        for (const next of [...rest, 'the rest'] as const) {
          const left = line.valueMinor - goneMinor(line)
          const amount = next === 'the rest' ? left : typeof next === 'number' ? BigInt(next) : 0n
          const goods = typeof next === 'object' ? next : amountOf(0, null, amount)
          if (goods.quantity === 0 && goods.amountMinor === 0n) continue
          const placed = placeReturn([line], goods)
          if (typeof placed === 'string') {
            assert.ok(goods.amountMinor > left || goods.quantity > 0, 'less than is left fits')
            continue
          }
          for (const part of placed) {
            line = {
              ...line,
              returned: line.returned + part.count,
              refundedMinor: line.refundedMinor + part.amountMinor,
            }
          }
          assert.ok(goneMinor(line) <= line.valueMinor && line.returned <= quantity)
          const gone = goneOf(micros(total), line)
          assert.ok(gone >= before && gone <= total, 'it never pays out')
          before = gone
        }
        if (line.refundedMinor > 0n) assert.equal(before, total, 'a full refund nets to nothing')
      },
    ),
  )
})
