/**
 * Which part of a commission is still owed in the end? Merchants may reject an order for 90 days.
 *
 * Orders of each age show how many a merchant rejects at that age. They form the survival curve of
 * a life table, shrunk to the network's. Evidence counts the orders that are not rejected; each is
 * weighted by its chance of never being rejected (docs/spec/prediction.md#rejections).
 */
import type { PredictionModel } from './prediction-model.ts'

/** Ages at which orders are counted, in days: weeks until the lock. */
export const APPROVAL_STEP_DAYS = 7
export const APPROVAL_STEPS = 13
/** Rejections of this many days are counted. */
export const APPROVAL_DAYS = 60

/** CPA orders of a merchant in one week of their age, weighted by value. */
export interface OrderAges {
  readonly merch_id: number
  readonly step: number // 0: their first week; APPROVAL_STEPS: locked
  readonly exposed: number // entered this week within APPROVAL_DAYS; half of those still in it
  readonly rejected: number // rejected during the week
  readonly active: number // orders of this age now
}

/** Orders that the network's share is worth against a merchant's own in each week. */
const NETWORK_ORDERS = 10
/** Weight, in merchants, of a prior that rejects nothing. */
const USUAL_MERCHANTS = 2

/** The share of commission that lasts, for the network and for each merchant. */
export function fitApprovals(
  rows: readonly OrderAges[],
): Pick<PredictionModel, 'approvedShare' | 'approvedShareByMerchant'> {
  const merchants = [...Map.groupBy(rows, ({ merch_id }) => merch_id)]
  const steps = Array.from({ length: APPROVAL_STEPS }, (_, step) => step)
  // Each merchant counts as one at most, so that none dominates the network.
  const network = steps.map((step) => {
    const sums = { share: 0, merchants: USUAL_MERCHANTS }
    for (const { exposed, rejected } of rows.filter((row) => row.step === step)) {
      if (exposed <= 0) continue
      const weight = exposed / (exposed + NETWORK_ORDERS)
      sums.share += weight * Math.min(1, rejected / exposed)
      sums.merchants += weight
    }
    return sums.share / sums.merchants
  })
  const own = merchants.map(([merchId, ages]) => [merchId, lastingShare(network, ages)] as const)
  return {
    approvedShare: lastingShare(network, []),
    approvedShareByMerchant: Object.fromEntries(own),
  }
}

/** Weights each order by its age and by its chance to survive the remaining weeks. */
function lastingShare(network: readonly number[], ages: readonly OrderAges[]): number {
  const at = new Map(ages.map((row) => [row.step, row]))
  const lasting = [1] // from the end: the chance that an order of this step is never rejected
  for (let step = APPROVAL_STEPS - 1; step >= 0; step--) {
    const { exposed = 0, rejected = 0 } = at.get(step) ?? {}
    const share = (rejected + NETWORK_ORDERS * (network[step] ?? 0)) / (exposed + NETWORK_ORDERS)
    lasting.unshift((lasting[0] ?? 1) * (1 - Math.min(1, share)))
  }
  const whole = lasting[0] ?? 1
  const active = ages.reduce((sum, row) => sum + row.active, 0)
  if (active <= 0) return whole
  return ages.reduce((sum, row) => sum + row.active * (lasting[row.step] ?? 1), 0) / active
}
