/** What a rejected row has to do with which field, and how a merchant fixes it. */
import type { OfferNote, RejectReason } from './check-offer.ts'
import type { FieldName } from './feed-columns.ts'

interface RejectWords {
  /** The field at fault; null where the row itself could not be read. */
  readonly field: FieldName | null
  readonly fix: string
}

const QUOTING =
  'Write the row with as many cells as the header, and quote cells that hold the separator, ' +
  'quotes or line ends.'
const PRICE = 'Write the price as a number and a currency code, such as 49.99 USD.'
const CURRENCY =
  'Write a currency code of ISO 4217, such as EUR, in the price or in a separate column.'

export const REJECT_WORDS: Readonly<Record<RejectReason, RejectWords>> = {
  row_malformed: { field: null, fix: QUOTING },
  row_too_long: {
    field: null,
    fix: 'Shorten the row; a missing quote may join many rows into one.',
  },
  row_truncated: { field: null, fix: 'Export the feed again: it ends in the middle of this row.' },
  id_missing: { field: 'id', fix: 'Give the product an id that stays the same in every feed.' },
  id_too_long: { field: 'id', fix: 'Use an id of at most 255 characters.' },
  title_missing: { field: 'title', fix: 'Give the product a title.' },
  link_missing: { field: 'link', fix: 'Write the URL of the product’s page.' },
  link_invalid: { field: 'link', fix: 'Write the whole URL, from https:// on.' },
  link_too_long: { field: 'link', fix: 'Use a URL of at most 2048 characters.' },
  link_foreign_host: {
    field: 'link',
    fix: 'Link to a page of the shop, or add the domain to the merchant’s settings.',
  },
  price_missing: { field: 'price', fix: PRICE },
  price_unparsable: { field: 'price', fix: PRICE },
  price_negative: { field: 'price', fix: PRICE },
  price_zero: { field: 'price', fix: 'Write the price that a buyer pays; it must be above 0.' },
  currency_unknown: { field: 'price', fix: CURRENCY },
  currency_other: {
    field: 'price',
    fix: 'Write the price in US dollars, or ask the operator for a rate of this currency.',
  },
  duplicate_id: {
    field: 'id',
    fix: 'Give each product another id; only the first row with this id counts.',
  },
}
export const REJECT_REASONS = Object.keys(REJECT_WORDS) as RejectReason[]

/** Every note; the compiler finds one that is missing. */
const NOTES: Readonly<Record<OfferNote, true>> = {
  gtin_missing: true,
  gtin_bad: true,
  gtin_formatted: true,
  gtin_repaired: true,
  gtin_restricted: true,
  price_converted: true,
  sale_ignored: true,
  sale_dates_unreadable: true,
  currency_assumed: true,
  availability_unknown: true,
  image_invalid: true,
}
export const OFFER_NOTES = Object.keys(NOTES) as OfferNote[]
