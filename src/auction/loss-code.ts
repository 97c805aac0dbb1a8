/**
 * Why a candidate did not win, as numbers. Receipts store them: never reuse one.
 *
 * 100, 102 and 104 are OpenRTB 3.0's loss reasons; its list leaves 500 and above to the exchange.
 * Their words are in loss-reason.ts.
 *
 * The order is that of the checks: docs/spec/auction.md#eligibility.
 */
import type { SnakeCase } from '../platform/text/snake-case.ts'

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

/** A rule that depends on the reason is a record by these names, so that none is forgotten. */
export type LossName = keyof typeof LOSS

/** A reason to lose, as reports and screens name it; an auction that was won has none. */
export type LossWord = SnakeCase<Exclude<LossName, 'none'>>

const NAMES = new Map<number, LossName>(
  (Object.keys(LOSS) as LossName[]).map((name) => [LOSS[name], name]),
)

/** The name of a code; throws RangeError for an unknown number. */
export function lossName(code: number): LossName {
  const name = NAMES.get(code)
  if (name === undefined) throw new RangeError(`${code} is no loss code`)
  return name
}

/** Every reason to lose; a later one means "came closer to winning". */
export const LADDER: readonly number[] = Object.values(LOSS).filter((code) => code !== LOSS.none)
