/**
 * A click as the fold judged it: the one reading of a row of `click`, which the API, the dashboard,
 * the clicks report and the list of reversals format.
 */
import type { Model } from '../events/event.ts'
import { type PayTerms, pricePerClick, unpackTerms } from '../events/pay-terms.ts'
import { REASON, reasonName, verdictOf } from '../events/reason.ts'
import { explainReason } from '../events/reason-words.ts'
import { sql } from '../platform/postgres/sql.ts'

/** The columns that `readClick` needs, in a query with the table `click`. */
export const CLICK_COLUMNS = sql`click.event_id, click.click_id, click.day, click.at, click.pub_id,
  click.merch_id, click.campaign_id, click.auction_id, click.result_number, click.model,
  click.terms_amount, click.share_ppm, click.merchant_cost_micros,
  click.publisher_earnings_micros, click.reason, click.reversed_at, click.reverse_reason`

export interface ClickRow {
  readonly event_id: string
  readonly click_id: Buffer
  readonly day: string
  readonly at: Date
  readonly pub_id: number
  readonly merch_id: number
  readonly campaign_id: number | null
  readonly auction_id: string
  readonly result_number: Buffer
  readonly model: Model
  readonly terms_amount: string
  readonly share_ppm: number
  readonly merchant_cost_micros: string
  readonly publisher_earnings_micros: string
  readonly reason: number
  readonly reversed_at: Date | null
  readonly reverse_reason: string | null
}

export interface Click {
  readonly clickId: string // hex
  readonly resultNumber: string // hex
  readonly terms: PayTerms
  readonly pricePerClickMicros: number // 0 if orders pay
  /** As judged; a reversal books the opposite, and leaves both as they are. */
  readonly merchantCostMicros: bigint
  readonly publisherEarningsMicros: bigint
  /** What the publisher earns from the click itself today: nothing after a reversal. */
  readonly earnedMicros: bigint
  readonly verdict: number // `reversed` after a reversal, else the fold's reason
  readonly reason: string
  readonly why: string // the reason as a sentence
  readonly isCounted: boolean
  /** A merchant pays for the click itself. */
  readonly isBillable: boolean
}

export function readClick(row: ClickRow): Click {
  const verdict = verdictOf(row)
  const terms = termsOfRow(row)
  const merchantCostMicros = BigInt(row.merchant_cost_micros)
  const publisherEarningsMicros = BigInt(row.publisher_earnings_micros)
  const isReversed = row.reversed_at !== null
  return {
    clickId: row.click_id.toString('hex'),
    resultNumber: row.result_number.toString('hex'),
    terms,
    pricePerClickMicros: pricePerClick(terms),
    merchantCostMicros,
    publisherEarningsMicros,
    earnedMicros: isReversed ? 0n : publisherEarningsMicros,
    verdict,
    reason: reasonName(verdict),
    why: whyOf(verdict, row.reverse_reason),
    isCounted: verdict === REASON.ok,
    isBillable: merchantCostMicros > 0n && !isReversed,
  }
}

/** The terms of a row, whose amount has the unit of its model. */
export function termsOfRow(row: Pick<ClickRow, 'model' | 'terms_amount'>): PayTerms {
  return unpackTerms({ model: row.model, amount: Number(row.terms_amount) })
}

/** A reversed click shows the reason given by the person who reversed it. */
function whyOf(verdict: number, reverseReason: string | null): string {
  const given = reverseReason === null ? [] : [`Reason: ${reverseReason}`]
  return [explainReason(verdict), ...given].join(' ')
}
