/**
 * When should a campaign that pays per order stop, so that its budget lasts for the orders still to
 * come?
 *
 * CPA and EPP owe at the order, days after the click, so no lease can hold them to a cap. They stop
 * winning when what was paid and what the open clicks will probably bring reach the budget; orders
 * that come afterwards are paid all the same, and what they exceed it by is shown as such
 * (economics 2.3).
 */
import { DAY_MS } from '../platform/time/timestamp.ts'

/** One budget of one campaign that pays per order. */
export interface OpenBudget {
  readonly campaignId: number
  readonly isDaily: boolean // of today; else of the campaign's life
  readonly capMicros: number
  readonly settledMicros: number
}

/** Clicks of a campaign at one publisher, each counting as much as its order is still to come. */
export interface OpenClicks {
  readonly campaignId: number
  readonly clicks: number // Σ of the part of each click whose order is still to come
  readonly orderRate: number // θ of the pair
  readonly perOrderMicros: number // what the merchant owes for one
  readonly delayMs: number // mean wait of these: one part of the merchant's delay curve
}

/**
 * Names the campaigns of which a budget is as good as used up.
 *
 * An order is paid from the budget of its own day. Our choice, where economics 2.3 says nothing of
 * days: each has to bear the orders that are expected on it, not all that are still to come, or it
 * would be used to a third where those take three days. Tomorrow's is looked at as well, or the
 * clicks of an evening would use it up.
 */
export function findOverCap(
  budgets: readonly OpenBudget[],
  openClicks: readonly OpenClicks[],
  untilMidnightMs: number,
): Set<number> {
  const clicksOf = Map.groupBy(openClicks, ({ campaignId }) => campaignId)
  const isOver = ({ campaignId, isDaily, capMicros, settledMicros }: OpenBudget): boolean => {
    const clicks = clicksOf.get(campaignId) ?? []
    if (!isDaily) return settledMicros + expected(clicks, 0, Number.POSITIVE_INFINITY) >= capMicros
    const today = settledMicros + expected(clicks, 0, untilMidnightMs)
    const tomorrow = expected(clicks, untilMidnightMs, untilMidnightMs + DAY_MS)
    return Math.max(today, tomorrow) >= capMicros
  }
  return new Set(budgets.filter(isOver).map(({ campaignId }) => campaignId))
}

/** What the orders that come between two times from now will cost. */
function expected(openClicks: readonly OpenClicks[], fromMs: number, toMs: number): number {
  return openClicks.reduce((sum, { clicks, orderRate, perOrderMicros, delayMs }) => {
    const part = Math.exp(-fromMs / delayMs) - Math.exp(-toMs / delayMs)
    return sum + clicks * part * orderRate * perOrderMicros
  }, 0)
}
