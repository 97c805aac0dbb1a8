/** What a publisher earned per click. */
import { formatExact } from '../platform/money/money.ts'
import { divideHalfEven } from '../platform/money/round.ts'

/** A tenth of a cent: many clicks earn less than ten cents, and a mean has no last digit. */
const PER_CLICK_STEP_MICROS = 1_000n

/**
 * Null without clicks. Computed from micros: rounded to cents first, a click of $0.0654 would show
 * as $0.070.
 */
export function earningsPerClick({
  earnings_micros,
  clicks,
}: {
  readonly earnings_micros: string
  readonly clicks: string
}): string | null {
  if (BigInt(clicks) <= 0n) return null
  const steps = divideHalfEven(BigInt(earnings_micros), BigInt(clicks) * PER_CLICK_STEP_MICROS)
  return formatExact(steps * PER_CLICK_STEP_MICROS)
}
