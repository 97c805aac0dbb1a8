/** What the demo's shops sold on an earlier day, and at which price. */
import { type DemoMerchant, type DemoOffer, MERCHANTS, offersOf, soldOutGtins } from '../network.ts'
import { scatter } from '../products.ts'

/** One shop had nothing to sell between these days, both inclusive. */
const CLOSED = { slug: 'larder-and-loom', fromDaysAgo: 24, toDaysAgo: 20 }
/** The last one was sold on this day. */
export const SOLD_OUT_DAYS_AGO = 9
/** Days on which shops change prices; each shop follows two of them. */
const PRICE_DAYS_AGO = [44, 33, 17, 6] as const
const PRICE_SWING = 0.09

/** A merchant's offers as of a day; day 0 is that of the pages that the demo shows. */
export function pastOffers(merchant: DemoMerchant, daysAgo: number): DemoOffer[] {
  const soldOut = soldOutGtins(merchant)
  const isClosed =
    merchant.slug === CLOSED.slug && daysAgo <= CLOSED.fromDaysAgo && daysAgo >= CLOSED.toDaysAgo
  return offersOf(merchant).map((offer) => {
    const isSoldLater = soldOut.has(offer.product.gtin) && daysAgo > SOLD_OUT_DAYS_AGO
    const isInStock = (offer.isInStock || isSoldLater) && !isClosed
    return { ...offer, isInStock, priceCents: priceOf(offer, daysAgo) }
  })
}

/** The merchants whose feed is another one than the day before. */
export function changedFeeds(daysAgo: number): DemoMerchant[] {
  return MERCHANTS.filter((merchant) => {
    const isOfClosing =
      merchant.slug === CLOSED.slug &&
      (daysAgo === CLOSED.fromDaysAgo || daysAgo === CLOSED.toDaysAgo - 1)
    const isOfSelling = daysAgo === SOLD_OUT_DAYS_AGO && soldOutGtins(merchant).size > 0
    return isOfClosing || isOfSelling || priceDaysOf(merchant).includes(daysAgo)
  })
}

function priceDaysOf(merchant: DemoMerchant): number[] {
  const place = MERCHANTS.indexOf(merchant)
  return PRICE_DAYS_AGO.filter((_, index) => index % 2 === place % 2)
}

/** In half dollars around the present price, which holds since the last change. */
function priceOf({ merchant, product, priceCents }: DemoOffer, daysAgo: number): number {
  const changesAhead = priceDaysOf(merchant).filter((day) => day < daysAgo).length
  if (changesAhead === 0) return priceCents
  const place = Number(product.gtin.slice(5, 12)) * 7 + changesAhead * 3
  const factor = 1 + PRICE_SWING * (2 * scatter(place) - 1)
  return Math.max(100, Math.round((priceCents * factor) / 50) * 50)
}
