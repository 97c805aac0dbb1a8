/**
 * The response to an auction, as text.
 *
 * It is concatenated here because serializing it as a whole took a sixth of an auction. A product's
 * text is created once per offer. Two responses differ in ids and encoded URLs, which need no
 * escaping.
 */
import { formatCents } from '../platform/money/money.ts'
import { isOnDomain, parseWebUrl, unicodeHost } from '../platform/net/url.ts'
import { type AuctionResult, trackersOf } from './auction-result.ts'
import type { OfferRow } from './link-store.ts'
import type { Market, Merchant } from './market.ts'
import { redirectQuery } from './redirect-query.ts'
import type { Product } from './schema.ts'
import type { SealBinding } from './seal.ts'

export interface AnswerDeps {
  readonly brand: string
  readonly auctionUrl: string
  readonly edge: { readonly market: Pick<Market, 'merchants'> }
}

/** The body of a response with one entry: an auction, its sealed id, and the bound parameters. */
export type WriteAnswer = (auction: AuctionResult, id: string, binding: SealBinding) => string

export function answerWriter(deps: AnswerDeps): WriteAnswer {
  const products = new ShownProducts(deps)
  return (auction, id, binding) => {
    const query = redirectQuery(deps.brand, id, binding)
    const product = auction.product === null ? '' : `,"product":${products.textOf(auction.product)}`
    return (
      `{"info":{"error":false,"status":200},"data":[{"auction_result":{"id":"${id}",` +
      `"auction_id":"${binding.auctionId}",` +
      `"redirect_url":"${deps.auctionUrl}/api/v1/redirect/?${query}"` +
      `${product}${trackersText(auction)}},` +
      `"impression_pixel_url":"${deps.auctionUrl}/api/v1/pixel/?${query}",` +
      // Souk's own field: without a winner the product is the original's, and a page keeps its
      // text.
      `"has_winner":${auction.winner !== null}}]}`
    )
  }
}

function trackersText(auction: AuctionResult): string {
  const { impression, viewable } = trackersOf(auction)
  if (impression.length + viewable.length === 0) return ''
  return `,"tracker_urls":${JSON.stringify({ impression, viewable_impression: viewable })}`
}

/**
 * The key under which an offer caches its product; a WeakMap would pause the thread (decide.ts).
 */
const SHOWN = Symbol('shown')

interface ShownOffer extends OfferRow {
  [SHOWN]?: { readonly by: Merchant | undefined; readonly text: string }
}

/** Products of offers that this node holds: created once each, until their merchant changes. */
class ShownProducts {
  readonly #edge: AnswerDeps['edge']
  readonly #categoryField: string

  constructor({ brand, edge }: Pick<AnswerDeps, 'brand' | 'edge'>) {
    this.#edge = edge
    this.#categoryField = `${brand}_product_category_id`
  }

  textOf(offer: ShownOffer): string {
    const by = this.#edge.market.merchants.get(offer.merch_id)
    const known = offer[SHOWN]
    if (known !== undefined && known.by === by) return known.text
    const text = JSON.stringify(this.#show(offer, by))
    offer[SHOWN] = { by, text }
    return text
  }

  #show(offer: OfferRow, merchant: Merchant | undefined): Product {
    const url = parseWebUrl(offer.url)
    const host = url?.hostname ?? ''
    return {
      id: Number(offer.product_id),
      name: offer.title,
      price: formatCents(offer.price_micros),
      url: offer.url,
      ...(offer.image_url === null ? {} : { image_url: offer.image_url }),
      is_in_stock: offer.is_in_stock,
      ...(offer.category_id === null ? {} : { [this.#categoryField]: offer.category_id }),
      merchant: {
        id: offer.merch_id,
        // If a shop has several sites, the one that `url` belongs to.
        canonical_host: unicodeHost(
          merchant?.domains.find((domain) => isOnDomain(host, domain)) ?? host,
        ),
        name: merchant?.name ?? '',
        url: url === null ? '' : `${url.origin}/`,
      },
    }
  }
}
