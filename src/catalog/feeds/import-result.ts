/** What an import of a feed did. */
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
  /** For each reason the first row: its line, what it says and what to write. */
  first_rejected: Partial<Record<RejectReason, string>>
  /** What is odd about rows that were kept. */
  notes: Partial<Record<OfferNote, number>>
  /** The words of availability that nobody knows, and the currencies assumed, with their counts. */
  noted: Partial<Record<OfferNote, Record<string, number>>>
  /** True when the feed was cut off at its end; then nothing is removed. */
  truncated: boolean
  /** False when a row was not read and its id is not known either; then nothing is removed. */
  read_whole: boolean
}

const UNREAD = ['row_truncated', 'row_malformed', 'row_too_long'] as const

/** What an import says that could not remove offers. */
export function notReadWhole({ first_rejected: first }: ImportResult): string {
  const unread = UNREAD.map((reason) => first[reason]).find((text) => text !== undefined)
  const why = unread ?? 'its end is missing'
  return `the feed was not read whole, so no offer was removed; ${why}`
}

/** A feed without one changes nothing: it says of no offer that it is still sold, or is not. */
export function hasGoodRow({ offers_upserted, offers_unchanged }: ImportResult): boolean {
  return offers_upserted + offers_unchanged > 0
}

/** What an import without a good row says. */
export function noGoodRow({ rows, first_rejected }: ImportResult): string {
  const [first] = Object.values(first_rejected)
  return `none of the ${rows} rows is good, so nothing was changed; ${first}`
}
