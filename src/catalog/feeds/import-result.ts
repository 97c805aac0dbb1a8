/** The result of an import of a feed. */
import type { OfferNote, RejectReason } from './check-offer.ts'

export interface ImportResult {
  /** Rows of data in the feed, rejected ones included. */
  rows: number
  /** New offers and offers that changed. */
  offers_upserted: number
  /** Offers that the feed no longer has. */
  offers_removed: number
  offers_unchanged: number
  rejected: Partial<Record<RejectReason, number>>
  /** The first row of each reason: its line, its content and the fix. */
  first_rejected: Partial<Record<RejectReason, string>>
  /** Oddities of accepted rows. */
  notes: Partial<Record<OfferNote, number>>
  /** Unknown availability words and assumed currencies, with their counts. */
  noted: Partial<Record<OfferNote, Record<string, number>>>
  /** True when the feed was truncated; then nothing is removed. */
  truncated: boolean
  /** False when an unreadable row has no known id; then nothing is removed. */
  read_whole: boolean
}

const UNREAD = ['row_truncated', 'row_malformed', 'row_too_long'] as const

/** The message of an import that could not remove offers. */
export function notReadWhole({ first_rejected: first }: ImportResult): string {
  const unread = UNREAD.map((reason) => first[reason]).find((text) => text !== undefined)
  const why = unread ?? 'its end is missing'
  return `the feed was not read whole, so no offer was removed; ${why}`
}

/** A feed without a valid row changes nothing: it confirms no offer. */
export function hasGoodRow({ offers_upserted, offers_unchanged }: ImportResult): boolean {
  return offers_upserted + offers_unchanged > 0
}

/** The message of an import without a valid row. */
export function noGoodRow({ rows, first_rejected }: ImportResult): string {
  const [first] = Object.values(first_rejected)
  return `none of the ${rows} rows is good, so nothing was changed; ${first}`
}
