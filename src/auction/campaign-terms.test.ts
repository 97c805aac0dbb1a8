import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CAMPAIGN_DEFAULTS } from '../campaigns/campaign.ts'
import { budgetOf, campaignTerms, flightOf, pacedOf } from './campaign-terms.ts'
import type { Campaign, Market } from './market.ts'
import { lets } from './targeting.ts'

const campaign = (changes: Partial<Campaign> = {}): Campaign =>
  ({
    ...{ ...CAMPAIGN_DEFAULTS, campaign_id: 3, merch_id: 2, state: 'active' },
    ...{ model: 'cpc', bid_micros: '600000' },
    ...changes,
  }) as Campaign

test('auction and pacing agree on the publishers of a campaign, whatever its lists', () => {
  const lists = [[], [7], [7, 8]]
  for (const allow_publishers of lists) {
    for (const block_publishers of lists) {
      const listed = campaign({ allow_publishers, block_publishers })
      const { publishers } = campaignTerms(listed, 0)
      const { isAllowed } = pacedOf(listed, 0)
      for (const pubId of [7, 8, 9]) {
        const input = JSON.stringify({ allow_publishers, block_publishers, pubId })
        const isOpen = allow_publishers.length === 0 || allow_publishers.includes(pubId)
        const wanted = isOpen && !block_publishers.includes(pubId)
        assert.equal(lets(publishers, pubId), wanted, input)
        assert.equal(isAllowed === null || isAllowed(pubId), wanted, input)
      }
    }
  }
  assert.equal(pacedOf(campaign(), 0).isAllowed, null, 'without lists nothing is asked')
})

test('daily budgets and goals pace only clicks, and every budget of clicks is leased', () => {
  const budget = { daily_budget_micros: '5000000', roas: 4 }
  const order = { model: 'cpa', bid_micros: null, rate_ppm: 80_000 } as const
  const budgetFacts = (changes: Partial<Campaign>) => {
    const { dailyBudgetMicros, hasRoasGoal } = pacedOf(campaign(changes), 0)
    return [dailyBudgetMicros, hasRoasGoal, budgetOf(campaign(changes), 0).budget]
  }
  assert.deepEqual(budgetFacts(budget), [5_000_000, true, 'leased'])
  assert.deepEqual(budgetFacts({ ...budget, ...order }), [null, false, 'ofOrders'])
  assert.deepEqual(budgetFacts({ budget_micros: '9000000' }), [null, false, 'leased'])
  assert.deepEqual(budgetFacts({}), [null, false, 'none'])
})

test('the most a click can cost is the higher of the two bids, and exclusive clicks have their own', () => {
  const dear = campaign({ exclusive_bid_micros: '900000' })
  assert.equal(budgetOf(dear, 0).priceMaxMicros, 900_000)
  assert.equal(pacedOf(dear, 0).priceMaxMicros, 900_000)
  assert.equal(campaignTerms(dear, 0).exclusiveBidMicros, 900_000)
  const cheap = campaign({ exclusive_bid_micros: '100000' })
  assert.equal(budgetOf(cheap, 0).priceMaxMicros, 600_000)
  assert.equal(campaignTerms(campaign(), 0).exclusiveBidMicros, 600_000)
})

test("a lease covers a campaign's flight, not a paused campaign, and a raised cap is requested at once", () => {
  const [starts_at, ends_at] = [new Date(1_000), new Date(2_000)]
  const flown = budgetOf(campaign({ starts_at, ends_at }), 0)
  assert.deepEqual([flown.servesFromMs, flown.servesUntilMs], [1_000, 2_000])
  const open = budgetOf(campaign(), 0)
  assert.deepEqual([open.servesFromMs, open.servesUntilMs], [-Infinity, Infinity])
  const paused = budgetOf(campaign({ ends_at, state: 'paused' }), 0)
  assert.equal(paused.servesUntilMs, -Infinity)
  const versions = [
    { daily_budget_micros: '1' },
    { daily_budget_micros: '2' },
    { budget_micros: '1' },
    { budget_micros: '1', state: 'paused' as const },
  ].map((changes) => budgetOf(campaign(changes), 0).budgetVersion)
  assert.equal(new Set(versions).size, versions.length)
})

test("a flight uses the campaign's index and the age of its merchant's feed", () => {
  const feed_imported_at = new Date(5_000)
  const market = { merchants: new Map([[2, { feed_imported_at }]]) } as unknown as Market
  const own = { index: 4, startsAtMs: null, endsAtMs: null, feedImportedAtMs: 5_000 }
  assert.deepEqual(flightOf(market, campaign(), 4), { ...own, isActive: true })
  const paused = campaign({ state: 'paused', merch_id: 1 })
  const gone = { ...own, isActive: false, feedImportedAtMs: null }
  assert.deepEqual(flightOf(market, paused, 4), gone)
})
