/**
 * Why a candidate did not win, as numbers: stored in receipts, never reuse one.
 *
 * 100, 102 and 104 are OpenRTB 3.0's loss reasons; its list leaves 500 and above to the exchange,
 * so ours start there (economics 1.2). Their words are in loss-reason.ts.
 *
 * They stand in the order in which the checks are made.
 */
export const LOSS = {
  none: 0,
  /** Of an auction without a single candidate. */
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

/** Every reason to lose: a later one means "came closer to winning". */
export const LADDER: readonly number[] = Object.values(LOSS).filter((code) => code !== LOSS.none)
