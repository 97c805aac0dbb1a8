import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from '../../test/fast-check.ts'
import { kitPath } from '../../test/kit.ts'
import { micros } from '../platform/money.ts'
import { placeReturn, returnAmount, takenBack } from './returns.ts'

const CENT_MICROS = 10_000

interface Case {
  line_earnings_cents: number
  quantity: number
  returned_one_by_one_cents: number[]
  cumulative_cents: number[]
}

test('units sent back one by one give the rows of the golden table (needs the data kit)', (t) => {
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
      row.cumulative_cents.map((_, before) => takenBack(total, { returned: before + 1, quantity })),
      row.cumulative_cents.map((cents) => cents * CENT_MICROS),
    )
  }
})

test('any way of splitting a full return nets to nothing (P43)', () => {
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
  assert.throws(() => takenBack(micros(100), { returned: 3, quantity: 2 }), /cannot be returned/)
})

const lines = [
  { line: 0, productId: 'A1', quantity: 2, returned: 1 },
  { line: 1, productId: 'B1', quantity: 1, returned: 0 },
  { line: 2, productId: 'A1', quantity: 3, returned: 0 },
]

test('a return of a product fills its lines in their order', () => {
  const goods = { line: null, productId: 'A1', quantity: 3 }
  assert.deepEqual(placeReturn(lines, goods), [
    { line: 0, count: 1 },
    { line: 2, count: 2 },
  ])
})

test('a line of a product that is all back gets no row of the next return', () => {
  const goods = { line: null, productId: 'A1', quantity: 1 }
  const [first, ...others] = lines
  assert.ok(first)
  assert.deepEqual(placeReturn([{ ...first, returned: 2 }, ...others], goods), [
    { line: 2, count: 1 },
  ])
})

test('a return names a line, a product, or one line of a product', () => {
  assert.deepEqual(placeReturn(lines, { line: 1, productId: null, quantity: 1 }), [
    { line: 1, count: 1 },
  ])
  assert.deepEqual(placeReturn(lines, { line: 2, productId: 'A1', quantity: 1 }), [
    { line: 2, count: 1 },
  ])
  assert.equal(placeReturn(lines, { line: 1, productId: 'A1', quantity: 1 }), 'unknown_line')
  assert.equal(placeReturn(lines, { line: null, productId: 'Z9', quantity: 1 }), 'unknown_line')
})

test('a return of more than is still out is refused whole', () => {
  assert.equal(placeReturn(lines, { line: 1, productId: null, quantity: 2 }), 'over_quantity')
  assert.equal(placeReturn(lines, { line: null, productId: 'A1', quantity: 5 }), 'over_quantity')
})
