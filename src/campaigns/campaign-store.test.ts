import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { MERCHANT_DEFAULTS } from '../catalog/merchant.ts'
import {
  insertMerchant,
  listMerchants,
  requireMerchant,
  updateMerchant,
} from '../catalog/merchant-store.ts'
import { micros } from '../platform/money/money.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings } from './campaign.ts'
import { insertCampaign, listCampaigns, setPaused, updateCampaign } from './campaign-store.ts'

const world = { now: new Date('2026-03-02T12:00:00Z'), knowsCountries: true }
const db = await testDatabase()
const shop = { ...MERCHANT_DEFAULTS, name: 'Shop', domains: ['shop.example', 'shop.test'] }
const { merch_id } = await insertMerchant(db, shop)
const base: CampaignSettings = {
  ...CAMPAIGN_DEFAULTS,
  merch_id,
  model: 'cpc',
  bid_micros: micros(600_000),
  daily_budget_micros: micros(100_000_000),
  ends_at: new Date('2026-04-01T00:00:00Z'),
  countries: ['US'],
  devices: ['mobile'],
  tracker_impression: ['https://t.example/?r={RAND},1'],
}

test('a merchant keeps its domains in order, and no other merchant may have one of them', async () => {
  const [shop] = await listMerchants(db)
  assert.deepEqual(shop?.domains, ['shop.example', 'shop.test'])
  assert.ok((shop?.postback_secret.length ?? 0) >= 43)
  const rival = { ...MERCHANT_DEFAULTS, name: 'Rival', domains: ['rival.example', 'Shop.test'] }
  await assert.rejects(insertMerchant(db, rival), {
    message: 'domain: another merchant has shop.test',
  })
  assert.equal((await listMerchants(db)).length, 1, 'nothing half-created')
  const domains = ['shop.test', 'm.shop.example']
  const updated = await updateMerchant(db, { merchId: base.merch_id, changes: { domains } })
  assert.deepEqual(updated.domains, domains)
  assert.equal(updated.postback_secret, shop?.postback_secret)
  await assert.rejects(updateMerchant(db, { merchId: 99, changes: {} }), { status: 404 })
})

test('two merchants that claim each other’s domain at once both get an error with the owner', async () => {
  const domains = ['left.example', 'right.example']
  const merchants = await Promise.all(
    domains.map((domain) =>
      insertMerchant(db, { ...MERCHANT_DEFAULTS, name: domain, domains: [domain] }),
    ),
  )
  for (let round = 0; round < 60; round += 1) {
    const swaps = merchants.map(({ merch_id: merchId }, index) =>
      updateMerchant(db, { merchId, changes: { domains: domains.slice(1 - index, 2 - index) } }),
    )
    const outcomes = await Promise.allSettled(swaps)
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message),
      domains.toReversed().map((domain) => `domain: another merchant has ${domain}`),
    )
  }
})

test('stores a campaign as given', async () => {
  const made = await insertCampaign(db, { settings: base, world })
  assert.equal(made.state, 'active')
  const { campaign_id, state, paused_by, datetime_created, datetime_updated, ...settings } = made
  assert.deepEqual(settings, { ...base, has_second_rate: false })
  assert.deepEqual(await listCampaigns(db), [made])
})

test('refuses a campaign with every reason, including those that only the database knows', async () => {
  const settings = { ...base, merch_id: 99, bid_micros: micros(1), block_publishers: [7] }
  await assert.rejects(insertCampaign(db, { settings, world }), (error: { data?: unknown }) => {
    const fields = (error.data as { field: string }[]).map(({ field }) => field)
    assert.deepEqual(fields, ['bid', 'merchant', 'block_publisher'])
    return true
  })
  assert.equal((await listCampaigns(db)).length, 1)
})

test('checks an update as the campaign that results', async () => {
  const { campaign_id: campaignId } = await insertCampaign(db, { settings: base, world })
  const update = (changes: Partial<CampaignSettings>) =>
    updateCampaign(db, { campaignId, changes, world })
  assert.equal((await update({ bid_micros: micros(700_000) })).bid_micros, 700_000)
  assert.equal((await update({ ends_at: null })).ends_at, null)
  await assert.rejects(update({ daily_budget_micros: micros(699_999) }), {
    message: /daily_budget/,
  })
  await assert.rejects(update({ model: 'cpa' }), { message: /bid: only cpc/ })
  await assert.rejects(updateCampaign(db, { campaignId: 999, changes: {}, world }), { status: 404 })
})

test('a new campaign pays the second rate where its contract allows it, unless it sets otherwise', async () => {
  const own = { ...MERCHANT_DEFAULTS, name: 'Second', domains: ['second.example'] }
  const { merch_id: merchId } = await insertMerchant(db, own)
  const cpa = { ...CAMPAIGN_DEFAULTS, merch_id: merchId, model: 'cpa' as const, rate_ppm: 80_000 }
  const insert = (more: Partial<CampaignSettings>) =>
    insertCampaign(db, { settings: { ...cpa, ...more }, world })
  const before = await insert({})
  assert.equal(before.has_second_rate, false)
  await assert.rejects(insert({ has_second_rate: true }), { message: /^second_rate: the contract/ })
  await updateMerchant(db, { merchId, changes: { allows_second_rate: true } })
  const { campaign_id: campaignId, ...created } = await insert({})
  assert.equal(created.has_second_rate, true)
  assert.equal((await insert({ has_second_rate: false })).has_second_rate, false)
  const cpc = { model: 'cpc' as const, rate_ppm: null, bid_micros: micros(600_000) }
  assert.equal((await insert(cpc)).has_second_rate, false)
  const kept = (await listCampaigns(db, { merchId })).find(
    (one) => one.campaign_id === before.campaign_id,
  )
  assert.equal(kept?.has_second_rate, false, 'existing campaigns keep their setting')
  await updateMerchant(db, { merchId, changes: { allows_second_rate: false } })
  const changes = { rate_ppm: 90_000 }
  assert.equal((await updateCampaign(db, { campaignId, changes, world })).has_second_rate, true)
  const off = { has_second_rate: false }
  assert.equal(
    (await updateCampaign(db, { campaignId, changes: off, world })).has_second_rate,
    false,
  )
  await assert.rejects(
    updateCampaign(db, { campaignId, changes: { has_second_rate: true }, world }),
    { message: /^second_rate: the contract/ },
  )
})

test('pausing and resuming can be repeated and change nothing else', async () => {
  const [campaign] = await listCampaigns(db)
  const campaignId = campaign?.campaign_id ?? 0
  const paused = await setPaused(db, { campaignId, pausedBy: 'operator' })
  assert.equal(paused.state, 'paused')
  assert.deepEqual(await setPaused(db, { campaignId, pausedBy: 'operator' }), paused)
  assert.equal((await setPaused(db, { campaignId, pausedBy: null })).state, 'active')
  await assert.rejects(setPaused(db, { campaignId: 999, pausedBy: null }), { status: 404 })
})

test('changing, pausing and resuming affect one campaign or merchant only', async () => {
  const { campaign_id: campaignId } = await insertCampaign(db, { settings: base, world })
  await insertCampaign(db, { settings: base, world })
  const others = async () =>
    (await listCampaigns(db)).filter(({ campaign_id }) => campaign_id !== campaignId)
  const before = await others()
  await updateCampaign(db, { campaignId, changes: { bid_micros: micros(700_000) }, world })
  assert.deepEqual(await others(), before)
  for (const pausedBy of ['merchant', null] as const) {
    await setPaused(db, { campaignId, pausedBy })
    assert.deepEqual(await others(), before, String(pausedBy))
  }
  const named = { ...MERCHANT_DEFAULTS, name: 'Other', domains: ['other.example'] }
  const other = await insertMerchant(db, named)
  await updateMerchant(db, {
    merchId: merch_id,
    changes: { name: 'New', domains: ['new.example'] },
  })
  assert.deepEqual(await requireMerchant(db, other.merch_id), other)
})
