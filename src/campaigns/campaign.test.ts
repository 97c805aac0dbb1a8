import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../platform/money/money.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings, campaignFaults } from './campaign.ts'

const now = new Date('2026-03-02T12:00:00Z')
const world = { now, knowsCountries: true }
const cpc: CampaignSettings = {
  ...CAMPAIGN_DEFAULTS,
  merch_id: 1,
  model: 'cpc',
  bid_micros: micros(600_000),
}
const cpa: CampaignSettings = { ...cpc, model: 'cpa', bid_micros: null, rate_ppm: 80_000 }
const epp: CampaignSettings = {
  ...cpc,
  model: 'epp',
  bid_micros: null,
  payment_micros: micros(1_500_000),
}

/** The fields of the faults, in order. */
function fields(settings: CampaignSettings, given = world): string[] {
  return campaignFaults(settings, given).map(({ field }) => field)
}

test('accepts a campaign with the settings that its model needs', () => {
  assert.deepEqual(fields(cpc), [])
  assert.deepEqual(fields(cpa), [])
  assert.deepEqual(fields(epp), [])
  const full: CampaignSettings = {
    ...cpc,
    exclusive_bid_micros: micros(700_000),
    roas: 4,
    daily_budget_micros: micros(700_000),
    budget_micros: micros(1_000_000_000),
    starts_at: new Date('2026-01-01T00:00:00Z'),
    ends_at: new Date('2026-03-02T12:00:01Z'),
    countries: ['US', 'GB'],
    devices: ['mobile', 'desktop'],
    allow_publishers: [1, 2],
    block_publishers: [3],
    tracker_impression: ['https://t.example/i?r={RAND}'],
    tracker_viewable: ['http://t.example/v'],
  }
  assert.deepEqual(fields(full), [])
})

test('refuses a campaign without its model’s price', () => {
  assert.deepEqual(fields({ ...cpc, bid_micros: null }), ['bid'])
  assert.deepEqual(fields({ ...cpa, rate_ppm: null }), ['rate'])
  assert.deepEqual(fields({ ...epp, payment_micros: null }), ['payment'])
})

test('refuses a price of another model instead of ignoring it', () => {
  assert.deepEqual(fields({ ...cpc, rate_ppm: 80_000 }), ['rate'])
  assert.deepEqual(fields({ ...cpa, bid_micros: micros(600_000), roas: 4 }), ['bid', 'roas'])
  assert.deepEqual(fields({ ...epp, exclusive_bid_micros: micros(600_000) }), ['exclusive_bid'])
  assert.deepEqual(fields({ ...cpc, model: 'cpm' as 'cpc' }), ['model'])
  assert.deepEqual(fields({ ...cpc, has_second_rate: true }), ['second_rate'])
  assert.deepEqual(fields({ ...epp, has_second_rate: true }), [])
})

test('refuses a bid under the platform’s reserve of one cent', () => {
  assert.deepEqual(fields({ ...cpc, bid_micros: micros(10_000) }), [])
  assert.deepEqual(fields({ ...cpc, bid_micros: micros(9_999) }), ['bid'])
  assert.deepEqual(fields({ ...cpc, exclusive_bid_micros: micros(9_999) }), ['exclusive_bid'])
  assert.deepEqual(fields({ ...cpc, bid_micros: micros(9_000_000_001) }), ['bid'])
})

test('refuses shares and goals outside their range', () => {
  assert.deepEqual(fields({ ...cpa, rate_ppm: 0 }), ['rate'])
  assert.deepEqual(fields({ ...cpa, rate_ppm: 1_000_001 }), ['rate'])
  assert.deepEqual(fields({ ...cpc, roas: 0 }), ['roas'])
  assert.deepEqual(fields({ ...epp, payment_micros: micros(0) }), ['payment'])
})

test('accepts settings at the ends of their ranges', () => {
  const most = micros(9_000_000_000)
  for (const rate_ppm of [1, 1_000_000]) assert.deepEqual(fields({ ...cpa, rate_ppm }), [])
  for (const payment_micros of [micros(1), most]) {
    assert.deepEqual(fields({ ...epp, payment_micros }), [])
  }
  assert.deepEqual(fields({ ...cpc, roas: 0.5, bid_micros: most, exclusive_bid_micros: most }), [])
  const budget_micros = micros(1_000_000_000_000_000)
  assert.deepEqual(fields({ ...cpc, budget_micros, daily_budget_micros: budget_micros }), [])
  assert.deepEqual(fields({ ...epp, payment_micros: micros(9_000_000_001) }), ['payment'])
  const over = micros(1_000_000_000_000_001)
  assert.deepEqual(fields({ ...cpc, budget_micros: over }), ['budget'])
  const publishers = Array.from({ length: 1001 }, (_, id) => id + 1)
  assert.deepEqual(fields({ ...cpc, allow_publishers: publishers.slice(1) }), [])
  assert.deepEqual(fields({ ...cpc, allow_publishers: publishers }), ['allow_publisher'])
})

test('refuses a budget that cannot pay for one click', () => {
  const low = { daily_budget_micros: micros(599_999), budget_micros: micros(599_999) }
  assert.deepEqual(fields({ ...cpc, ...low }), ['daily_budget', 'budget'])
  const exact = { daily_budget_micros: micros(600_000), budget_micros: micros(600_000) }
  assert.deepEqual(fields({ ...cpc, ...exact }), [])
  assert.deepEqual(fields({ ...cpc, ...exact, exclusive_bid_micros: micros(600_001) }), [
    'daily_budget',
    'budget',
  ])
  assert.deepEqual(fields({ ...epp, budget_micros: micros(1_499_999) }), ['budget'])
  assert.deepEqual(fields({ ...cpa, budget_micros: micros(0) }), ['budget'])
  const [over] = campaignFaults({ ...cpa, budget_micros: micros(2e15) }, world)
  assert.deepEqual(over, { field: 'budget', rule: 'must be at most $1000000000.00' })
})

test('refuses a flight that is over, or ends before it starts', () => {
  assert.deepEqual(fields({ ...cpc, ends_at: now }), ['end'])
  const starts_at = new Date('2026-04-02T00:00:00Z')
  assert.deepEqual(fields({ ...cpc, starts_at, ends_at: starts_at }), ['end'])
})

test('does not check unchanged settings against the present', () => {
  const ended = { ...cpc, ends_at: now, countries: ['US'] }
  const blind = { now, knowsCountries: false }
  const changed = (change: Partial<CampaignSettings>) =>
    campaignFaults({ ...ended, ...change }, blind, ended).map(({ field }) => field)
  assert.deepEqual(changed({ bid_micros: micros(500_000) }), [])
  assert.deepEqual(changed({ ends_at: new Date('2026-03-01T00:00:00Z') }), ['end'])
  assert.deepEqual(changed({ starts_at: now }), ['end'])
  assert.deepEqual(changed({ countries: ['US', 'GB'] }), ['country'])
  assert.deepEqual(changed({ countries: [] }), [])
})

test('refuses unknown countries, and any country when countries cannot be determined', () => {
  const [unknown] = campaignFaults({ ...cpc, countries: ['US', 'UK'] }, world)
  assert.match(unknown?.rule ?? '', /UK; the United Kingdom is GB/)
  const blind = { now, knowsCountries: false }
  const [fault] = campaignFaults({ ...cpc, countries: ['US'] }, blind)
  assert.match(fault?.rule ?? '', /GEO_HEADER or GEOIP_DB/)
  assert.deepEqual(fields(cpc, blind), [])
})

test('refuses unknown devices, contradictory lists and bad trackers', () => {
  assert.deepEqual(fields({ ...cpc, devices: ['phone' as 'mobile'] }), ['device'])
  const lists = { allow_publishers: [1, 2], block_publishers: [2] }
  assert.deepEqual(fields({ ...cpc, ...lists }), ['block_publisher'])
  assert.deepEqual(fields({ ...cpc, tracker_impression: ['javascript:1'] }), ['tracker_impression'])
  const many = Array.from({ length: 11 }, () => 'https://t.example/')
  assert.deepEqual(fields({ ...cpc, tracker_viewable: many }), ['tracker_viewable'])
  const longest = `https://t.example/${'x'.repeat(2048 - 18)}`
  assert.deepEqual(fields({ ...cpc, tracker_viewable: [longest, ...many.slice(2)] }), [])
  assert.deepEqual(fields({ ...cpc, tracker_viewable: [`${longest}x`] }), ['tracker_viewable'])
})

test('names every fault at once', () => {
  const wrong = { ...cpc, bid_micros: micros(1), ends_at: now, countries: ['XX'] }
  assert.deepEqual(fields(wrong), ['bid', 'end', 'country'])
})
