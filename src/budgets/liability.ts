/**
 * Decides when a campaign that pays per order stops, so that its budget lasts for the orders still
 * to come.
 *
 * CPA and EPP owe at the order, days after the click, so a lease cannot enforce their caps. They
 * stop winning when the paid amount plus the expected cost of open clicks reaches the budget. Later
 * orders are paid all the same, and the excess is reported (docs/spec/budgets.md#open-clicks).
 */
import { DAY_MS } from '../platform/time/timestamp.ts'

/** One budget of one campaign that pays per order. */
export interface OpenBudget {
  readonly campaignId: number
  readonly isDaily: boolean // today's; else of the campaign's life
  readonly capMicros: number
  readonly settledMicros: number
}

/** Clicks of a campaign at one publisher, each weighted by the part of its order still to come. */
export interface OpenClicks {
  readonly campaignId: number
  readonly clicks: number // Σ of the part of each click whose order is still to come
  readonly orderRate: number // θ of the pair
  readonly perOrderMicros: number // the merchant's cost of one order
  readonly delayMs: number // mean delay of these: one part of the merchant's delay curve
}

/**
 * Names the campaigns with a budget that is used up.
 *
 * An order is paid from the budget of its own day. So each day must cover the orders expected on
 * it, not all that are still to come; otherwise a budget would be used to a third where orders take
 * three days. Tomorrow is checked too, or the clicks of an evening would use it up.
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

/** The expected cost of orders between two times from now. */
function expected(openClicks: readonly OpenClicks[], fromMs: number, toMs: number): number {
  return openClicks.reduce((sum, { clicks, orderRate, perOrderMicros, delayMs }) => {
    const part = Math.exp(-fromMs / delayMs) - Math.exp(-toMs / delayMs)
    return sum + clicks * part * orderRate * perOrderMicros
  }, 0)
}
