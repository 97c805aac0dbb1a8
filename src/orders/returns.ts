/**
 * Computes the effect of returned goods and refunds (docs/spec/orders-and-money.md#returns).
 *
 * Cumulative rounding: the part gone after k of q units is rounded once, and a return's row is the
 * difference between after and before. So every way of splitting a full return nets to exactly
 * nothing, and no rounding error is ever paid out.
 */
import { type Micros, micros } from '../platform/money/money.ts'
import { divideHalfEven } from '../platform/money/round.ts'
import { allocateUnits, unitOf } from './allocate.ts'

/** The part of a line worth `total` that is gone after `returned` of its `quantity` units. */
export function returnedPart(
  total: Micros,
  units: { readonly returned: number; readonly quantity: number },
): Micros {
  const { returned, quantity } = units
  if (returned < 0 || returned > quantity) {
    throw new RangeError(`${returned} of ${quantity} units cannot be returned`)
  }
  const unit = unitOf(BigInt(total))
  const gone = divideHalfEven((BigInt(total) / unit) * BigInt(returned), BigInt(quantity))
  return micros(Number(gone * unit))
}

/** How much of a line is gone: returned units, and refunded amounts beyond those. */
export interface LineBack {
  readonly quantity: number
  readonly returned: number // units
  readonly valueMinor: bigint // what the line sold for, in minor units of the order's currency
  readonly refundedMinor: bigint // by amount
}

/** The value of the returned units, half rounded down so that `unitsLeft` inverts it. */
function unitsMinor({ quantity, returned, valueMinor }: LineBack): bigint {
  const [units, bought] = [BigInt(returned), BigInt(quantity)]
  return (2n * valueMinor * units + bought - 1n) / (2n * bought)
}

/** How much of a line's value is gone, in minor units. */
export function goneMinor(line: LineBack): bigint {
  return unitsMinor(line) + line.refundedMinor
}

/** How many more units may be returned: refunds have used up the value of some. */
function unitsLeft({ quantity, returned, valueMinor, refundedMinor }: LineBack): number {
  if (refundedMinor === 0n) return quantity - returned
  const keptMinor = valueMinor - refundedMinor
  const units = ((2n * keptMinor + 1n) * BigInt(quantity)) / (2n * valueMinor)
  return Math.max(0, Math.min(quantity, Number(units)) - returned)
}

/**
 * The part of `total` (a line's revenue, commission, or publisher's share) that is gone. Rounded on
 * the running total, and all of it once all is gone.
 */
export function goneOf(total: Micros, line: LineBack): Micros {
  const { quantity, returned, valueMinor, refundedMinor } = line
  const ofUnits = returnedPart(total, { returned, quantity })
  if (refundedMinor === 0n) return ofUnits
  if (goneMinor(line) >= valueMinor) return total
  const ofAmounts = divideHalfEven(BigInt(total) * refundedMinor, valueMinor)
  return micros(Math.min(total, ofUnits + Number(ofAmounts)))
}

/** A line as a return sees it. */
export interface ReturnableLine extends LineBack {
  readonly line: number // its index in the order, from 0
  readonly productId: string | null
}

/** Why a return has no effect (docs/spec/orders-and-money.md#returns). */
export type ReturnRefusal = 'unknown_line' | 'over_quantity' | 'over_amount' | 'other_currency'

/** The content of a return: units of goods, or an amount (then `quantity` is 0). */
export interface ReturnedGoods {
  readonly line: number | null
  readonly productId: string | null
  readonly quantity: number
  readonly amountMinor: bigint
}

/** A return's part on one line: units or an amount. */
export interface PlacedReturn {
  readonly line: number
  readonly count: number
  readonly amountMinor: bigint
}

/**
 * Spreads a return over lines: the named line, the lines of the named product in order, or, for an
 * amount that names neither, all lines by their remaining value. Refuses a return of more than is
 * left as a whole.
 */
export function placeReturn(
  lines: readonly ReturnableLine[],
  goods: ReturnedGoods,
): PlacedReturn[] | ReturnRefusal {
  const isMeant = ({ line, productId }: ReturnableLine) =>
    (goods.line === null || goods.line === line) &&
    (goods.productId === null || goods.productId === productId)
  const meant = lines.filter(isMeant)
  if (meant.length === 0) return 'unknown_line'
  return goods.amountMinor === 0n ? placeUnits(meant, goods) : placeAmount(meant, goods)
}

function placeUnits(
  meant: readonly ReturnableLine[],
  goods: ReturnedGoods,
): PlacedReturn[] | ReturnRefusal {
  let left = goods.quantity
  const placed: PlacedReturn[] = []
  for (const line of meant) {
    const count = Math.min(left, unitsLeft(line))
    if (count > 0) placed.push({ line: line.line, count, amountMinor: 0n })
    left -= count
  }
  if (left === 0) return placed
  const isStillOut = meant.reduce((sum, line) => sum + line.quantity - line.returned, 0)
  return goods.quantity > isStillOut ? 'over_quantity' : 'over_amount'
}

function placeAmount(
  meant: readonly ReturnableLine[],
  goods: ReturnedGoods,
): PlacedReturn[] | ReturnRefusal {
  const leftOf = meant.map((line) => line.valueMinor - goneMinor(line))
  if (goods.amountMinor > leftOf.reduce((sum, left) => sum + left, 0n)) return 'over_amount'
  const isWhole = goods.line === null && goods.productId === null
  const parts = isWhole
    ? allocateUnits(goods.amountMinor, leftOf)
    : fillInOrder(goods.amountMinor, leftOf)
  return meant.flatMap(({ line }, index) => {
    const amountMinor = parts[index] ?? 0n
    return amountMinor === 0n ? [] : { line, count: 0, amountMinor }
  })
}

function fillInOrder(amount: bigint, leftOf: readonly bigint[]): bigint[] {
  let rest = amount
  return leftOf.map((left) => {
    // biome-ignore lint/complexity/useMathMinMax: Math.min refuses bigints
    const part = rest < left ? rest : left
    rest -= part
    return part
  })
}
