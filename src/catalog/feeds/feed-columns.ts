/**
 * Maps the columns of a feed to our fields.
 *
 * Feeds use different names for the same field (`image_link`, `Image Link`, `g:image_link`,
 * `imageUrl`). Names are compared without case, spaces, underscores and hyphens, and without the
 * `g:` of Google's namespace.
 */

import { readColumnName } from '../../platform/money/header-currency.ts'
import { CURRENCY_BESIDE } from '../../platform/money/read-currency.ts'
import { snakeCase } from '../../platform/text/snake-case.ts'
import { withoutEmptyWord } from './empty-words.ts'

/** The texts of one row; empty when the feed has none. */
export interface FeedFields {
  readonly id: string
  readonly title: string
  readonly link: string
  readonly imageLink: string
  readonly price: string
  readonly salePrice: string
  readonly salePriceDates: string
  readonly saleStart: string
  readonly saleEnd: string
  readonly currency: string
  readonly availability: string
  /** Marks a product that is listed but not for sale. */
  readonly forSale: string
  /** Marks a product that can only be pre-ordered. */
  readonly preOrder: string
  readonly brand: string
  readonly gtin: string
  readonly mpn: string
  readonly category: string
  readonly description: string
  readonly color: string
  readonly size: string
  readonly itemGroupId: string
}

export type FieldName = keyof FeedFields

// For each field the names that mean it, the surest first: where a feed has two, the first wins.
// Google's names come first, then those of shop systems, then those of affiliate networks.
const NAMES: Readonly<Record<FieldName, readonly string[]>> = {
  id: words(
    'id itemid productid sku offerid articlenumber guid merchantproductid uniquemerchantsku ' +
      'productsku itemnumber articleid variantid variantsku articleno itemsku productcode ' +
      'merchantsku skunumber',
  ),
  title: words('title name productname producttitle itemtitle itemname articlename'),
  link: words(
    'link url producturl productlink deeplink merchantdeeplink itemurl pageurl linkurl ' +
      'productpageurl canonicalurl buyurl merchantproducturl',
  ),
  imageLink: words(
    'imagelink imageurl image mainimage productimage picture merchantimageurl images imageurls ' +
      'imagelinks pictures picturelink pictureurl imgurl img imagesrc mainimageurl mainimagelink ' +
      'largeimage thumbnail',
  ),
  price: words(
    'price regularprice currentprice itemprice retailprice searchprice pricevat priceamount ' +
      'unitprice sellingprice listprice grossprice pricewithvat pricegross productprice originalprice',
  ),
  salePrice: words(
    'saleprice specialprice discountprice offerprice discountedprice promotionalprice promoprice ' +
      'promotionprice reducedprice actionprice dealprice',
  ),
  salePriceDates: words('salepriceeffectivedate salepricedate'),
  saleStart: words('pricevalidfrom'),
  saleEnd: words('pricevaliduntil'),
  currency: words('currency pricecurrency currencycode currencyid'),
  availability: words(
    'availability stockstatus instock stock isinstock stockavailability availabilitystatus ' +
      'inventorystatus productavailability available isavailable stockquantity quantity qty ' +
      'inventory inventoryquantity quantityinstock stocklevel stockqty',
  ),
  forSale: words('isforsale forsale availableforsale issellable sellable buyable ispurchasable'),
  preOrder: words('preorder ispreorder'),
  brand: words('brand manufacturer brandname vendor manufacturername make productbrand'),
  gtin: words(
    'gtin gtin14 gtin13 gtin12 gtin8 ean upc isbn barcode eancode upccode productgtin ean13 gtins ' +
      'ean8 upca isbn13 jan globaltradeitemnumber uniqueproductcode barcodes',
  ),
  mpn: words('mpn manufacturerpartnumber partnumber modelnumber manufacturersku mfpn'),
  category: words('googleproductcategory googlecategory googleproductcategoryid'),
  description: words('description productdescription longdescription shortdescription'),
  color: words('color colour colors colours productcolor variantcolor'),
  size: words('size sizes productsize variantsize'),
  itemGroupId: words(
    'itemgroupid parentproductid parentid parentsku productgroupid variantgroupid parentitemid ' +
      'mastersku groupid',
  ),
}

function words(text: string): string[] {
  return text.split(' ')
}

// Columns of sale dates have too many names to list: what begins or ends, a sale, and a date, in
// any order that shop systems use (`special_from_date`, `Date sale price starts`).
const SALE =
  '(?:sale|special|promo|promotion|promotional|discount|discounted|reduced|offer|deal|action)'
const PRICE = '(?:prices?)?(?:effective|valid|validity|active)?'
const DATE = '(?:dates?|datetime|time|day|period)?'
const START = '(?:from|starts?|starting|begins?|beginning|since)'
const END = '(?:to|ends?|ending|until|till|through|thru|expires?|expiry|expiration)'
const REST = '(?:dates?|datetime|time|day|at|on|gmt|utc)*'
const edge = (side: string) =>
  new RegExp(
    `^(?:${DATE}(?:on|of)?${SALE}${PRICE}${DATE}${side}${REST}|${side}${REST}(?:of)?${SALE}${PRICE})$`,
  )
const PATTERNS: readonly (readonly [RegExp, FieldName])[] = [
  [edge(START), 'saleStart'],
  [edge(END), 'saleEnd'],
  [
    new RegExp(
      `^${SALE}${PRICE}(?:dates?|datetime|period|interval|duration)(?:range|interval)?s?$`,
    ),
    'salePriceDates',
  ],
]

export const FIELDS = Object.keys(NAMES) as FieldName[]

/** A row without any value. */
export const NO_FIELDS = everyField('')

function everyField<T>(value: T): Record<FieldName, T> {
  return Object.fromEntries(FIELDS.map((field) => [field, value])) as Record<FieldName, T>
}

function normalName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^g:/, '')
    .replace(/[\s_?-]+/g, '')
}

/** A field, and the rank of a name for it (0 is best). */
export interface FoundField {
  readonly field: FieldName
  readonly rank: number
  /** The currency in the name of a price, `Price (EUR)`. */
  readonly unit?: string
  /** Another field that the same name means. */
  readonly also?: FoundField
}

export interface FieldFinder {
  (name: string): FoundField | null
  /** The names that were looked up, with what they mean. */
  readonly met: ReadonlyMap<string, FoundField | null>
}

/** Our fields, and the feed's columns for them; set by the operator, see readFeedMap. */
export type FeedMap = Readonly<Partial<Record<FieldName, readonly string[]>>>

const REMEMBERED_NAMES_MAX = 1_000 // A hostile feed may contain millions.

/**
 * Looks up names, first in the feed's own map. Remembers what it found, because a feed of objects
 * repeats the names in each.
 */
export function fieldFinder(map: FeedMap = {}): FieldFinder {
  const mapped = mappedNames(map)
  const remembered = new Map<string, FoundField | null>()
  const find = (name: string): FoundField | null => {
    let found = remembered.get(name)
    if (found === undefined) {
      found = mapped.get(name.trim().toLowerCase()) ?? mapped.get(normalName(name)) ?? null
      found ??= knownField(name)
      if (remembered.size < REMEMBERED_NAMES_MAX) remembered.set(name, found)
    }
    return found
  }
  return Object.assign(find, { met: remembered })
}

/** A column of a feed, and the field that it is read as; null: it is ignored. */
export interface FoundColumn {
  readonly name: string
  readonly field: FieldName | null
}

/** Feeds have some dozens of columns. */
const SHOWN_COLUMNS_MAX = 200
const SHOWN_NAME_LENGTH_MAX = 200

/** The columns of a header, for people who map them by hand. */
export function describeColumns(
  names: Iterable<string>,
  fieldOf: FieldFinder,
): readonly FoundColumn[] {
  return [...new Set(names)]
    .filter((name) => name.trim() !== '' && name.length <= SHOWN_NAME_LENGTH_MAX)
    .slice(0, SHOWN_COLUMNS_MAX)
    .map((name) => ({ name, field: fieldOf(name)?.field ?? null }))
}

/** The names that items of XML and JSON lines have. Attributes without a meaning are left out. */
export function columnsMet(fieldOf: FieldFinder): readonly FoundColumn[] {
  const names = [...fieldOf.met].filter(([name, found]) => found !== null || !name.startsWith('@'))
  return describeColumns(
    names.map(([name]) => name),
    fieldOf,
  )
}

/** A name in the map has only the meaning that the map gives it. */
function mappedNames(map: FeedMap): Map<string, FoundField> {
  const mapped = new Map<string, FoundField>()
  for (const field of FIELDS) {
    for (const [index, name] of (map[field] ?? []).entries()) {
      const rank = index - MAPPED_RANKS
      for (const key of new Set([name.trim().toLowerCase(), normalName(name)])) {
        const other = mapped.get(key)
        mapped.set(key, { field, rank, ...(other === undefined ? {} : { also: other }) })
      }
    }
  }
  return mapped
}

const MAPPED_RANKS = 1_000 // Ranks before all others.
const PATTERN_RANK = 100
const UNIT_RANK = 150
const QUALIFIED_RANK = 200

/** `Fashion:size`, as networks name the columns of one trade, is `size` where nothing else is. */
function knownField(name: string): FoundField | null {
  const normal = normalName(name)
  const found = FIELD_BY_NAME.get(normal) ?? fieldByPattern(normal) ?? priceWithUnit(name)
  const colon = normal.lastIndexOf(':')
  if (found !== null || colon === -1) return found
  const qualified = FIELD_BY_NAME.get(normal.slice(colon + 1))
  return qualified === undefined ? null : { field: qualified.field, rank: QUALIFIED_RANK }
}

const PRICES: ReadonlySet<FieldName> = new Set(['price', 'salePrice'])

/** `Price (EUR)`, `sale_price_eur`: every price of the column is in that currency. */
function priceWithUnit(written: string): FoundField | null {
  const { name, currency } = readColumnName(written)
  const found = currency.length === 0 ? undefined : FIELD_BY_NAME.get(normalName(name))
  if (found === undefined || !PRICES.has(found.field)) return null
  return { field: found.field, rank: UNIT_RANK + found.rank, unit: currency.join(' ') }
}

/** A price with the currency named beside it; a currency in its own text wins. */
export function withUnit(price: string, unit: string | undefined): string {
  if (unit === undefined || withoutEmptyWord(price).trim() === '') return price
  return CURRENCY_BESIDE.test(price) ? price : `${price.trim()} ${unit}`
}

function fieldByPattern(normal: string): FoundField | null {
  if (normal.length > 60) return null
  const field = PATTERNS.find(([pattern]) => pattern.test(normal))?.[1]
  return field === undefined ? null : { field, rank: PATTERN_RANK }
}

/** Networks write `soldout` beside a column that counts stock. Such a product is not sold. */
const STATUS: FoundField = {
  field: 'availability',
  rank: NAMES.availability.length,
  also: { field: 'forSale', rank: NAMES.forSale.length },
}

const FIELD_BY_NAME: ReadonlyMap<string, FoundField> = new Map([
  ...FIELDS.flatMap((field) => NAMES[field].map((name, rank) => [name, { field, rank }] as const)),
  ['status', STATUS],
  ['productstatus', STATUS],
])

/** The field that a name of a map means: ours, Google's, or any other that is known. */
export function fieldOfMapName(name: string): FieldName | null {
  const own = FIELDS.find((field) => field === name || snakeCase(field) === name)
  return own ?? knownField(name)?.field ?? null
}

export interface Columns {
  /** The position of each field in a row of cells; -1 when the feed has no such column. */
  readonly first: Readonly<Record<FieldName, number>>
  /** Further columns for the same field, best first: for rows whose first cell is empty. */
  readonly spare: readonly Column[]
  /** The first columns whose name has a currency. */
  readonly priced: readonly Column[]
}

interface Column {
  readonly field: FieldName
  readonly index: number
  readonly unit?: string | undefined
}

const NEEDED = ['id', 'title', 'link', 'price'] as const
const SHOWN_NAMES: Readonly<Record<(typeof NEEDED)[number], string>> = {
  id: 'id (or sku, product_id)',
  title: 'title (or name, product_name)',
  link: 'link (or url, product_url)',
  price: 'price (or regular_price, search_price)',
}

/** Finds the fields in a row of names. */
export function findColumns(header: readonly string[], fieldOf: FieldFinder): Columns {
  const found: (Column & { readonly rank: number })[] = []
  for (const [index, name] of header.entries()) {
    for (let one = fieldOf(name) ?? undefined; one !== undefined; one = one.also) {
      found.push({ field: one.field, rank: one.rank, index, unit: one.unit })
    }
  }
  const first = everyField(-1)
  const spare: Column[] = []
  const priced: Column[] = []
  for (const { field, index, unit } of found.sort((a, b) => a.rank - b.rank)) {
    if (first[field] !== -1) spare.push({ field, index, unit })
    else {
      first[field] = index
      if (unit !== undefined) priced.push({ field, index, unit })
    }
  }
  return { first, spare, priced }
}

/** Columns that every offer needs, each with names for it. */
export function missingColumns({ first }: Columns): string[] {
  return NEEDED.filter((field) => first[field] === -1).map((field) => SHOWN_NAMES[field])
}

/** The fields of a row of cells. */
export function readCells(cells: readonly string[], { first, spare, priced }: Columns): FeedFields {
  const fields = {
    id: cells[first.id] ?? '',
    title: cells[first.title] ?? '',
    link: cells[first.link] ?? '',
    imageLink: cells[first.imageLink] ?? '',
    price: cells[first.price] ?? '',
    salePrice: cells[first.salePrice] ?? '',
    salePriceDates: cells[first.salePriceDates] ?? '',
    saleStart: cells[first.saleStart] ?? '',
    saleEnd: cells[first.saleEnd] ?? '',
    currency: cells[first.currency] ?? '',
    availability: cells[first.availability] ?? '',
    forSale: cells[first.forSale] ?? '',
    preOrder: cells[first.preOrder] ?? '',
    brand: cells[first.brand] ?? '',
    gtin: cells[first.gtin] ?? '',
    mpn: cells[first.mpn] ?? '',
    category: cells[first.category] ?? '',
    description: cells[first.description] ?? '',
    color: cells[first.color] ?? '',
    size: cells[first.size] ?? '',
    itemGroupId: cells[first.itemGroupId] ?? '',
  }
  for (const { field, unit } of priced) fields[field] = withUnit(fields[field], unit)
  for (const { field, index, unit } of spare) {
    if (withoutEmptyWord(fields[field]) !== '') continue
    fields[field] = withUnit(cells[index] || fields[field], unit)
  }
  return fields
}
