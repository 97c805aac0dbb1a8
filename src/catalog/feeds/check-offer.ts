/**
 * Decides whether a row of a feed becomes an offer, and reads it.
 *
 * Pure: the same row in the same feed always gives the same result. A row is rejected for faults
 * that would mislead a reader or a merchant's bill (no price, a foreign host). A fault that only
 * makes an offer harder to match (a wrong GTIN, a missing image) is noted.
 */
import { decodeHTMLStrict } from 'entities'
import type { Micros } from '../../platform/money/money.ts'
import { CURRENCY_BESIDE, currencyWords, readCurrency } from '../../platform/money/read-currency.ts'
import { dollarsToMicros, type PriceFault, readPrice } from '../../platform/money/read-price.ts'
import {
  fitsUrlLimits,
  hexKeyOfUrl,
  isOnDomain,
  MAX_URL_CHARACTERS,
  parseWebUrl,
  siteHost,
} from '../../platform/net/url.ts'
import { cutText } from '../../platform/text/characters.ts'
import { readCategory } from '../category.ts'
import { joinableGtin14, readGtin } from '../gtin.ts'
import { readAvailability } from './availability.ts'
import { withoutEmptyWord } from './empty-words.ts'
import type { FeedFields } from './feed-columns.ts'
import type { ReadFault } from './feed-entry.ts'
import { saleState } from './sale-dates.ts'

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

/** Oddities of an accepted row. */
export type OfferNote =
  | 'gtin_missing'
  | 'gtin_bad'
  | 'gtin_formatted'
  | 'gtin_repaired'
  | 'gtin_restricted'
  | 'price_converted'
  | 'sale_ignored'
  | 'sale_dates_unreadable'
  | 'currency_assumed'
  | 'availability_unknown'
  | 'image_invalid'

export interface Note {
  readonly note: OfferNote
  /** The unknown word, or the assumed currency. */
  readonly value?: string
}

/** The columns of an offer; see the table `offer`. */
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
  /** The current price. */
  readonly priceMicros: Micros
  /** The price outside a sale; null when it is not on sale. */
  readonly regularPriceMicros: Micros | null
  readonly isInStock: boolean
  readonly categoryId: number | null
  readonly description: string | null
  readonly color: string | null
  readonly size: string | null
  readonly itemGroupId: string | null
}

export type OfferJudgement =
  | { readonly kind: 'offer'; readonly offer: OfferContent; readonly notes: readonly Note[] }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly detail: string }

export interface FeedContext {
  /** The merchant's domains: lower case, without `www.`; each covers its subdomains. */
  readonly domains: readonly string[]
  /** ISO 4217: the currency of prices without one. */
  readonly currency: string
  /** True when neither the import nor the merchant has set one. */
  readonly isCurrencyAssumed: boolean
  /** Sale prices apply between two dates; this is today. */
  readonly atMs: number
  readonly toDollars: ToDollars
}

/** A decimal of an ISO 4217 currency, as of today; null where no rate is known. */
export type ToDollars = (amount: string, currency: string) => Micros | null

const DOLLAR = 'USD'

/** Our choice: prices are in US dollars, and other currencies wait for exchange rates. */
export const onlyDollars: ToDollars = (amount, currency) =>
  currency === DOLLAR ? dollarsToMicros(amount) : null

const SKU_CHARACTERS_MAX = 255 // Requests cannot name a longer one.
const TITLE_CHARACTERS_MAX = 500 // Google cuts at 150; what is behind 500 names no product.
const SHORT_CHARACTERS_MAX = 255 // Brand, MPN, GTIN as written, colour, size, group.
const DESCRIPTION_CHARACTERS_MAX = 5_000 // As Google's.

export function checkOffer(fields: FeedFields, context: FeedContext): OfferJudgement {
  const sku = skuOf(fields.id)
  if (sku === '') return rejected('id_missing', 'the id is empty')
  if (sku.length > SKU_CHARACTERS_MAX) {
    return rejected('id_too_long', `the id has more than ${SKU_CHARACTERS_MAX} characters`)
  }
  const title = cutText(plainText(fields.title), TITLE_CHARACTERS_MAX)
  if (title === '') return rejected('title_missing', 'the title is empty')
  const link = checkLink(fields.link, context)
  if (link.kind === 'rejected') return link
  const notes: Note[] = []
  const price = checkPrice(fields, context, notes)
  if (price.kind === 'rejected') return price
  const offer: OfferContent = {
    sku,
    ...gtinOf(fields.gtin, notes),
    title,
    brand: wordsOf(fields.brand),
    mpn: codeOf(fields.mpn),
    url: link.text,
    urlKeyHex: hexKeyOfUrl(link.url),
    imageUrl: imageOf(fields.imageLink, notes),
    priceMicros: price.micros,
    regularPriceMicros: price.regular,
    isInStock: isInStock(fields, notes),
    categoryId: readCategory(withoutEntities(withoutEmptyWord(fields.category))),
    description: wordsOf(fields.description, DESCRIPTION_CHARACTERS_MAX),
    color: wordsOf(fields.color),
    size: wordsOf(fields.size),
    itemGroupId: codeOf(fields.itemGroupId),
  }
  return { kind: 'offer', offer, notes }
}

/** The id under which a product is stored. */
export function skuOf(written: string): string {
  return cleanText(withoutEmptyWord(written))
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
  if (url === null)
    return rejected(
      'link_invalid',
      `the link is ${shown(text)}; it must be an absolute http or https URL`,
    )
  const kept = headerSafe(text, url)
  // Not as written: wrappers and redirects carry the stored form.
  if (!fitsUrlLimits(kept)) {
    const rule = `more than ${MAX_URL_CHARACTERS} characters, percent-encoded`
    return rejected('link_too_long', `the link has ${rule}`)
  }
  const host = siteHost(url)
  if (!domains.some((domain) => isOnDomain(host, domain))) {
    return rejected(
      'link_foreign_host',
      `the link is on ${shown(host)}, which is none of the merchant's domains`,
    )
  }
  return { kind: 'link', url, text: kept }
}

const NUMERIC_ENTITY = /&#(?:x0{0,20}([\da-f]{1,6})|0{0,20}(\d{1,7}));/gi

/** Tools that escape a feed's text escape its URLs too, some of them twice. */
function addressText(written: string): string {
  const text = withoutEmptyWord(written).trim()
  if (!text.includes('&')) return text
  const once = text.replace(/&(?:amp;)+/gi, '&')
  return once.replace(NUMERIC_ENTITY, (whole, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code >= SPACE && code <= CODE_POINT_MAX ? String.fromCodePoint(code) : whole
  })
}

const CODE_POINT_MAX = 0x10ffff

// Printable ASCII: characters that a Location header may contain unchanged.
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

function checkPrice(fields: FeedFields, context: FeedContext, notes: Note[]): Price | Rejected {
  const named = withoutEmptyWord(fields.currency)
  const usual =
    named === '' ? context.currency : readCurrency(currencyWords(named), context.currency)
  const price = readPrice(fields.price, usual)
  if (price.kind !== 'price') {
    const isEmpty = withoutEmptyWord(fields.price) === '' && !NOT_STATED.test(fields.price)
    const fault = isEmpty ? ({ kind: 'price_missing', why: '' } as const) : price
    return rejected(fault.kind, priceFault(fields.price, fault))
  }
  const currency = price.currency ?? usual
  if (currency === undefined) {
    return rejected('currency_unknown', `the currency is ${shown(fields.currency)}${NO_CURRENCY}`)
  }
  const regular = context.toDollars(price.amount, currency)
  if (regular === null) {
    return rejected('currency_other', `the price is in ${currency}, whose rate is not known today`)
  }
  // Less than a micro-dollar is nothing that a product costs.
  if (regular === 0) {
    return rejected('price_zero', priceFault(fields.price, { kind: 'price_zero', why: '' }))
  }
  if (currency !== DOLLAR) notes.push({ note: 'price_converted' })
  const isNamed = named.trim() !== '' || CURRENCY_BESIDE.test(fields.price)
  if (context.isCurrencyAssumed && !isNamed) {
    notes.push({ note: 'currency_assumed', value: currency })
  }
  if (withoutEmptyWord(fields.salePrice).trim() === '') {
    return { kind: 'price', micros: regular, regular: null }
  }
  const sale = saleMicros(fields, context, currency)
  if (sale === 'unreadable') notes.push({ note: 'sale_dates_unreadable' })
  else if (sale === null) notes.push({ note: 'sale_ignored' })
  else if (sale > 0 && sale < regular) return { kind: 'price', micros: sale, regular }
  else notes.push({ note: 'sale_ignored' })
  return { kind: 'price', micros: regular, regular: null }
}

const NO_CURRENCY = ', which is not a currency in use; write a code such as EUR'

/** The fault of a price, and how to write it. */
function priceFault(written: string, { kind, why }: { kind: PriceFault; why: string }): string {
  const price = `the price is ${shown(written)}`
  switch (kind) {
    case 'price_missing':
      return 'the price is empty'
    case 'price_unparsable':
      return `${price}; it ${why}; write one amount, such as "1299.00 EUR"`
    case 'currency_unknown':
      return `${price}${NO_CURRENCY}`
    default:
      return `${price}; it must be above zero`
  }
}

/** The sale price in micros; null when invalid or outside its dates. */
function saleMicros(
  fields: FeedFields,
  { atMs, toDollars }: FeedContext,
  currency: string,
): Micros | null | 'unreadable' {
  const sale = readPrice(fields.salePrice, currency)
  if (sale.kind !== 'price' || sale.currency !== currency) return null
  const { salePriceDates: range, saleStart: start, saleEnd: end } = fields
  const state =
    range === '' && start === '' && end === '' ? 'running' : saleState({ range, start, end }, atMs)
  if (state === 'unreadable') return state
  return state === 'running' ? toDollars(sale.amount, currency) : null
}

function gtinOf(cell: string, notes: Note[]): { gtin14: string | null; gtinText: string | null } {
  const written = withoutEmptyWord(cell)
  const gtin = readGtin(written)
  if (gtin.kind !== 'valid') notes.push({ note: `gtin_${gtin.kind}` })
  const gtinText = cutText(cleanText(written), SHORT_CHARACTERS_MAX) || null
  return { gtin14: joinableGtin14(gtin), gtinText }
}

/** The start of a further URL in a cell: commas, bars and blanks may be part of a URL. */
const NEXT_URL = /["']?[\s,;|]+["']?(?=https?:\/\/)|["']?[,;|]?\s+["']?(?=\/\/)/i

/** The first image of a cell with several. */
function imageOf(written: string, notes: Note[]): string | null {
  // A list of JSON in a cell escapes its slashes.
  const cell = addressText(written).replaceAll('\\/', '/')
  if (cell === '') return null
  const isOne = cell.startsWith('http') && cell.indexOf('//') === cell.lastIndexOf('//')
  for (const part of isOne ? [cell] : cell.split(NEXT_URL, IMAGES_TRIED)) {
    const bare = part.replace(/["'\s,;|\]]+$/, '').replace(/^[["'\s,;|]+/, '')
    const text = bare.startsWith('//') ? `https:${bare}` : bare
    const url = parseWebUrl(text)
    if (url !== null && fitsUrlLimits(text)) return headerSafe(text, url)
  }
  notes.push({ note: 'image_invalid' })
  return null
}

const IMAGES_TRIED = 10

function isInStock(fields: FeedFields, notes: Note[]): boolean {
  const written = NOT_STATED.test(fields.availability)
    ? fields.availability
    : withoutEmptyWord(fields.availability)
  const isAvailable = readAvailability(written)
  if (isAvailable === null) {
    const value = cutText(cleanText(written).toLowerCase(), WORD_CHARACTERS_MAX)
    notes.push({ note: 'availability_unknown', value })
  }
  const { forSale, preOrder } = fields
  if (forSale !== '' && readAvailability(withoutEmptyWord(forSale)) === false) return false
  // An empty cell has no effect; `1`, `yes` and `preorder` mean that the product is not available
  // yet.
  if (withoutEmptyWord(preOrder).trim() === '') return isAvailable ?? false
  if (PRE_ORDER.test(preOrder) || readAvailability(preOrder) === true) return false
  return isAvailable ?? false
}

/** As a price or availability these words have a meaning; elsewhere they mean an empty cell. */
const NOT_STATED = /^\s*(?:n[./]?a\.?|[-–—]+)\s*$/i
const PRE_ORDER = /^\s*pre.?order/i
const WORD_CHARACTERS_MAX = 40

function codeOf(text: string): string | null {
  return cutText(cleanText(withoutEmptyWord(text)), SHORT_CHARACTERS_MAX) || null
}

function wordsOf(text: string, charactersMax = SHORT_CHARACTERS_MAX): string | null {
  return cutText(plainText(text), charactersMax) || null
}

const INLINE_TAG =
  /<\/?(?:a|abbr|b|big|code|del|em|font|i|ins|kbd|mark|s|samp|small|span|strike|strong|sub|sup|tt|u|var)(?:\s[^<>]{0,1000})?\/?>/gi
const TAG =
  /<!--.{0,10000}?-->|<(style|script)\b.{0,10000}?<\/\1>|<\/?(?:address|article|blockquote|br|button|caption|center|col|colgroup|dd|div|dl|dt|figure|font|footer|form|h[1-6]|header|hr|iframe|img|input|label|li|link|main|meta|nav|ol|option|p|picture|pre|section|select|style|script|svg|table|tbody|td|tfoot|th|thead|title|tr|ul|video|wbr)(?:\s[^<>]{0,1000})?\/?>/gis

/** A text without entities and without the tags of HTML. */
function plainText(written: string): string {
  const once = withoutEntities(withoutEmptyWord(written))
  const text = once.includes('&') && ESCAPED_TWICE.test(once) ? withoutEntities(once) : once
  if (!text.includes('<')) return cleanText(text)
  const bare = text.replace(CDATA, '$1').replace(INLINE_TAG, '').replace(TAG, ' ')
  return cleanText(bare)
}

/** Entities that remain when a text was escaped twice. */
const ESCAPED_TWICE = /&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[\da-f]{1,6});/i
/** A section that was escaped, or written where no XML is. */
const CDATA = /<!\[CDATA\[(.{0,10000}?)\]\]>/gs

function withoutEntities(text: string): string {
  return text.includes('&') ? decodeHTMLStrict(text) : text
}

// Anything but single spaces between words; PostgreSQL takes no NUL at all.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed.
const UNCLEAN = /[\s\u0000-\u001f\u007f]+/g

function cleanText(text: string): string {
  return isClean(text) ? text : text.toWellFormed().replace(UNCLEAN, ' ').trim()
}

/** A fast check that accepts nearly every text; false only means a closer look. */
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
