import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PUBLISHER_DEFAULTS } from '../accounts/publisher.ts'
import { ARTICLES, type DemoOffer, MERCHANTS, offersOf, pickedOffer } from './network.ts'

test('every earning link of the demo leads to goods in stock, at its shop or at a rival with a similar price', () => {
  const offers = MERCHANTS.flatMap(offersOf)
  const most = 1 + PUBLISHER_DEFAULTS.tolerance_ppm / 1e6
  const stands = ({ product, priceCents }: DemoOffer, other: DemoOffer) =>
    other.product.gtin === product.gtin && other.isInStock && other.priceCents <= priceCents * most
  const earning = ARTICLES.flatMap(({ picks }) => picks.filter(({ fate }) => fate === undefined))
  const picked = earning.map(pickedOffer)
  assert.ok(picked.some(({ isInStock }) => !isInStock)) // At least one shows a repaired link.
  for (const offer of picked) {
    const isFound = offers.some((other) => stands(offer, other))
    assert.ok(isFound, offer.sku)
  }
})
