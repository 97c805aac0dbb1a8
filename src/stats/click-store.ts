/** Reads clicks after the fold has judged them. */
import { clickIdBytes } from '../events/click-id.ts'
import { type PayTerms, pricePerClick } from '../events/pay-terms.ts'
import { REASON, reasonName } from '../events/reason.ts'
import { formatExact, PPM } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { CLICK_COLUMNS, type ClickRow, readClick, termsOfRow } from './click-view.ts'

/** Readers click a result once or twice. A robot may click it very often. */
export const RESULT_CLICKS_MAX = 100
const CLICK_ID_HEX = /^[0-9a-f]{32}$/i

/** The clicks on one auction result, with the amount paid or the reason for none. */
export async function listClicksOfResult(db: Db, resultNumber: Buffer) {
  const rows = await db.rows<ClickRow>(sql`
    select ${CLICK_COLUMNS} from click where result_number = ${resultNumber} ${RESERVED_FIRST}
    limit ${RESULT_CLICKS_MAX}`)
  return rows.map((row) => {
    const click = readClick(row)
    return {
      click_id: click.clickId,
      at: formatTimestamp(row.at),
      pub_id: row.pub_id,
      auction_id: row.auction_id,
      merch_id: row.merch_id,
      campaign_id: row.campaign_id,
      ...termsRecord(click.terms),
      paid: formatExact(click.merchantCostMicros),
      publisher_earns: formatExact(click.publisherEarningsMicros),
      reason: reasonName(row.reason),
      why: click.why,
      reversed_at: formatTimestampOrNull(row.reversed_at),
      reverse_reason: row.reverse_reason,
    }
  })
}

/**
 * Paid clicks come first, so that a robot's many clicks never push them off the list. Then oldest
 * first.
 */
export const RESERVED_FIRST = sql`order by is_reserved desc, event_id`

/** The auction result of a click; null for text that is not a click id. */
export async function findResultOfClick(db: Db, clickId: string): Promise<Buffer | null> {
  if (!CLICK_ID_HEX.test(clickId)) return null
  const row = await db.row<{ result_number: Buffer }>(sql`
    select result_number from click where click_id = ${Buffer.from(clickId, 'hex')}`)
  return row?.result_number ?? null
}

/** The sealed terms of the valid clicks on these results, where a merchant pays. */
export async function listClickTerms(db: Db, resultNumbers: readonly Buffer[]) {
  const rows = await db.rows<
    Pick<ClickRow, 'click_id' | 'pub_id' | 'merch_id' | 'model' | 'terms_amount'> & {
      result_number: Buffer
      campaign_id: number
      share_ppm: number
    }
  >(sql`
    select result_number, click_id, pub_id, merch_id, campaign_id, model, terms_amount, share_ppm
    from click
    where result_number = any(${resultNumbers}::bytea[]) and reason = ${REASON.ok}
      and campaign_id is not null
    order by event_id`)
  return rows.map((row) => ({
    resultNumber: row.result_number.toString('hex'),
    clickId: row.click_id.toString('hex'),
    pubId: row.pub_id,
    merchId: row.merch_id,
    campaignId: row.campaign_id,
    terms: termsOfRow(row),
    sharePpm: row.share_ppm,
  }))
}

/** The fields of a click's terms: the price of the click, or the terms for its orders. */
function termsRecord(terms: PayTerms) {
  return {
    model: terms.model,
    price: formatExact(pricePerClick(terms)),
    rate: terms.model === 'cpa' ? terms.ratePpm / PPM : null,
    payment: terms.model === 'epp' ? formatExact(terms.paymentMicros) : null,
  }
}

export interface ReversibleClick {
  readonly clickId: string // hex
  readonly pubId: number
  readonly merchId: number
  readonly isReversed: boolean
}

/** The clicks (hex) that these events reversed. */
export async function listClicksReversedBy(
  db: Db,
  {
    clickIds,
    eventIds,
  }: { readonly clickIds: readonly string[]; readonly eventIds: readonly string[] },
): Promise<string[]> {
  const rows = await db.rows<{ click_id: Buffer }>(sql`
    select click_id from click
    where click_id = any(${clickIdBytes(clickIds)}::bytea[])
      and reversal_event_id = any(${eventIds}::bigint[])`)
  return rows.map(({ click_id }) => click_id.toString('hex'))
}

/** The click with an id, or the clicks of an auction result (hex), those not yet reversed first. */
export async function findClicksToReverse(
  db: Db,
  { clickId, resultNumber }: { clickId: string | null; resultNumber: string | null },
): Promise<ReversibleClick[]> {
  const isWanted =
    clickId === null
      ? sql`result_number = ${Buffer.from(resultNumber ?? '', 'hex')}`
      : sql`click_id = ${Buffer.from(clickId, 'hex')}`
  const rows = await db.rows<{
    click_id: Buffer
    pub_id: number
    merch_id: number
    reversed_at: Date | null
  }>(sql`
    select click_id, pub_id, merch_id, reversed_at from click where ${isWanted}
    order by reversed_at is not null, is_reserved desc, event_id limit ${RESULT_CLICKS_MAX}`)
  return rows.map((row) => ({
    clickId: row.click_id.toString('hex'),
    pubId: row.pub_id,
    merchId: row.merch_id,
    isReversed: row.reversed_at !== null,
  }))
}
