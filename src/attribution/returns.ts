/**
 * What goods sent back take away (economics 4, Returns).
 *
 * Cumulative rounding: what is gone after k of q units is rounded once, and a return's row is the
 * difference between after and before. So any way of splitting a full return nets to exactly
 * nothing, and no rounding error is ever paid out.
 */
import { type Micros, micros } from '../platform/money.ts'
import { divideHalfEven } from '../platform/round.ts'
import { unitOf } from './allocate.ts'

/** What is taken back of a line worth `total` after `returned` of its `quantity` units. */
export function takenBack(
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

/** The (positive) amount of one return: of units `before` + 1 to `before` + `count`. */
export function returnAmount(
  total: Micros,
  units: { readonly before: number; readonly count: number; readonly quantity: number },
): Micros {
  const { before, count, quantity } = units
  const after = takenBack(total, { returned: before + count, quantity })
  return micros(after - takenBack(total, { returned: before, quantity }))
}

/** A line as a return sees it. */
export interface ReturnableLine {
  readonly line: number // its place in the order, from 0
  readonly productId: string | null
  readonly quantity: number
  readonly returned: number
}

export type ReturnRefusal = 'unknown_line' | 'over_quantity'

/**
 * Spreads returned units over the lines they can mean: the named line, or the lines of the named
 * product in their order. Refuses, whole, what is more than was bought and is still out there.
 */
export function placeReturn(
  lines: readonly ReturnableLine[],
  goods: {
    readonly line: number | null
    readonly productId: string | null
    readonly quantity: number
  },
): { readonly line: number; readonly count: number }[] | ReturnRefusal {
  const meant = lines.filter(
    (line) =>
      (goods.line === null || line.line === goods.line) &&
      (goods.productId === null || line.productId === goods.productId),
  )
  if (meant.length === 0) return 'unknown_line'
  let left = goods.quantity
  const placed: { line: number; count: number }[] = []
  for (const { line, quantity, returned } of meant) {
    const count = Math.min(left, quantity - returned)
    if (count > 0) placed.push({ line, count })
    left -= count
  }
  return left > 0 ? 'over_quantity' : placed
}
