/**
 * Divides an order's money over its lines without losing anything.
 *
 * Largest remainder method: every line gets its proportional part rounded down. The remaining units
 * go one each to the lines that lost most by rounding, the lower line first on a tie. An amount of
 * whole cents is divided in whole cents, because statements and other systems show cents. An amount
 * with finer parts (a converted currency, a share of a commission) is divided in micro-dollars.
 */
import { type Micros, micros } from '../platform/money/money.ts'

const CENT_MICROS = 10_000n

/** The unit for dividing and rounding an amount: a cent if the amount has no finer part. */
export function unitOf(amount: bigint): bigint {
  return amount % CENT_MICROS === 0n ? CENT_MICROS : 1n
}

/**
 * One part per weight, adding up to exactly `total` (at least 0).
 *
 * Weights are whole numbers of any one unit, at least 0: a line's price times its quantity. If all
 * are 0, the lines count equally, because the money must be assigned somewhere.
 */
export function allocate(total: Micros, weights: readonly bigint[]): Micros[] {
  const unit = unitOf(BigInt(total))
  const parts = allocateUnits(BigInt(total) / unit, weights)
  return parts.map((part) => micros(Number(part * unit)))
}

/** The same for whole units of anything, such as minor units of an order's currency. */
export function allocateUnits(units: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.length === 0) throw new RangeError('an order has at least one line')
  if (units < 0n) throw new RangeError(`an order's money is not negative: ${units}`)
  const counted = weights.some((weight) => weight > 0n) ? weights : weights.map(() => 1n)
  const weightSum = counted.reduce((sum, weight) => sum + weight, 0n)
  const parts = counted.map((weight) => (units * weight) / weightSum)
  const lost = counted.map((weight) => (units * weight) % weightSum)
  const left = Number(units - parts.reduce((sum, part) => sum + part, 0n))
  const ranked = [...lost.keys()].sort((a, b) => compare(lost[b], lost[a]) || a - b)
  for (const line of ranked.slice(0, left)) parts[line] = (parts[line] ?? 0n) + 1n
  return parts
}

function compare(a = 0n, b = 0n): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
