import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { micros } from '../platform/money/money.ts'
import {
  addReport,
  addReturn,
  EMPTY_ACCOUNT,
  type OrderAccount,
  type Owner,
  type ReportedReturn,
} from './order-account.ts'
import { orderFigures, type Totals } from './order-figures.ts'
import type { OrderReport, ReportedLine } from './order-merge.ts'

const NOW_MS = Date.UTC(2026, 2, 2, 12)

function line(cents: number, quantity: number): ReportedLine {
  const price_minor = `${cents}`
  return { product_id: null, name: null, brand: null, price: null, price_minor, quantity }
}

/** The lines of an order of so many micros, with this owner's share. */
function linesOf(
  order: { value_micros: number; lines: readonly ReportedLine[] },
  terms: Pick<Owner, 'terms' | 'sharePpm'>,
) {
  const click = { clickId: 'aa', clickAtMs: NOW_MS - 1000 }
  const owner = { ...click, pubId: 5, articleId: 9, campaignId: 1, ...terms }
  const report: OrderReport = {
    ...{ source: 's2s' as const, event_id: '1', updated_at_ms: NOW_MS, ordered_at_ms: NOW_MS },
    ...{ currency: 'USD', value: '0.00', rate_id: 'usd', is_new_customer: null },
    ...{ is_cancelled: false, hold: null, ...order },
  }
  const reported = { report, attribution: { model: 'exact', owner }, atMs: NOW_MS } as const
  return orderFigures(addReport(EMPTY_ACCOUNT, reported).account).lines
}

test('divides commission and earnings by price × quantity, not by rounded parts', () => {
  const lines = [line(6000, 1), line(1500, 2), line(1000, 1)]
  const epp = {
    terms: { model: 'epp', paymentMicros: micros(1_500_000) } as const,
    sharePpm: 600_000,
  }
  // A voucher covered all but five cents, or everything.
  for (const value_micros of [50_000, 0]) {
    const divided = linesOf({ value_micros, lines }, epp)
    assert.deepEqual(
      divided.map(({ commissionMicros }) => commissionMicros),
      [900_000, 450_000, 150_000],
    )
    assert.deepEqual(
      divided.map(({ earningsMicros }) => earningsMicros),
      [540_000, 270_000, 90_000],
    )
  }

  // 4.349995 over 23.00, 310.00 and 0.03: the revenue’s cents are 18.03, 242.95 and 0.02.
  const cpa = { terms: { model: 'cpa', ratePpm: 50_000 } as const, sharePpm: 333_333 }
  const basket = [line(1150, 2), line(15_500, 2), line(1, 3)]
  const divided = linesOf({ value_micros: 261_000_000, lines: basket }, cpa)
  assert.deepEqual(
    divided.map(({ earningsMicros }) => earningsMicros),
    [300_423, 4_049_180, 392],
  )
})

test('rounds a commission once to the micro-dollar, half to even, and the publisher’s share down', () => {
  const half = { terms: { model: 'cpa', ratePpm: 500_000 } as const, sharePpm: 500_000 }
  const lines = [1, 3, 4, 5].map((value_micros) => linesOf({ value_micros, lines: [] }, half))
  assert.deepEqual(
    lines.map(([line]) => [line?.commissionMicros, line?.earningsMicros]),
    [
      [0, 0],
      [2, 1],
      [2, 1],
      [2, 1],
    ],
  )
})

/** What remains of a CPA order at 10 %, in cents by line, after these returns. */
function leftAfter(
  cents: readonly number[],
  returns: readonly Partial<ReportedReturn>[],
): { net: Totals; refused: number } {
  const total = cents.reduce((sum, one) => sum + one, 0)
  const click = { clickId: 'aa', clickAtMs: NOW_MS - 1000, pubId: 5, articleId: 9, campaignId: 1 }
  const terms = { terms: { model: 'cpa', ratePpm: 100_000 } as const, sharePpm: 750_000 }
  const report: OrderReport = {
    ...{ source: 's2s' as const, event_id: '1', updated_at_ms: NOW_MS, ordered_at_ms: NOW_MS },
    ...{ currency: 'USD', value: (total / 100).toFixed(2), value_micros: total * 10_000 },
    ...{ rate_id: 'usd', is_new_customer: null, is_cancelled: false, hold: null },
    lines: cents.map((one) => line(one, 1)),
  }
  const reported = {
    report,
    attribution: { model: 'exact', owner: { ...click, ...terms } },
  } as const
  const order = addReport(EMPTY_ACCOUNT, { ...reported, atMs: NOW_MS }).account
  const account = returns.reduce<OrderAccount>(
    (before, back, index) =>
      addReturn(before, {
        ...{ return_id: `r${index}`, event_id: `${index + 2}`, accepted_at_ms: NOW_MS },
        ...{ line: null, product_id: null, quantity: 0, returned_at_ms: NOW_MS, ...back },
      }),
    order,
  )
  const { net, refused } = orderFigures(account)
  return { net, refused: refused.length }
}

const refundOf = (cents: number, line: number | null = null) => ({
  ...{ line, amount: (cents / 100).toFixed(2) },
})
const basketArbitrary = fc.array(fc.integer({ min: 1, max: 20_000 }), {
  minLength: 1,
  maxLength: 5,
})

test('refunds never exceed an order, and a refund of the rest leaves nothing', () => {
  const back = fc.oneof(
    fc.record({ cents: fc.integer({ min: 1, max: 30_000 }), line: fc.constantFrom(null, 0, 1) }),
    fc.record({ line: fc.constantFrom(0, 1, 2), quantity: fc.constant(1) }),
  )
  fc.assert(
    fc.property(basketArbitrary, fc.array(back, { maxLength: 12 }), (cents, asked) => {
      const returns = asked.map((one) => ('cents' in one ? refundOf(one.cents, one.line) : one))
      const { net } = leftAfter(cents, returns)
      for (const amount of [net.revenueMicros, net.commissionMicros, net.earningsMicros]) {
        assert.ok(amount >= 0, `${amount}`)
      }
      const rest = net.revenueMicros / 10_000
      assert.equal(
        leftAfter(cents, [...returns, refundOf(rest + 1)]).net.revenueMicros,
        rest * 10_000,
      )
      const whole = rest === 0 ? net : leftAfter(cents, [...returns, refundOf(rest)]).net
      assert.deepEqual(whole, {
        sales: 0,
        revenueMicros: 0,
        commissionMicros: 0,
        earningsMicros: 0,
      })
    }),
  )
})

test('splitting an amount does not change its effect, to the cent of each line’s commission', () => {
  const parts = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(basketArbitrary, parts, (cents, amounts) => {
      const sum = amounts.reduce((total, one) => total + one, 0)
      fc.pre(sum <= cents.reduce((total, one) => total + one, 0))
      const once = leftAfter(cents, [refundOf(sum)]).net
      const split = leftAfter(
        cents,
        amounts.map((one) => refundOf(one)),
      ).net
      assert.equal(split.revenueMicros, once.revenueMicros)
      const distance = Math.abs(split.commissionMicros - once.commissionMicros)
      assert.ok(distance <= 10_000 * cents.length, `${distance}`)
    }),
  )
})
