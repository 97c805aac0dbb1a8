/**
 * When should a campaign that pays per order stop, so that its budget lasts for the orders still to
 * come?
 *
 * CPA and EPP owe at the order, days after the click, so no lease can hold them to a cap. They stop
 * winning when what was paid and what the open clicks will probably bring reach the budget; orders
 * that come afterwards are paid all the same, and what they exceed it by is shown as such
 * (economics 2.3).
 */

/** One budget of one campaign that pays per order. */
export interface OpenBudget {
  readonly campaignId: number
  readonly capMicros: number
  readonly settledMicros: number
}

/** Clicks of a campaign at one publisher, each counting as much as its order is still to come. */
export interface OpenClicks {
  readonly campaignId: number
  readonly clicks: number // Σ exp(-age/τ), that is 1 - G(age)
  readonly orderRate: number // θ of the pair
  readonly perOrderMicros: number // what the merchant owes for one
}

/** Names the campaigns of which a budget is as good as used up. */
export function findOverCap(
  budgets: readonly OpenBudget[],
  openClicks: readonly OpenClicks[],
): Set<number> {
  const expected = new Map<number, number>()
  for (const { campaignId, clicks, orderRate, perOrderMicros } of openClicks) {
    const micros = clicks * orderRate * perOrderMicros
    expected.set(campaignId, (expected.get(campaignId) ?? 0) + micros)
  }
  return new Set(
    budgets
      .filter(({ campaignId, capMicros, settledMicros }) => {
        return settledMicros + (expected.get(campaignId) ?? 0) >= capMicros
      })
      .map(({ campaignId }) => campaignId),
  )
}
