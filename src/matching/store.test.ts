import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeMerchant } from '../../test/support/catalogue.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openAccounts } from '../budgets/budget-account.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings } from '../campaigns/campaign.ts'
import { insertCampaign } from '../campaigns/campaign-store.ts'
import { FEED_AGE_MAX_MS, MERCHANT_DEFAULTS } from '../catalog/merchant.ts'
import { insertMerchant } from '../catalog/merchant-store.ts'
import { micros } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { MatchQuery } from './schema.ts'
import { findListings, listPayingCampaigns } from './store.ts'

const now = new Date('2026-03-02T12:00:00Z')
const world = { now, knowsCountries: true }
const [YESTERDAY, TODAY] = ['2026-03-01', '2026-03-02']
const BUDGET = micros(1_000_000)
const TWICE = (2 * BUDGET) as typeof BUDGET
const TERMS: readonly Partial<CampaignSettings>[] = [
  { model: 'cpc', bid_micros: micros(500_000) },
  { model: 'cpa', rate_ppm: 80_000 },
  { model: 'epp', payment_micros: micros(500_000) },
]
const BUDGETS: readonly [string, Partial<CampaignSettings>, day: string | null][] = [
  ['all of its budget', { budget_micros: BUDGET }, null],
  ['today’s budget', { daily_budget_micros: BUDGET }, TODAY],
]

for (const terms of TERMS) {
  for (const [budget, settings, day] of BUDGETS) {
    test(`a ${terms.model} campaign is funded until ${budget} is used up`, async (t) => {
      const { spend, isFunded } = await campaignOf(t, { ...terms, ...settings })
      await spend(BUDGET - 1, day)
      assert.equal(await isFunded(), true)
      await spend(BUDGET, day)
      assert.equal(await isFunded(), false)
    })
  }
}

test('a daily budget that was used up yesterday funds clicks today', async (t) => {
  const { spend, isFunded } = await campaignOf(t, { ...TERMS[0], daily_budget_micros: BUDGET })
  await spend(BUDGET, YESTERDAY)
  assert.equal(await isFunded(), true)
})

test("another campaign's used-up budget keeps no campaign from paying", async (t) => {
  const { db, campaign, spend, isFunded } = await campaignOf(t, {
    ...TERMS[0],
    budget_micros: BUDGET,
  })
  await spend(BUDGET, null)
  const other = await insertCampaign(db, { settings: campaign, world })
  await openAccounts(db, [{ campaignId: other.campaign_id, day: TODAY }])
  assert.equal(await isFunded(), false)
  assert.equal(await isFunded(other.campaign_id), true)
})

test('a campaign pays from the first moment of its flight until its end', async (t) => {
  const end = new Date(now.getTime() + 60_000)
  const { list } = await campaignOf(t, { ...TERMS[0], starts_at: now, ends_at: end })
  const isPaying = async (at: number) => (await list({ now: new Date(at) })).length === 1
  const [first, last] = [now.getTime(), end.getTime() - 1]
  const moments = [first - 1, first, last, last + 1]
  assert.deepEqual(await Promise.all(moments.map(isPaying)), [false, true, true, false])
})

test('a campaign that names publishers pays these and no other', async (t) => {
  const { db, list } = await campaignOf(t, { ...TERMS[0] })
  const payers = async (pubId: number) => (await list({ pubId })).length
  assert.deepEqual(await Promise.all([7, 8].map(payers)), [1, 1])
  await db.run(sql`update campaign set allow_publishers = '{7}'`)
  assert.deepEqual(await Promise.all([7, 8].map(payers)), [1, 0])
  await db.run(sql`update campaign set allow_publishers = '{}', block_publishers = '{7}'`)
  assert.deepEqual(await Promise.all([7, 8].map(payers)), [0, 1])
})

test('a feed is trusted for a day, to the millisecond, as in auctions', async (t) => {
  const db = await testDatabase(t)
  const offers = [{ id: 'A-1', link: 'https://shop.example/a' }]
  const { merchId } = await makeMerchant(db, { name: 'Shop', domain: 'shop.example', offers })
  const atMs = now.getTime()
  const importedAt = new Date(atMs - FEED_AGE_MAX_MS)
  await db.run(sql`
    update merchant set feed_imported_at = ${importedAt} where merch_id = ${merchId}`)
  const query = { sku: 'A-1', publisher_slug: 'daily' } as MatchQuery
  const isFresh = async (asked: Date) => {
    const wanted = { query, isMember: true, now: asked, isOwnPage: () => true }
    return (await findListings(db, wanted)).map(({ is_fresh }) => is_fresh)
  }
  assert.deepEqual(await isFresh(now), [true])
  assert.deepEqual(await isFresh(new Date(atMs + 1)), [false])
})

test('a merchant is matched by its best listing on its own pages', async (t) => {
  const db = await testDatabase(t)
  const gtin = '4006381333931'
  const listing = (id: string, price: string) => ({
    ...{ id, gtin, price, link: `https://shop.example/${id}` },
  })
  const offers = [
    listing('left', '5.00 USD'),
    listing('dear', '9.00 USD'),
    listing('own', '7.00 USD'),
  ]
  await makeMerchant(db, { name: 'Shop', domain: 'shop.example', offers })
  const find = async (query: Partial<MatchQuery>) => {
    const isOwnPage = ({ url }: { url: string }) => !url.endsWith('left')
    const wanted = { query: { publisher_slug: 'daily', ...query }, isMember: true, now, isOwnPage }
    return (await findListings(db, wanted)).map(({ url }) => url)
  }
  assert.deepEqual(await find({ gtin }), ['https://shop.example/own'])
  assert.deepEqual(await find({ sku: 'left' }), ['https://shop.example/own'])
  assert.deepEqual(await find({ sku: 'dear' }), ['https://shop.example/dear'])
})

test('a campaign that spent the budget of today has budget left, one that spent all has none', async (t) => {
  const { spend, list } = await campaignOf(t, {
    ...{ ...TERMS[0], daily_budget_micros: BUDGET, budget_micros: TWICE },
  })
  const left = async () => {
    const [row] = await list()
    return [row?.is_funded, row?.has_budget_left]
  }
  await spend(BUDGET, TODAY)
  assert.deepEqual(await left(), [false, true])
  await spend(TWICE, null)
  assert.deepEqual(await left(), [false, false])
})

/** A campaign in its own database, with accounts of yesterday and today. */
async function campaignOf(t: TestContext, changes: Partial<CampaignSettings>) {
  const db = await testDatabase(t)
  const shop = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: ['shop.example'] }
  const { merch_id } = await insertMerchant(db, shop)
  const settings = { ...CAMPAIGN_DEFAULTS, merch_id, ...changes } as CampaignSettings
  const campaign = await insertCampaign(db, { settings, world })
  const { campaign_id: campaignId } = campaign
  const list = (asked: { pubId?: number; now?: Date } = {}) =>
    listPayingCampaigns(db, { pubId: 1, merchIds: [merch_id], now, ...asked })
  await openAccounts(
    db,
    [YESTERDAY, TODAY].map((day) => ({ campaignId, day })),
  )
  return {
    ...{ db, campaign, list },
    spend: (micros: number, day: string | null) =>
      db.run(sql`
        update budget_account set settled_micros = ${micros}
        where day is not distinct from ${day}::date`),
    isFunded: async (id = campaignId) =>
      (await list()).find(({ campaign_id }) => campaign_id === id)?.is_funded,
  }
}
