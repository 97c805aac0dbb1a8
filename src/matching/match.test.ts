import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PUBLISHER_DEFAULTS } from '../accounts/publisher.ts'
import { type MatchInput, matchProducts } from './match.ts'
import type { ListingRow, PayingCampaignRow } from './store.ts'

const listing: ListingRow = {
  ...{ merch_id: 1, merchant_name: 'Shop', title: 'Kettle', brand: null },
  ...{ gtin_text: null, url: 'https://shop.example/1', image_url: null, price_micros: '50000000' },
  ...{ category_id: null, is_in_stock: true, is_exact: true, is_fresh: true },
}
const cpc: PayingCampaignRow = {
  ...{ campaign_id: 1, merch_id: 1, model: 'cpc', bid_micros: '600000', rate_ppm: null },
  ...{ exclusive_bid_micros: null, payment_micros: null, roas: null, roas_multiplier: 1 },
  is_funded: true,
  has_budget_left: true,
}
/** Worth `clickMicros` a click, at one order per fifty clicks. */
const epp = (clickMicros: number, isFunded = true): PayingCampaignRow => ({
  ...{ ...cpc, campaign_id: 2, model: 'epp', bid_micros: null },
  ...{ payment_micros: String(clickMicros * 50), is_funded: isFunded },
})

/** The campaign that the prediction is about, and its value in micros. */
function predict(campaigns: readonly PayingCampaignRow[], fundedShare = 1) {
  const rate = { merchantRate: 0.02, merchantError: 0, alpha: 10, nEff: 500, rate: 0.02 }
  const value = { meanMicros: 60_000_000, logVariance: 0.1 }
  const input: MatchInput = {
    publisher: {
      ...{ ...PUBLISHER_DEFAULTS, pub_id: 1, uid: 1, name: 'Daily', slug: 'daily' },
      is_suspended: false,
      ...{ share_ppm: 500_000, datetime_created: new Date(0), datetime_updated: new Date(0) },
    },
    query: { publisher_slug: 'daily', sku: '1' },
    listings: [listing],
    campaigns,
    estimates: {
      of: () => ({ rate, value, returnShare: 0.1, approvedShare: 1, validShare: 0.97 }),
    },
    book: { fundedShare: (id) => (id === cpc.campaign_id ? fundedShare : null) },
    linkUrl: 'https://souk.example',
  }
  const [match] = matchProducts(input)
  return [match?.best?.campaignId, Math.round((match?.entry.best_effort_cpc ?? 0) * 1e6)]
}

test('of several campaigns, the prediction uses the one that an exclusive link would be sold to', () => {
  // The auction compares $0.60 with $0.59; that 3 % of the clicks are not billed applies to both.
  assert.deepEqual(predict([cpc, epp(590_000)]), [1, 291_000])
  assert.deepEqual(predict([epp(590_000), cpc]), [1, 291_000])
  assert.deepEqual(predict([cpc, epp(610_000)]), [2, 305_000])
  // A budget that lasts half of the day sells half of the clicks at the same price.
  assert.deepEqual(predict([cpc, epp(500_000)], 0.5), [1, 145_500])
})

test('a campaign with a used-up budget counts only if no other could pay', () => {
  const spent = { ...cpc, is_funded: false }
  assert.deepEqual(predict([spent, epp(100_000)], 0.5), [2, 50_000])
  assert.deepEqual(predict([spent, epp(9_000)], 0.5), [1, 145_500], 'the other is under the floor')
  assert.deepEqual(predict([]), [undefined, 0])
})
