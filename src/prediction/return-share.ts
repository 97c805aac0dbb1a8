/** The returned share of the order value: of the network, and of its merchants. */
import { type PredictionModel, UNFITTED_MODEL } from './prediction-model.ts'

/** Returns come late: orders of these days have brought most of theirs. */
export const RETURN_DAYS = { youngest: 14, oldest: 120 }
/**
 * Order value that the wider share is worth against a merchant's own, some 200 orders, and the cap
 * of a merchant's weight in the network's. Without the cap, one returned order of $10 million would
 * make every other merchant's commission worth nothing.
 */
const RETURN_PRIOR_MICROS = 10_000e6

/** Order value of a merchant within RETURN_DAYS, and the part without returns. */
export interface SoldValue {
  readonly merch_id: number
  readonly sold: number
  readonly kept: number
}

/**
 * Shrunk to the default and not to yesterday's share, which comes from the same orders and would
 * count them again each night.
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
