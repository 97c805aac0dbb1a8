/** The part of the order value that readers send back: of the network, and of its merchants. */
import { type PredictionModel, UNFITTED_MODEL } from './prediction-model.ts'

/** Returns come late: orders of these days have brought most of theirs. */
export const RETURN_DAYS = { youngest: 14, oldest: 120 }
/**
 * Order value that the wider share is worth against a merchant's own, some 200 orders, and the most
 * that a merchant's own weighs in the network's: one order of $10 million that came back, of a
 * merchant which pays for clicks, would make every other one's commission worth nothing.
 */
const RETURN_PRIOR_MICROS = 10_000e6

/** Order value of a merchant within RETURN_DAYS, and the part of it that readers kept. */
export interface SoldValue {
  readonly merch_id: number
  readonly sold: number
  readonly kept: number
}

/**
 * Drawn to what is usual and not to yesterday's: that comes from the same orders, and each night
 * would count them once more.
 */
export function fitReturnShares(
  rows: readonly SoldValue[],
): Pick<PredictionModel, 'returnShare' | 'returnShareByMerchant'> {
  const shareOf = (returned: number, sold: number, wider: number): number =>
    Math.min(
      1,
      Math.max(0, (returned + RETURN_PRIOR_MICROS * wider) / (sold + RETURN_PRIOR_MICROS)),
    )
  const network = { sold: 0, returned: 0 }
  for (const { sold, kept } of rows) {
    const weight = Math.min(1, RETURN_PRIOR_MICROS / sold)
    network.sold += weight * sold
    network.returned += weight * (sold - kept)
  }
  const returnShare = shareOf(network.returned, network.sold, UNFITTED_MODEL.returnShare)
  const ofMerchant = (row: SoldValue) =>
    [row.merch_id, shareOf(row.sold - row.kept, row.sold, returnShare)] as const
  return { returnShare, returnShareByMerchant: Object.fromEntries(rows.map(ofMerchant)) }
}
