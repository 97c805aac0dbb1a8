/** Says what a click of a new campaign will cost: a bid of $0.60 may win at $0.01. */
import { formatExact, type Micros } from '../platform/money/money.ts'
import { PLATFORM_RESERVE } from './campaign.ts'

export function priceNote(
  pricing: 'second_price' | 'first_price',
  floors: readonly Micros[],
): string {
  if (pricing === 'first_price') {
    return "The market is a first-price auction: a click costs the campaign's bid."
  }
  const least = floors.map((floor) => Math.max(floor, PLATFORM_RESERVE))
  const [lowest, highest] = [Math.min(...least), Math.max(...least)]
  const floor =
    least.length === 0 || lowest === highest
      ? `$${formatExact(least.length === 0 ? PLATFORM_RESERVE : lowest)}`
      : `$${formatExact(lowest)} to $${formatExact(highest)}, depending on the publisher`
  return (
    'The market is a second-price auction: a click costs the price needed to win it, not the bid. ' +
    `Without a rival it costs the floor, which is ${floor}.`
  )
}
