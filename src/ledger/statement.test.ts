import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { micros } from '../platform/money/money.ts'
import { nextMonth, previousMonth } from '../platform/time/calendar.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { MINIMUM_PAYOUT_MICROS, makeStatements, statementId } from './statement.ts'

const on = (day: string, dollars: number) => ({
  atMs: Date.parse(`${day}T12:00:00Z`),
  earningsMicros: micros(Math.round(dollars * 1_000_000)),
})

test('a balance below the minimum is carried over until it is worth a payout', () => {
  const statements = makeStatements(
    [on('2026-01-10', 30), on('2026-03-02', 25), on('2026-03-30', -1), on('2026-04-01', -10)],
    '2026-04',
  )
  assert.deepEqual(
    statements.map((row) => [
      row.month,
      row.openingMicros / 1e6,
      row.releasedMicros / 1e6,
      row.reversedMicros / 1e6,
      row.payoutMicros / 1e6,
      row.closingMicros / 1e6,
    ]),
    [
      ['2026-01', 0, 30, 0, 0, 30],
      ['2026-02', 30, 0, 0, 0, 30],
      ['2026-03', 30, 25, 1, 54, 0],
      ['2026-04', 0, 0, 10, 0, -10],
    ],
  )
})

test('fifty dollars are paid out, a micro-dollar less is not', () => {
  const payoutOf = (dollars: number) =>
    makeStatements([on('2026-01-10', dollars)], '2026-01').map((row) => row.payoutMicros)
  assert.deepEqual(payoutOf(50), [50_000_000])
  assert.deepEqual(payoutOf(49.999999), [0])
})

test('a payout is in whole cents, and the rest of a cent is carried over', () => {
  const statements = makeStatements(
    [on('2026-01-10', 62.999926), on('2026-02-10', 50.000074)],
    '2026-02',
  )
  assert.deepEqual(
    statements.map(({ payoutMicros, closingMicros }) => [payoutMicros, closingMicros]),
    [
      [62_990_000, 9_926],
      [50_010_000, 0],
    ],
  )
})

test("a movement that arrives after its month's statement is on the next one and paid once", () => {
  const movements = [on('2026-01-10', 60)]
  const issued = makeStatements(movements, '2026-01')
  const late = [...movements, on('2026-01-20', 70), on('2026-02-01', 5), on('2026-02-02', -1)]
  const next = makeStatements(late, '2026-02', issued)
  assert.deepEqual(next, [
    {
      month: '2026-02',
      openingMicros: 0,
      releasedMicros: 75_000_000,
      reversedMicros: 1_000_000,
      payoutMicros: 74_000_000,
      closingMicros: 0,
    },
  ])
  assert.deepEqual(makeStatements(late, '2026-02', [...issued, ...next]), [])
  const less = makeStatements([...late, on('2026-01-31', -30)], '2026-03', [...issued, ...next])
  assert.deepEqual(
    less.map(({ reversedMicros, closingMicros }) => [reversedMicros, closingMicros]),
    [[30_000_000, -30_000_000]],
  )
})

test('a late movement is on the first missing statement, even if several are missing', () => {
  const issued = makeStatements([on('2026-01-10', 60)], '2026-01')
  const late = [on('2026-01-10', 60), on('2026-01-20', 70), on('2026-03-01', 55)]
  assert.deepEqual(
    makeStatements(late, '2026-03', issued).map((row) => [row.month, row.payoutMicros / 1e6]),
    [
      ['2026-02', 70],
      ['2026-03', 55],
    ],
  )
})

test('a publisher that earned nothing gets no statement', () => {
  assert.deepEqual(makeStatements([], '2026-04'), [])
  assert.deepEqual(makeStatements([on('2026-05-01', 100)], '2026-04'), [])
})

test('every movement is on exactly one statement, and each opens with the closing balance of the last', () => {
  const movement = fc
    .tuple(fc.integer({ min: 0, max: 364 }), fc.integer({ min: -(10 ** 9), max: 10 ** 9 }))
    .map(([day, amount]) => ({
      atMs: Date.UTC(2026, 0, 1) + day * DAY_MS,
      earningsMicros: micros(amount),
    }))
  fc.assert(
    fc.property(fc.array(movement, { minLength: 1 }), (movements) => {
      const statements = makeStatements(movements, '2026-12')
      let opening = 0
      let paid = 0
      for (const row of statements) {
        assert.equal(row.openingMicros, opening)
        assert.ok(row.payoutMicros === 0 || row.payoutMicros >= MINIMUM_PAYOUT_MICROS)
        assert.equal(row.payoutMicros % 10_000, 0)
        opening = row.closingMicros
        paid += row.payoutMicros
      }
      const moved = movements.reduce((sum, { earningsMicros }) => sum + earningsMicros, 0)
      assert.equal(paid + opening, moved)
    }),
  )
})

test('months follow each other across years', () => {
  assert.equal(nextMonth('2026-12'), '2027-01')
  assert.equal(previousMonth('2026-01'), '2025-12')
  assert.equal(statementId(7, '2026-03'), 'S7-202603')
})
