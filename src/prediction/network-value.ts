/** What an order of the network is worth: of those that have shown few orders themselves. */
import { UNFITTED_VALUE, type ValueCounts } from './predict.ts'
import { turningPoint } from './turning-point.ts'

/** Orders of a merchant that say half as much of others as any number does: goods differ more. */
const HALF_ORDERS = 1
/** How far from the mean a merchant's own counts, as a factor of e. */
const AWAY_MAX = 1
/** ln of the least and the largest amount of micros that there is. */
const LOG_VALUES = { least: 0, most: Math.log(Number.MAX_SAFE_INTEGER) }

/**
 * The ln(value) around which the merchants' means lie, and what is usual as if it were one more. A
 * mean over all orders was that of whoever told the most: 200 of $5,000, made up by any browser,
 * had an order at each of four merchants that sell for $60 count as $1,113.
 */
export function networkLogMean(
  merchants: readonly Pick<ValueCounts, 'orders' | 'logValue'>[],
): number {
  const shown = merchants.filter(({ orders }) => orders > 0)
  return turningPoint(LOG_VALUES, (mean) => {
    const away = shown.reduce((sum, { orders, logValue }) => {
      const far = Math.min(AWAY_MAX, Math.max(-AWAY_MAX, logValue / orders - mean))
      return sum + (orders / (orders + HALF_ORDERS)) * far
    }, 0)
    return away > mean - UNFITTED_VALUE.globalLogMean
  })
}
