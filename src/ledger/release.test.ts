import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { micros } from '../platform/money/money.ts'
import { type Debt, matchDebts, ownKeyOf, type Payment } from './release.ts'

function debt(key: string, dueAtMs: number, cost: number, earnings: number, pubId = 1): Debt {
  return { key, pubId, dueAtMs, costMicros: micros(cost), earningsMicros: micros(earnings) }
}

const payment = (paymentId: string, atMs: number, amount: number): Payment => ({
  paymentId,
  atMs,
  amountMicros: micros(amount),
})

test('a payment releases the oldest earnings first, and the last one in part', () => {
  const debts = [debt('c', 30, 100, 75), debt('a', 10, 100, 75, 2), debt('b', 20, 100, 75)]
  const { releases, open, creditMicros } = matchDebts(debts, [payment('p1', 40, 150)])
  assert.deepEqual(
    releases.map(({ key, pubId, earningsMicros, isWhole }) => [
      key,
      pubId,
      earningsMicros,
      isWhole,
    ]),
    [
      ['a', 2, 75, true],
      ['b', 1, 37, false],
    ],
  )
  assert.deepEqual(
    open.map(({ debt: { key }, owedMicros }) => [key, owedMicros]),
    [
      ['b', 50],
      ['c', 100],
    ],
  )
  assert.equal(creditMicros, 0)
})

test('the debt is exactly the amount that was not reversed in time', () => {
  const debts = [debt('a', 10, 100, 75), debt('b', 20, 40, 30), debt('b back', 30, -40, -30)]
  const { open } = matchDebts(debts, [payment('p1', 40, 99)])
  assert.deepEqual(
    open.map(({ debt: { key }, owedMicros }) => [key, owedMicros]),
    [['a', 1]],
  )
})

test('an early payment waits for debts and releases them when they fall due', () => {
  const { releases, creditMicros } = matchDebts([debt('a', 50, 100, 75)], [payment('p1', 10, 160)])
  assert.equal(releases[0]?.atMs, 50)
  assert.equal(creditMicros, 60)
})

test("a reversal lowers the publisher's earnings and pays for another debt", () => {
  const debts = [debt('a', 10, 100, 75), debt('a back', 30, -40, -30), debt('b', 20, 40, 30, 2)]
  const { releases, open, creditMicros } = matchDebts(debts, [payment('p1', 15, 100)])
  assert.deepEqual(
    releases.map(({ key, paymentId, earningsMicros }) => [key, paymentId, earningsMicros]),
    [
      ['a', 'p1', 75],
      ['a back', null, -30],
      ['b', null, 30],
    ],
  )
  assert.deepEqual(open, [])
  assert.equal(creditMicros, 0)
})

test('the reversal of an unpaid debt pays no other debt', () => {
  const debts = [
    debt('a', 10, 100, 75, 1),
    debt('b', 10, 100, 75, 2),
    debt('b back', 30, -60, -45, 2),
  ]
  const releasesOf = (payments: readonly Payment[]) => {
    const { releases, open, creditMicros } = matchDebts(debts, payments)
    return {
      releases: releases.map(({ key, atMs, earningsMicros }) => [key, atMs, earningsMicros]),
      owed: open.map(({ debt: { key }, owedMicros }) => [key, owedMicros]),
      creditMicros,
    }
  }
  const closed = ['b', 30, 45]
  const back = ['b back', 30, -45]
  assert.deepEqual(releasesOf([]), {
    releases: [closed, back],
    owed: [
      ['a', 100],
      ['b', 40],
    ],
    creditMicros: 0,
  })
  assert.deepEqual(releasesOf([payment('p1', 40, 140)]), {
    releases: [closed, back, ['a', 40, 75], ['b', 40, 30]],
    owed: [],
    creditMicros: 0,
  })
  // The merchant gets back what money had covered by then.
  assert.deepEqual(releasesOf([payment('p1', 20, 170)]), {
    releases: [['a', 20, 75], ['b', 20, 52], ['b', 30, 23], back],
    owed: [],
    creditMicros: 30,
  })
})

test('a reversed payment is owed after everything due then, and reverses no release', () => {
  const back = debt('payment:p1', 20, 100, 0, 0)
  const debts = [debt('a', 10, 60, 45), debt('b', 15, 60, 45), debt('c', 30, 50, 40)]
  const first = matchDebts(debts.slice(0, 2), [payment('p1', 12, 100)])
  const later = (payments: readonly Payment[]) =>
    matchDebts([...debts, back], [payment('p1', 12, 100), ...payments])
  const amountsOf = ({ releases }: ReturnType<typeof matchDebts>) =>
    releases.flatMap(({ key, pubId, earningsMicros }) =>
      pubId === 0 ? [] : [[key, earningsMicros]],
    )
  assert.deepEqual(amountsOf(first), [
    ['a', 45],
    ['b', 30],
  ])
  assert.deepEqual(amountsOf(later([])), amountsOf(first))
  const owed = later([]).open.reduce((sum, { owedMicros }) => sum + owedMicros, 0)
  assert.equal(owed, 170, 'all of it')
  // The next payment covers the rest of b, then the reversed payment, and only then c.
  assert.deepEqual(amountsOf(later([payment('p2', 40, 120)])), [...amountsOf(first), ['b', 15]])
  assert.deepEqual(amountsOf(later([payment('p2', 40, 170)])), [
    ...amountsOf(first),
    ['b', 15],
    ['c', 40],
  ])
})

test('earnings that cost nothing are released once everything older is covered', () => {
  const gift = debt('a gift', 10, 0, 5)
  const debts = [gift, debt('line', 10, 100, 70), debt('z', 20, 0, -3)]
  const releasesOf = (payments: readonly Payment[]) =>
    matchDebts(debts, payments).releases.map(
      ({ key, atMs, paymentId, earningsMicros, isWhole }) => [
        key,
        atMs,
        paymentId,
        earningsMicros,
        isWhole,
      ],
    )
  assert.deepEqual(releasesOf([payment('p1', 15, 60)]), [
    ['line', 15, 'p1', 42, false],
    ['z', 20, null, -3, true],
  ])
  assert.deepEqual(releasesOf([payment('p1', 15, 60), payment('p2', 30, 50)]), [
    ['line', 15, 'p1', 42, false],
    ['z', 20, null, -3, true],
    ['a gift', 30, 'p2', 5, true],
    ['line', 30, 'p2', 28, true],
  ])
  assert.deepEqual(
    matchDebts([gift], []).releases.map(({ atMs, earningsMicros }) => [atMs, earningsMicros]),
    [[10, 5]],
    'nothing stands before it',
  )
})

test('debts and payments of the same time are ordered by name', () => {
  const debts = [debt('b', 10, 100, 75), debt('c', 10, 100, 75), debt('a', 10, 100, 75)]
  const payments = [payment('p2', 10, 100), payment('p3', 10, 100), payment('p1', 10, 100)]
  for (const [some, paid] of [
    [debts, payments],
    [debts.toReversed(), payments.toReversed()],
  ] as const) {
    const { releases } = matchDebts(some, paid)
    assert.deepEqual(
      releases.map(({ key, paymentId, isWhole }) => [key, paymentId, isWhole]),
      [
        ['a', 'p1', true],
        ['b', 'p2', true],
        ['c', 'p3', true],
      ],
    )
  }
})

const debtsArbitrary = fc.array(
  fc
    .tuple(
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: -1000, max: 3000 }),
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 1, max: 3 }),
    )
    .map(([dueAtMs, cost, share, pubId]) => ({ dueAtMs, cost, share, pubId })),
  { maxLength: 12 },
)
const paymentsArbitrary = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 4000 })),
  { maxLength: 6 },
)

/** Debts below this cost nothing and consist of earnings only. */
const FREE_UNDER = 300

function world(
  debts: readonly { dueAtMs: number; cost: number; share: number; pubId: number }[],
  payments: readonly (readonly [number, number])[],
) {
  return {
    debts: debts.map(({ dueAtMs, cost, share, pubId }, index) => {
      const key = cost < 0 ? `d${dueAtMs % debts.length} d${index}` : `d${index}`
      return Math.abs(cost) < FREE_UNDER
        ? debt(key, dueAtMs, 0, cost, pubId)
        : debt(key, dueAtMs, cost, Math.trunc((cost * share) / 100) || 0, pubId)
    }),
    payments: payments.map(([atMs, amount], index) => payment(`p${index}`, atMs, amount)),
  }
}

test("no dollar is released twice, and each debt's unreleased earnings are listed", () => {
  fc.assert(
    fc.property(debtsArbitrary, paymentsArbitrary, (someDebts, somePayments) => {
      const { debts, payments } = world(someDebts, somePayments)
      const { releases, open, creditMicros } = matchDebts(debts, payments)
      const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + amount, 0)

      const costs = sum(debts.map((item) => item.costMicros))
      const paid = sum(payments.map((item) => item.amountMicros))
      assert.equal(sum(open.map((item) => item.owedMicros)) - creditMicros, costs - paid)

      const unreleased = new Map(open.map((item) => [item.debt.key, item.unreleasedMicros]))
      for (const { key, earningsMicros } of debts) {
        const released = sum(
          releases.filter((item) => item.key === key).map((item) => item.earningsMicros),
        )
        assert.equal(released + (unreleased.get(key) ?? 0), earningsMicros)
      }
    }),
  )
})

test('nothing is reversed from a publisher that was not released to it before', () => {
  const quarters = fc.integer({ min: 1, max: 4 })
  const ageMs = fc.integer({ min: 0, max: 30 })
  const bought = fc.record({
    atMs: ageMs,
    quarters,
    back: fc.array(fc.record({ afterMs: ageMs, quarters }), { maxLength: 3 }),
  })
  const history = fc.array(bought, { maxLength: 8 })
  fc.assert(
    fc.property(history, paymentsArbitrary, (purchases, somePayments) => {
      const debts = purchases.flatMap(({ atMs, quarters, back }, index) => {
        const own = debt(`d${index}`, atMs, 400 * quarters, 300 * quarters)
        let rest = quarters
        const parts = back.map(({ afterMs, quarters: wanted }, at) => {
          const part = Math.min(rest, wanted)
          rest -= part
          return debt(`d${index} r${at}`, atMs + afterMs, -400 * part, -300 * part)
        })
        return [own, ...parts.filter(({ costMicros }) => costMicros < 0)]
      })
      const { payments } = world([], somePayments)
      const earned = new Map<string, number>()
      for (const { key, earningsMicros } of matchDebts(debts, payments).releases) {
        const own = ownKeyOf(key)
        const sum = (earned.get(own) ?? 0) + earningsMicros
        assert.ok(sum >= 0, `${key}: ${sum}`)
        earned.set(own, sum)
      }
      if (payments.length === 0) assert.ok([...earned.values()].every((sum) => sum === 0))
    }),
  )
})

test('releases by a time do not change with later events', () => {
  fc.assert(
    fc.property(
      debtsArbitrary,
      paymentsArbitrary,
      fc.integer({ min: 0, max: 60 }),
      (someDebts, somePayments, untilMs) => {
        const { debts, payments } = world(someDebts, somePayments)
        const then = matchDebts(
          debts.filter((item) => item.dueAtMs <= untilMs),
          payments.filter((item) => item.atMs <= untilMs),
        )
        const all = matchDebts(debts, payments)
        const isBefore = ({ atMs }: { readonly atMs: number }) => atMs <= untilMs
        assert.deepEqual(all.releases.filter(isBefore), then.releases.filter(isBefore))
      },
    ),
  )
})
