import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Check } from 'typebox/value'
import fc from '../../test/support/fast-check.ts'
import { answerWriter } from './answer.ts'
import type { AuctionResult } from './auction-result.ts'
import type { OfferRow } from './link-store.ts'
import type { Campaign, Merchant } from './market.ts'
import { AuctionEntry } from './schema.ts'

/** Quotes, backslashes, line ends, lone surrogates: anything a feed or an article may contain. */
const text = fc.string({ unit: 'binary' }).map((random) => `"\\\u2028${random}`)
const texts = fc.array(text, { maxLength: 2 })
/** The winning campaign, as far as an answer shows it. */
const winners = fc
  .record({ tracker_impression: texts, tracker_viewable: texts })
  .map((shown) => shown as unknown as Campaign)
const merchant = {
  merch_id: 9,
  name: 'Pans "& more"',
  domains: ['pans.example'],
  click_param: 'cid',
  deep_link: null,
  feed_imported_at: null,
} satisfies Merchant

const offer = fc.record<OfferRow>({
  offer_id: fc.constant('5'),
  merch_id: fc.constant(9),
  product_id: fc.constant('9521000000018'),
  title: text,
  url: text.map((random) => `https://www.pans.example/p?q=${random}`),
  image_url: fc.option(text),
  price_micros: fc.constant('49000000'),
  is_in_stock: fc.boolean(),
  category_id: fc.option(fc.integer({ min: 1 })),
})

test('an answer is JSON of the documented form, whatever feeds and articles contain', () => {
  const writeAnswer = answerWriter({
    brand: 'service',
    auctionUrl: 'https://bid.example/souk',
    edge: { market: { merchants: new Map([[merchant.merch_id, merchant]]) } },
  })
  fc.assert(
    fc.property(fc.option(offer), text, fc.option(winners), (product, url, campaign) => {
      const held: AuctionResult = {
        url,
        product,
        receipt: null,
        counted: null,
        winner: campaign && { campaign, merchant, offer: product },
        result: { consent: 1 } as AuctionResult['result'],
      }
      const uuid = '7e6f3a52-3c9f-4d0b-9d25-2a4f6d1c0a11'
      const binding = { auctionId: '381000000000000001', uidService: '5', url, uuid }
      const answer = JSON.parse(writeAnswer(held, 'AQ-_x', binding))

      assert.deepEqual(answer.info, { error: false, status: 200 })
      assert.equal(answer.data.length, 1)
      const [entry] = answer.data
      assert.ok(Check(AuctionEntry, entry))
      const address = new URL(entry.auction_result.redirect_url)
      assert.equal(address.origin + address.pathname, 'https://bid.example/souk/api/v1/redirect/')
      assert.deepEqual(Object.fromEntries(address.searchParams), {
        ...{ a: '381000000000000001', uid_service: '5', ar: 'AQ-_x' },
        ...{ url: url.toWellFormed(), uuid },
      })
      const pixel = new URL(entry.impression_pixel_url)
      assert.equal(pixel.pathname, '/souk/api/v1/pixel/')
      assert.equal(pixel.search, address.search)
      assert.equal(entry.auction_result.id, 'AQ-_x')
      assert.equal(entry.auction_result.auction_id, '381000000000000001')
      assert.equal(entry.auction_result.product?.name, product?.title)
      assert.equal(
        entry.auction_result.product?.merchant.name,
        product ? 'Pans "& more"' : undefined,
      )
      const { tracker_impression: impression = [], tracker_viewable: viewable = [] } =
        campaign ?? {}
      assert.deepEqual(
        entry.auction_result.tracker_urls,
        impression.length + viewable.length > 0
          ? { impression, viewable_impression: viewable }
          : undefined,
      )
      assert.equal(entry.has_winner, campaign !== null)
    }),
  )
})

test('shows a merchant’s host in its own letters', () => {
  const shop = { ...merchant, domains: ['xn--bcher-kva.example'] }
  const writeAnswer = answerWriter({
    brand: 'service',
    auctionUrl: 'https://bid.example',
    edge: { market: { merchants: new Map([[shop.merch_id, shop]]) } },
  })
  const product: OfferRow = {
    ...{ offer_id: '5', merch_id: 9, product_id: '7', title: 'B', image_url: null },
    ...{ url: 'https://www.xn--bcher-kva.example/p', price_micros: '1', is_in_stock: true },
    category_id: null,
  }
  const result = { consent: 1 } as AuctionResult['result']
  const held: AuctionResult = {
    url: product.url,
    product,
    receipt: null,
    counted: null,
    winner: null,
    result,
  }
  const binding = { auctionId: '1', uidService: '5', url: product.url, uuid: '' }
  const [entry] = JSON.parse(writeAnswer(held, 'x', binding)).data
  const { canonical_host, url } = entry.auction_result.product.merchant
  assert.equal(canonical_host, 'bücher.example')
  assert.equal(url, 'https://www.xn--bcher-kva.example/')
})
