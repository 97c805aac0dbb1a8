/**
 * Why a candidate did not win, as numbers. Receipts store them: never reuse one.
 *
 * 100, 102 and 104 are OpenRTB 3.0's loss reasons; its list leaves 500 and above to the exchange.
 * Their words are in loss-reason.ts.
 *
 * The order is that of the checks: docs/spec/auction.md#eligibility.
 */
export const LOSS = {
  none: 0,
  /** For an auction without candidates. */
  noCandidates: 590,
  inactive: 500,
  outOfFlight: 501,
  outOfStock: 502,
  staleFeed: 503,
  device: 510,
  country: 511,
  blocked: 104,
  exclusive: 520,
  confidence: 530,
  price: 540,
  paced: 550,
  unfunded: 551,
  belowFloor: 100,
  outbid: 102,
} as const

/** Every reason to lose; a later one means "came closer to winning". */
export const LADDER: readonly number[] = Object.values(LOSS).filter((code) => code !== LOSS.none)
