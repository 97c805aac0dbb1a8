/**
 * May this row of a feed become an offer, and what does it say?
 *
 * Pure: the same row in the same feed is always judged the same. A row is refused for what would
 * mislead a reader or a merchant's bill (no price, a foreign address); what only makes an offer
 * harder to match (a wrong GTIN, a missing image) is kept and noted.
 */
import { decodeHTMLStrict } from 'entities'
import { cutText } from '../platform/characters.ts'
import type { Micros } from '../platform/money.ts'
import { DAY_MS } from '../platform/timestamp.ts'
import {
  fitsUrlLimits,
  hexKeyOfUrl,
  isOnDomain,
  MAX_URL_CHARACTERS,
  parseWebUrl,
  siteHost,
} from '../platform/url.ts'
import { readAvailability } from './availability.ts'
import { readCategory } from './category.ts'
import type { FeedFields } from './feed-columns.ts'
import type { ReadFault } from './feed-entry.ts'
import { joinableGtin14, readGtin } from './gtin.ts'
import { currencyWords, readCurrency } from './read-currency.ts'
import { dollarsToMicros, type PriceFault, readPrice } from './read-price.ts'

export type RejectReason =
  | ReadFault
  | PriceFault
  | 'id_missing'
  | 'id_too_long'
  | 'title_missing'
  | 'link_missing'
  | 'link_invalid'
  | 'link_too_long'
  | 'link_foreign_host'
  | 'currency_other'
  | 'duplicate_id'

/** What is odd about a row that is kept. */
export type OfferNote =
  | 'gtin_missing'
  | 'gtin_bad'
  | 'gtin_formatted'
  | 'gtin_repaired'
  | 'gtin_restricted'
  | 'price_converted'
  | 'sale_ignored'
  | 'availability_unknown'
  | 'image_invalid'

/** What an offer is made of; see the table `offer`. */
export interface OfferContent {
  readonly sku: string
  readonly gtin14: string | null
  readonly gtinText: string | null
  readonly title: string
  readonly brand: string | null
  readonly mpn: string | null
  readonly url: string
  /** 32 hexadecimal digits. */
  readonly urlKeyHex: string
  readonly imageUrl: string | null
  /** What it costs today. */
  readonly priceMicros: Micros
  /** What it costs when it is not on sale; null when it is not. */
  readonly regularPriceMicros: Micros | null
  readonly isInStock: boolean
  readonly categoryId: number | null
  readonly description: string | null
  readonly color: string | null
  readonly size: string | null
  readonly itemGroupId: string | null
}

export type OfferJudgement =
  | { readonly kind: 'offer'; readonly offer: OfferContent; readonly notes: readonly OfferNote[] }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly detail: string }

export interface FeedContext {
  /** The merchant's domains: lower case, without `www.`; each covers its subdomains. */
  readonly domains: readonly string[]
  /** ISO 4217: what a price without a currency is in. */
  readonly currency: string
  /** Sale prices hold between two dates; this is today. */
  readonly atMs: number
  readonly toDollars: ToDollars
}

/** A decimal of an ISO 4217 currency, as of today; null where no rate is known. */
export type ToDollars = (amount: string, currency: string) => Micros | null

const DOLLAR = 'USD'

/** Our choice: prices are in US dollars, and other currencies wait for exchange rates. */
export const onlyDollars: ToDollars = (amount, currency) =>
  currency === DOLLAR ? dollarsToMicros(amount) : null

const SKU_CHARACTERS_MAX = 255 // Interface 4.3: a longer one could never be asked for.
const TITLE_CHARACTERS_MAX = 500 // Google cuts at 150; what is behind 500 names no product.
const SHORT_CHARACTERS_MAX = 255 // Brand, MPN, GTIN as written, colour, size, group.
const DESCRIPTION_CHARACTERS_MAX = 5_000 // As Google's.

export function checkOffer(fields: FeedFields, context: FeedContext): OfferJudgement {
  const sku = skuOf(fields.id)
  if (sku === '') return rejected('id_missing', 'the id is empty')
  if (sku.length > SKU_CHARACTERS_MAX) {
    return rejected('id_too_long', `the id has more than ${SKU_CHARACTERS_MAX} characters`)
  }
  const title = cutText(cleanText(withoutEntities(fields.title)), TITLE_CHARACTERS_MAX)
  if (title === '') return rejected('title_missing', 'the title is empty')
  const link = checkLink(fields.link, context)
  if (link.kind === 'rejected') return link
  const notes: OfferNote[] = []
  const price = checkPrice(fields, context, notes)
  if (price.kind === 'rejected') return price
  const offer: OfferContent = {
    sku,
    ...gtinOf(fields.gtin, notes),
    title,
    brand: wordsOf(fields.brand),
    mpn: cutText(cleanText(fields.mpn), SHORT_CHARACTERS_MAX) || null,
    url: link.text,
    urlKeyHex: hexKeyOfUrl(link.url),
    imageUrl: imageOf(fields.imageLink, notes),
    priceMicros: price.micros,
    regularPriceMicros: price.regular,
    isInStock: isInStock(fields.availability, notes),
    categoryId: readCategory(withoutEntities(fields.category)),
    description: wordsOf(fields.description, DESCRIPTION_CHARACTERS_MAX),
    color: wordsOf(fields.color),
    size: wordsOf(fields.size),
    itemGroupId: cutText(cleanText(fields.itemGroupId), SHORT_CHARACTERS_MAX) || null,
  }
  return { kind: 'offer', offer, notes }
}

/** The id under which a product is stored. */
export function skuOf(written: string): string {
  return cleanText(written)
}

type Rejected = Extract<OfferJudgement, { kind: 'rejected' }>

function rejected(reason: RejectReason, detail: string): Rejected {
  return { kind: 'rejected', reason, detail }
}

type Link = { readonly kind: 'link'; readonly url: URL; readonly text: string }

function checkLink(written: string, { domains }: FeedContext): Link | Rejected {
  const text = addressText(written)
  if (text === '') return rejected('link_missing', 'the link is empty')
  const url = parseWebUrl(text)
  if (url === null) return rejected('link_invalid', `${shown(text)} is no absolute http(s) address`)
  const kept = headerSafe(text, url)
  // Not as it was written: the form that is kept is what wrappers and redirects carry.
  if (!fitsUrlLimits(kept)) {
    const rule = `more than ${MAX_URL_CHARACTERS} characters, percent-encoded`
    return rejected('link_too_long', `the link has ${rule}`)
  }
  const host = siteHost(url)
  if (!domains.some((domain) => isOnDomain(host, domain))) {
    return rejected('link_foreign_host', `${shown(host)} is none of the merchant's domains`)
  }
  return { kind: 'link', url, text: kept }
}

/** Tools that escape a feed's text escape its addresses too. */
function addressText(written: string): string {
  return written.trim().replaceAll('&amp;', '&')
}

// Printable ASCII: what may stand in a Location header as it is.
const HEADER_SAFE = /^[!-~]+$/

/** The address as the merchant wrote it, or percent-encoded where a header could not hold it. */
function headerSafe(text: string, url: URL): string {
  return HEADER_SAFE.test(text) ? text : url.href
}

interface Price {
  readonly kind: 'price'
  readonly micros: Micros
  readonly regular: Micros | null // of a product on sale
}

function checkPrice(
  fields: FeedFields,
  context: FeedContext,
  notes: OfferNote[],
): Price | Rejected {
  const usual = readCurrency(currencyWords(fields.currency), context.currency)
  const price = readPrice(fields.price, usual)
  if (price.kind !== 'price') {
    const why = price.why === '' ? '' : `; it ${price.why}`
    return rejected(price.kind, `the price is ${shown(fields.price)}${why}`)
  }
  const currency = price.currency ?? usual
  if (currency === undefined) {
    return rejected('currency_unknown', `the currency is ${shown(fields.currency)}`)
  }
  const regular = context.toDollars(price.amount, currency)
  if (regular === null) {
    return rejected('currency_other', `the price is in ${currency}, whose rate is not known today`)
  }
  // Less than a micro-dollar is nothing that a product costs.
  if (regular === 0) return rejected('price_zero', `the price is ${shown(fields.price)}`)
  if (currency !== DOLLAR) notes.push('price_converted')
  if (fields.salePrice.trim() === '') return { kind: 'price', micros: regular, regular: null }
  const sale = saleMicros(fields, context, currency)
  if (sale !== null && sale > 0 && sale < regular) return { kind: 'price', micros: sale, regular }
  notes.push('sale_ignored')
  return { kind: 'price', micros: regular, regular: null }
}

/** The sale price in micros, or null when it is none or does not hold today. */
function saleMicros(
  { salePrice, salePriceDates: dates }: FeedFields,
  { atMs, toDollars }: FeedContext,
  currency: string,
): Micros | null {
  const sale = readPrice(salePrice, currency)
  if (sale.kind !== 'price' || sale.currency !== currency) return null
  if (dates.trim() === '') return toDollars(sale.amount, currency)
  const [from = '', to = ''] = dates.split('/').map((date) => date.trim())
  // As Google has it: a sale that ends on a day without a time of it lasts until that day is over.
  const endMs = instantOf(to) + (to.includes(':') ? 0 : DAY_MS)
  return instantOf(from) <= atMs && atMs < endMs ? toDollars(sale.amount, currency) : null
}

/** A zone that is known, or an offset behind a time: in a date alone it may be a year. */
const WITH_ZONE = /(\dZ|\b(Z|UTC?|GMT|[ECMP][SD]T)|:\d\d.*[+-]\d\d:?\d\d)$/i
const COMMENT = /\s*\([^()]*\)$/ // `(CEST)`, behind an offset
const ISO_TIME = /\dT\d/i
/** No date takes more; in a megabyte of colons the pattern of zones would look for an hour. */
const DATE_LENGTH_MAX = 100

/** What names no zone is UTC, as all times are, wherever this machine stands: `Jun 1, 2026` too. */
function instantOf(written: string): number {
  if (written.length > DATE_LENGTH_MAX) return Number.NaN
  const text = written.replace(COMMENT, '')
  if (WITH_ZONE.test(text)) return Date.parse(text)
  return Date.parse(ISO_TIME.test(text) ? `${text}Z` : `${text} UTC`)
}

function gtinOf(
  written: string,
  notes: OfferNote[],
): { gtin14: string | null; gtinText: string | null } {
  const gtin = readGtin(written)
  if (gtin.kind !== 'valid') notes.push(`gtin_${gtin.kind}`)
  const gtinText = cutText(cleanText(written), SHORT_CHARACTERS_MAX) || null
  return { gtin14: joinableGtin14(gtin), gtinText }
}

function imageOf(written: string, notes: OfferNote[]): string | null {
  const text = addressText(written)
  if (text === '') return null
  const url = parseWebUrl(text)
  if (url !== null && fitsUrlLimits(text)) return headerSafe(text, url)
  notes.push('image_invalid')
  return null
}

function isInStock(written: string, notes: OfferNote[]): boolean {
  const isAvailable = readAvailability(written)
  if (isAvailable === null) notes.push('availability_unknown')
  return isAvailable ?? false
}

function wordsOf(text: string, charactersMax = SHORT_CHARACTERS_MAX): string | null {
  return cutText(cleanText(withoutEntities(text)), charactersMax) || null
}

function withoutEntities(text: string): string {
  return text.includes('&') ? decodeHTMLStrict(text) : text
}

// Anything but single spaces between words; PostgreSQL takes no NUL at all.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed.
const UNCLEAN = /[\s\u0000-\u001f\u007f]+/g

function cleanText(text: string): string {
  return isClean(text) ? text : text.toWellFormed().replace(UNCLEAN, ' ').trim()
}

/** A quick look that lets nearly every text of a feed through; false only means to look closer. */
function isClean(text: string): boolean {
  let wasSpace = true
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isSpace = code === SPACE
    if ((isSpace && wasSpace) || code < SPACE || (code > TILDE && isOdd(code))) return false
    wasSpace = isSpace
  }
  return !wasSpace || text === ''
}

const SPACE = 0x20
const TILDE = 0x7e

/** Controls, spaces other than the plain one, and halves of surrogate pairs. */
function isOdd(code: number): boolean {
  return code <= 0xa0 || (code >= 0x1680 && code <= 0x3000) || (code >= 0xd800 && code !== 0xfffd)
}

function shown(text: string): string {
  return `"${cutText(text, 100)}"`
}
