import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { micros } from '../platform/money/money.ts'
import {
  changeEntry,
  clickEntry,
  type LedgerEntry,
  orderEntry,
  paymentEntry,
  reversalEntry,
} from './entries.ts'

const cause = { id: '7', day: '2026-03-02', atMs: 1_772_409_600_000 }
const parties = { merchId: 3, pubId: 5, articleId: 9 }

const amountsArbitrary = fc
  .tuple(fc.integer({ min: 1, max: 2 ** 45 }), fc.integer({ min: 0, max: 1_000_000 }))
  .map(([total, sharePpm]) => ({
    merchantCostMicros: micros(total),
    publisherEarningsMicros: micros(Number((BigInt(total) * BigInt(sharePpm)) / 1_000_000n)),
  }))

function sum(entry: LedgerEntry | null): number {
  return (entry?.lines ?? []).reduce((total, line) => total + line.amountMicros, 0)
}

function held(entries: readonly (LedgerEntry | null)[]): Map<string, number> {
  const balances = new Map<string, number>()
  for (const line of entries.flatMap((entry) => entry?.lines ?? [])) {
    const holder = `${line.account} ${line.merchId} ${line.pubId} ${line.articleId}`
    balances.set(holder, (balances.get(holder) ?? 0) + line.amountMicros)
  }
  return new Map([...balances].filter(([, balance]) => balance !== 0))
}

test('the click of the worked example pays the publisher the floor of its share', () => {
  const entry = clickEntry(cause, parties, {
    clickIdHex: 'ab',
    merchantCostMicros: micros(542_235),
    sharePpm: 750_000,
  })

  assert.deepEqual(
    entry.lines.map((line) => [line.account, line.amountMicros]),
    [
      ['merchant', -542_235],
      ['publisher', 406_676],
      ['platform', 135_559],
    ],
  )
})

test('a click without a price throws and creates no entry', () => {
  const free = { clickIdHex: 'ab', merchantCostMicros: micros(0), sharePpm: 750_000 }
  assert.throws(() => clickEntry(cause, parties, free), /makes no entry/)
})

test('unbalanced lines create no entry, in either direction', () => {
  for (const amount of [1, -1]) {
    const line = { account: 'bank', ...parties, amountMicros: micros(amount) } as const
    const original = { idempotencyKey: 'click:ab', clickDay: null, lines: [line] }
    assert.throws(() => reversalEntry(cause, original), /click:ab: lines sum to/)
  }
})

test('every entry sums to zero, whatever its amounts (P23)', () => {
  fc.assert(
    fc.property(amountsArbitrary, fc.integer({ min: 0, max: 1_000_000 }), (amounts, sharePpm) => {
      const price = { clickIdHex: 'ab', merchantCostMicros: amounts.merchantCostMicros, sharePpm }
      const order = { orderId: 'x', amounts }
      assert.equal(sum(clickEntry(cause, parties, price)), 0)
      assert.equal(sum(orderEntry(cause, parties, order)), 0)
      const payment = { merchId: 3, reference: 'r', amountMicros: amounts.merchantCostMicros }
      assert.equal(sum(paymentEntry(cause, payment)), 0)
    }),
  )
})

test('a reversal restores every balance, and a second one has the same key (P23)', () => {
  fc.assert(
    fc.property(amountsArbitrary, (amounts) => {
      const order = orderEntry(cause, parties, { orderId: 'x', amounts })
      assert.ok(order)
      const reversal = reversalEntry({ ...cause, id: '8' }, order)
      const again = reversalEntry({ ...cause, id: '9' }, order)

      assert.equal(held([order, reversal]).size, 0)
      assert.equal(reversal.idempotencyKey, again.idempotencyKey)
      assert.equal(reversal.corrects, order.idempotencyKey)
    }),
  )
})

test('an order and its revision together equal the revised order', () => {
  const partiesArbitrary = fc.record({
    merchId: fc.constant(3),
    pubId: fc.integer({ min: 1, max: 2 }),
    articleId: fc.integer({ min: 1, max: 2 }),
  })
  const sideArbitrary = fc.record({ parties: partiesArbitrary, amounts: amountsArbitrary })
  fc.assert(
    fc.property(sideArbitrary, sideArbitrary, (before, after) => {
      const first = orderEntry(cause, before.parties, { orderId: 'x', amounts: before.amounts })
      const change = changeEntry(cause, { kind: 'revision', orderId: 'x', before, after })
      const alone = orderEntry(cause, after.parties, { orderId: 'x', amounts: after.amounts })
      assert.deepEqual(held([first, change]), held([alone]))
    }),
  )
})

test('a revision that moves nothing and an order without earnings create no entry', () => {
  const amounts = { merchantCostMicros: micros(100), publisherEarningsMicros: micros(75) }
  const side = { parties, amounts }
  const change = { kind: 'return', orderId: 'x', before: side, after: side } as const
  assert.equal(changeEntry(cause, change), null)
  const nothing = { merchantCostMicros: micros(0), publisherEarningsMicros: micros(0) }
  assert.equal(orderEntry(cause, parties, { orderId: 'x', amounts: nothing }), null)
})
