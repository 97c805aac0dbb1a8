import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON_MS, resultNumber } from '../../test/auction-world.ts'
import { LeaseBook, UNCAPPED_LEASE } from '../demand/lease.ts'
import { OutlookBook } from '../demand/outlook.ts'
import { PacingBook } from '../demand/pacing-book.ts'
import { CONSENT } from '../events/consent.ts'
import { DEVICE } from '../events/user-agent.ts'
import { Decider } from './decide.ts'
import type { LinkData, OfferRow } from './link-store.ts'
import { type Campaign, indexMarket, type Merchant, type Publisher } from './market.ts'

const DOLLAR = 1_000_000
const PUBLISHER: Publisher = {
  ...{ pub_id: 1, slug: 'daily', share_ppm: 750_000 },
  ...{ domains: [], floor_micros: '0', category_floors: [], tolerance_ppm: 50_000, beta: 1 },
  ...{ epsilon_ppm: 0, allow_merchants: [], block_merchants: [], allow_hosts: [] },
  ...{ consent_default: 'full', is_price_required: false },
}

const merchant = (merch_id: number): Merchant => ({
  ...{ merch_id, name: `M${merch_id}`, domains: [`m${merch_id}.example`], click_param: 'cid' },
  ...{ deep_link: null, feed_imported_at: null },
})

const campaign = (campaign_id: number, merch_id: number, dollars: number): Campaign => ({
  ...{ campaign_id, merch_id, model: 'cpc', bid_micros: String(dollars * DOLLAR) },
  ...{ exclusive_bid_micros: null, rate_ppm: null, payment_micros: null, roas: null },
  ...{ daily_budget_micros: null, budget_micros: null, starts_at: null, ends_at: null },
  ...{ countries: [], devices: [], allow_publishers: [], block_publishers: [] },
  ...{ tracker_impression: [], tracker_viewable: [], state: 'active' },
})

const offer = (merch_id: number, dollars: number): OfferRow => ({
  ...{ offer_id: String(merch_id), merch_id, product_id: '1', sku: 'k', title: 'Kettle' },
  ...{ url: `https://m${merch_id}.example/p`, url_key: Buffer.alloc(1), image_url: null },
  ...{ price_micros: String(dollars * DOLLAR), is_in_stock: true, category_id: null },
})

/** A link to the page of the first offer's merchant. */
function linkTo(offers: readonly OfferRow[], isExclusive: boolean): LinkData {
  const [original = offer(1, 100)] = offers
  return {
    link: {
      ...{ auction_id: '1', pub_id: 1, url: original.url, unwraps: false },
      ...{ article_url: 'https://daily.example/a', is_exclusive: isExclusive, is_keyless: false },
      state: 'active',
    },
    ...{ page: original.url, original, offers },
  }
}

function makeDecider(book = new LeaseBook()): Decider {
  return new Decider({
    ...{ book, outlooks: new OutlookBook(), pacing: new PacingBook() },
    ...{ pricing: 'second_price', now: () => NOON_MS, onReceipt: () => undefined },
  })
}

function decide(
  campaigns: readonly Campaign[],
  data: LinkData,
  settings: Partial<Publisher> = {},
): readonly [number | undefined, number] {
  const decider = makeDecider()
  const publishers = [{ ...PUBLISHER, ...settings }]
  const merchants = campaigns.map(({ merch_id }) => merchant(merch_id))
  const market = indexMarket({ version: 1, publishers, merchants, campaigns })
  decider.setMarket(market)
  const { winner, priceMicros } = decider.decide(market, data, {
    context: {
      ...{ nowMs: NOON_MS, consent: CONSENT.full, device: DEVICE.desktop, country: null },
      isAtClick: false,
    },
    ...{ resultNumber: resultNumber(1), isRecorded: false },
  })
  return [winner?.merchant.merch_id, priceMicros / DOLLAR]
}

test('a merchant of seventy campaigns pays what its rival bids, on its own page as well', () => {
  const own = Array.from({ length: 70 }, (_, at) => campaign(100 + at, 1, 0.9))
  const campaigns = [...own, campaign(1, 2, 0.3)]
  for (const offers of [
    [offer(1, 100), offer(2, 100)],
    [offer(2, 100), offer(1, 100)],
  ]) {
    assert.deepEqual(decide(campaigns, linkTo(offers, false)), [1, 0.3])
  }
})

test('seventy offers that the publisher would not take leave room for one that it would', () => {
  const others = Array.from({ length: 70 }, (_, at) => 10 + at)
  const campaigns = [...others.map((id) => campaign(id, id, 5)), campaign(1, 1, 0.3)]
  const linkAmong = (dollars: number, isExclusive: boolean) =>
    linkTo([offer(1, 100), ...others.map((id) => offer(id, dollars))], isExclusive)
  const among = (dollars: number, settings?: Partial<Publisher>) =>
    decide(campaigns, linkAmong(dollars, false), settings)
  assert.deepEqual(among(106), [1, 0.01])
  assert.deepEqual(among(100, { block_merchants: others }), [1, 0.01])
  assert.equal(among(100)[1], 5, 'they crowd out whom the publisher likes no better')
  assert.deepEqual(decide(campaigns, linkAmong(100, true)), [1, 0.3], 'an exclusive link has one')
})

test('a campaign that now pays per order pays clicks of before only where it has no budget', () => {
  const book = new LeaseBook()
  const ofOrders = { model: 'cpa', bid_micros: null, rate_ppm: 80_000 } as const
  const budgets = [{}, { budget_micros: '2000000' }, { daily_budget_micros: '2000000' }]
  const campaigns = budgets.map((budget, at) => ({
    ...{ ...campaign(at + 1, 1, 0.5), ...ofOrders },
    ...budget,
  }))
  makeDecider(book).setMarket(
    indexMarket({ version: 1, publishers: [PUBLISHER], merchants: [merchant(1)], campaigns }),
  )
  const reserved = [1, 2, 3].map((campaignId) => book.reserve(campaignId, DOLLAR / 2, NOON_MS))
  assert.deepEqual(reserved, [UNCAPPED_LEASE, null, null])
})
