/**
 * Which column of a feed is which?
 *
 * Feeds name the same things differently (`image_link`, `Image Link`, `g:image_link`,
 * `imageUrl`). A name is compared without case, spaces, underscores and hyphens, and without the
 * `g:` of Google's namespace.
 */

/** What is read of one row, as text; empty when the feed does not say. */
export interface FeedFields {
  readonly id: string
  readonly title: string
  readonly link: string
  readonly imageLink: string
  readonly price: string
  readonly salePrice: string
  readonly salePriceDates: string
  readonly currency: string
  readonly availability: string
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
// Behind Google's names and shop systems' own come those of affiliate networks (Awin, Impact).
const NAMES: Readonly<Record<FieldName, readonly string[]>> = {
  id: [
    'id',
    'itemid',
    'productid',
    'sku',
    'offerid',
    'articlenumber',
    'guid',
    'merchantproductid',
    'uniquemerchantsku',
  ],
  title: ['title', 'name', 'productname', 'producttitle', 'itemtitle'],
  link: ['link', 'url', 'producturl', 'productlink', 'deeplink', 'merchantdeeplink'],
  imageLink: [
    'imagelink',
    'imageurl',
    'image',
    'mainimage',
    'productimage',
    'picture',
    'merchantimageurl',
  ],
  price: ['price', 'regularprice', 'currentprice', 'itemprice', 'retailprice', 'searchprice'],
  salePrice: ['saleprice', 'specialprice', 'discountprice', 'offerprice'],
  salePriceDates: ['salepriceeffectivedate', 'salepricedate'],
  currency: ['currency', 'pricecurrency', 'currencycode'],
  availability: [
    'availability',
    'stockstatus',
    'instock',
    'stock',
    'isinstock',
    'stockavailability',
  ],
  brand: ['brand', 'manufacturer', 'brandname', 'vendor'],
  gtin: [
    'gtin',
    'gtin14',
    'gtin13',
    'gtin12',
    'gtin8',
    'ean',
    'upc',
    'isbn',
    'barcode',
    'eancode',
    'upccode',
  ],
  mpn: ['mpn', 'manufacturerpartnumber', 'partnumber'],
  category: ['googleproductcategory', 'googlecategory'],
  description: ['description', 'productdescription', 'longdescription', 'shortdescription'],
  color: ['color', 'colour', 'colors', 'colours'],
  size: ['size', 'sizes'],
  itemGroupId: ['itemgroupid'],
}

const FIELDS = Object.keys(NAMES) as FieldName[]

/** A row of which the feed says nothing. */
export const NO_FIELDS = everyField('')

function everyField<T>(value: T): Record<FieldName, T> {
  return Object.fromEntries(FIELDS.map((field) => [field, value])) as Record<FieldName, T>
}

function normalName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^g:/, '')
    .replace(/[\s_-]+/g, '')
}

/** A field, and how surely a name means it (0 first). */
export interface FoundField {
  readonly field: FieldName
  readonly rank: number
}

const REMEMBERED_NAMES_MAX = 1_000 // A feed repeats a few dozen names; one may invent millions.

/** Looks names up; remembers what it found, because a feed of objects repeats them in each. */
export function fieldFinder(): (name: string) => FoundField | null {
  const remembered = new Map<string, FoundField | null>()
  return (name) => {
    let found = remembered.get(name)
    if (found === undefined) {
      found = FIELD_BY_NAME.get(normalName(name)) ?? null
      if (remembered.size < REMEMBERED_NAMES_MAX) remembered.set(name, found)
    }
    return found
  }
}

const FIELD_BY_NAME: ReadonlyMap<string, FoundField> = new Map(
  FIELDS.flatMap((field) => NAMES[field].map((name, rank) => [name, { field, rank }] as const)),
)

export interface Columns {
  /** Where each field stands in a row of cells; -1 when the feed has no such column. */
  readonly first: Readonly<Record<FieldName, number>>
  /** Further columns that mean the same, the surest first: for rows whose first cell is empty. */
  readonly spare: readonly { readonly field: FieldName; readonly index: number }[]
}

const NEEDED = ['id', 'title', 'link', 'price'] as const

/** Finds the fields in a row of names. */
export function findColumns(header: readonly string[]): Columns {
  const found = header.flatMap((name, index) => {
    const field = FIELD_BY_NAME.get(normalName(name))
    return field === undefined ? [] : [{ ...field, index }]
  })
  const first = everyField(-1)
  const spare: { field: FieldName; index: number }[] = []
  for (const { field, index } of found.sort((a, b) => a.rank - b.rank)) {
    if (first[field] === -1) first[field] = index
    else spare.push({ field, index })
  }
  return { first, spare }
}

/** The columns without which no row of a feed can become an offer. */
export function missingColumns({ first }: Columns): string[] {
  return NEEDED.filter((field) => first[field] === -1).map(
    (field) => `${field} (or ${NAMES[field].slice(1).join(', ')})`,
  )
}

/** The fields of a row of cells. */
export function readCells(cells: readonly string[], { first, spare }: Columns): FeedFields {
  const fields = {
    id: cells[first.id] ?? '',
    title: cells[first.title] ?? '',
    link: cells[first.link] ?? '',
    imageLink: cells[first.imageLink] ?? '',
    price: cells[first.price] ?? '',
    salePrice: cells[first.salePrice] ?? '',
    salePriceDates: cells[first.salePriceDates] ?? '',
    currency: cells[first.currency] ?? '',
    availability: cells[first.availability] ?? '',
    brand: cells[first.brand] ?? '',
    gtin: cells[first.gtin] ?? '',
    mpn: cells[first.mpn] ?? '',
    category: cells[first.category] ?? '',
    description: cells[first.description] ?? '',
    color: cells[first.color] ?? '',
    size: cells[first.size] ?? '',
    itemGroupId: cells[first.itemGroupId] ?? '',
  }
  for (const { field, index } of spare) {
    if (fields[field] === '') fields[field] = cells[index] ?? ''
  }
  return fields
}
