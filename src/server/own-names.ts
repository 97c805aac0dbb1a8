/** Puts this service’s URLs and brand word into documents, which are built once for all. */

export interface OwnNames {
  readonly baseUrl: string
  readonly auctionUrl: string
  readonly linkUrl: string
  readonly brand: string
}

/**
 * The places where built documents contain the brand word: schemes, parameters, fields, event
 * types.
 */
const BRAND_WORD = /SERVICE(?=-API-KEY)|service(?=_link_|_product_category_id)|(?<=uid_)service/g

/** The URLs that documents leave open, by their names in the interface. */
export function addressesOf(names: OwnNames): Readonly<Record<string, string>> {
  const { baseUrl, auctionUrl, linkUrl } = names
  return { '{base_url}': baseUrl, '{auction_url}': auctionUrl, '{link_url}': linkUrl }
}

export function inBrand(text: string, brand: string): string {
  const shout = brand.toUpperCase()
  return text.replace(BRAND_WORD, (word) => (word === 'SERVICE' ? shout : brand))
}

export function withOwnNames(text: string, names: OwnNames): string {
  const addresses = addressesOf(names)
  return inBrand(text, names.brand).replace(/\{\w+_url\}/g, (name) => addresses[name] ?? name)
}
