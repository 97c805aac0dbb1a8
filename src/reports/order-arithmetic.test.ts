/** Recomputes an order from the API reference's rules, sharing nothing with the fold. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import {
  accountOf,
  attribution,
  goodsBack,
  line,
  report,
} from '../../test/support/order-account.ts'
import { MODEL } from '../events/event.ts'
import { unpackTerms } from '../events/pay-terms.ts'
import { orderFigures } from '../orders/order-figures.ts'

const MILLION = 1_000_000n
const unitOf = (amount: bigint): bigint => (amount % 10_000n === 0n ? 10_000n : 1n)
const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, one) => sum + one, 0n)

function halfToEven(above: bigint, below: bigint): bigint {
  const down = above / below
  const rest = 2n * (above % below)
  return rest > below || (rest === below && down % 2n === 1n) ? down + 1n : down
}

function divided(amount: bigint, weights: readonly bigint[]): bigint[] {
  const all = sumOf(weights)
  if (all === 0n) return divided(amount, Array(weights.length).fill(1n))
  const units = amount / unitOf(amount)
  const parts = weights.map((weight) => (units * weight) / all)
  const lost = weights.map((weight, at) => ({ at, rest: (units * weight) % all }))
  lost.sort((a, b) => Number(b.rest - a.rest) || a.at - b.at)
  const lucky = lost.slice(0, Number(units - sumOf(parts))).map(({ at }) => at)
  return parts.map((part, at) => (part + (lucky.includes(at) ? 1n : 0n)) * unitOf(amount))
}

/** The reversed part of a line's amount after `back` returned units. */
function returnedPart(amount: bigint, back: number, quantity: number): bigint {
  const unit = unitOf(amount)
  return halfToEven((amount / unit) * BigInt(back), BigInt(quantity)) * unit
}

const orders = fc.record({
  sold: fc.array(
    fc.record({
      cents: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 50_000 })),
      quantity: fc.integer({ min: 1, max: 5 }),
      back: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  revenue: fc.oneof(
    fc.bigInt(0n, 10n ** 10n),
    fc.bigInt(0n, 10n ** 6n).map((n) => n * 10_000n),
  ),
  model: fc.constantFrom(MODEL.cpa, MODEL.epp, MODEL.cpc),
  price: fc.bigInt(0n, MILLION),
  share: fc.bigInt(0n, MILLION),
})

test("an order's amounts, lines and returns follow the rules of the reference", () => {
  fc.assert(
    fc.property(orders, ({ sold, revenue, model, price, share }) => {
      const lines = sold.map(({ cents, quantity }, at) => line(`P${at}`, cents, quantity))
      const terms = unpackTerms({ model, amount: Number(price) })
      const owner = { terms, sharePpm: Number(share) }
      const figures = orderFigures(
        accountOf([
          {
            report: report({ lines, value_micros: Number(revenue) }),
            attribution: attribution(owner),
          },
          ...sold.flatMap(({ back }, at) =>
            back.map((quantity, nth) => {
              const id = `${10 + 2 * at + nth}`
              const goods = { return_id: id, event_id: id, product_id: `P${at}`, quantity }
              return { back: goodsBack(goods) }
            }),
          ),
        ]),
      )
      const perOrder = model === MODEL.epp ? price : 0n
      const owed = model === MODEL.cpa ? halfToEven(revenue * price, MILLION) : perOrder
      const weights = sold.map(({ cents, quantity }) => BigInt(cents * quantity))
      const [revenues, commissions, earnings] = [revenue, owed, (owed * share) / MILLION].map(
        (amount) => divided(amount, weights),
      )
      for (const [at, found] of figures.lines.entries()) {
        const { revenueMicros, commissionMicros, earningsMicros, returned } = found
        const parts = [revenues?.[at] ?? 0n, commissions?.[at] ?? 0n, earnings?.[at] ?? 0n]
        assert.deepEqual([revenueMicros, commissionMicros, earningsMicros].map(BigInt), parts)
        const own = figures.returns.filter((one) => one.line === at)
        const back = [
          sumOf(own.map((one) => BigInt(one.revenueMicros))),
          sumOf(own.map((one) => BigInt(one.commissionMicros))),
          sumOf(own.map((one) => BigInt(one.earningsMicros))),
        ]
        const gone = parts.map((part) => returnedPart(part, returned, sold[at]?.quantity ?? 0))
        assert.deepEqual(back, model === MODEL.epp ? [gone[0], 0n, 0n] : gone)
      }
    }),
  )
})
