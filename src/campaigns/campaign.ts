/**
 * A campaign's settings, and the checks that refuse settings that could never work.
 *
 * A campaign that silently buys nothing costs its merchant weeks. So everything that can be known
 * at creation is checked here, and every fault is named with its fix.
 */
import type { Device } from '../events/user-agent.ts'
import type { Fault } from '../platform/errors/api-errors.ts'
import { formatExact, type Micros, micros, PPM } from '../platform/money/money.ts'
import { isCountry } from '../platform/net/countries.ts'

export const CAMPAIGN_MODELS = ['cpc', 'cpa', 'epp'] as const
export type CampaignModel = (typeof CAMPAIGN_MODELS)[number]

export const DEVICES = ['desktop', 'mobile', 'tablet'] as const satisfies Device[]

/**
 * The lowest price of any click: below it, serving the click costs more
 * (docs/spec/auction.md#floors).
 */
export const PLATFORM_RESERVE = micros(10_000)
/** One click or purchase; up to here price × share in ppm stays a safe integer. */
const PRICE_MAX = micros(9_000_000_000)
/** One budget: $1 billion; sums of very many budgets stay within a 64-bit column. */
const BUDGET_MAX = micros(1_000_000_000_000_000)
/** Trackers of one campaign and kind: each is fired by the reader's browser. */
const TRACKERS_MAX = 10
const TRACKER_LENGTH_MAX = 2048
/** Above this many paid clicks from one address, a limit protects nobody. */
const ADDRESS_CLICKS_MAX = 1_000_000
/** Publishers in one list: a longer one is a market, not a list. */
const PUBLISHERS_MAX = 1000

/** The settings of a campaign, named as its columns. */
export interface CampaignSettings {
  readonly merch_id: number
  readonly model: CampaignModel
  readonly bid_micros: Micros | null // cpc: the highest cost of a click
  readonly exclusive_bid_micros: Micros | null // cpc: price of exclusive links; null: the bid
  readonly rate_ppm: number | null // cpa: commission on the order's value
  readonly payment_micros: Micros | null // epp: paid per purchase
  readonly roas: number | null // cpc: target revenue per dollar spent
  /** cpa, epp: pays the lowest rate that still wins; null: a new one as its contract allows. */
  readonly has_second_rate: boolean | null
  readonly daily_budget_micros: Micros | null
  readonly budget_micros: Micros | null
  readonly starts_at: Date | null
  readonly ends_at: Date | null
  readonly countries: readonly string[] // empty: everywhere
  readonly devices: readonly Device[] // empty: all
  readonly allow_publishers: readonly number[] // empty: all
  readonly block_publishers: readonly number[]
  readonly tracker_impression: readonly string[]
  readonly tracker_viewable: readonly string[]
  /** Paid clicks of one address unit: docs/spec/clicks.md#clicks-per-address. */
  readonly clicks_per_address_hour: number
  readonly clicks_per_address_day: number
}

/** Defaults of missing settings: no limit of any kind, and no price. */
export const CAMPAIGN_DEFAULTS: Omit<CampaignSettings, 'merch_id' | 'model'> = {
  bid_micros: null,
  exclusive_bid_micros: null,
  rate_ppm: null,
  payment_micros: null,
  roas: null,
  has_second_rate: null,
  daily_budget_micros: null,
  budget_micros: null,
  starts_at: null,
  ends_at: null,
  countries: [],
  devices: [],
  allow_publishers: [],
  block_publishers: [],
  tracker_impression: [],
  tracker_viewable: [],
  clicks_per_address_hour: 10,
  clicks_per_address_day: 50,
}

/**
 * Lists every reason why this campaign could not work. Context may have changed since `before` was
 * saved, so only changed settings are checked against it: an ended campaign can still be corrected.
 */
export function campaignFaults(
  settings: CampaignSettings,
  { now, knowsCountries }: { now: Date; knowsCountries: boolean },
  before: CampaignSettings | null = null,
): Fault[] {
  const { ends_at: endsAt, countries } = settings
  const isEndKept = before !== null && before.ends_at?.getTime() === endsAt?.getTime()
  const areCountriesKept = before !== null && before.countries.join() === countries.join()
  return [
    ...modelFaults(settings),
    ...budgetFaults(settings),
    ...flightFaults(settings, isEndKept ? null : now),
    ...countryFaults(countries, knowsCountries || areCountriesKept),
    ...listFaults(settings),
    ...trackerFaults('tracker_impression', settings.tracker_impression),
    ...trackerFaults('tracker_viewable', settings.tracker_viewable),
    ...addressLimitFaults('clicks_per_address_hour', settings.clicks_per_address_hour),
    ...addressLimitFaults('clicks_per_address_day', settings.clicks_per_address_day),
  ]
}

/** The settings that each model needs, and those that it would ignore. */
const USED_BY: Readonly<Record<string, readonly CampaignModel[]>> = {
  bid: ['cpc'],
  exclusive_bid: ['cpc'],
  roas: ['cpc'],
  rate: ['cpa'],
  payment: ['epp'],
  second_rate: ['cpa', 'epp'],
}

function modelFaults(settings: CampaignSettings): Fault[] {
  const { model } = settings
  if (!CAMPAIGN_MODELS.includes(model)) {
    return [{ field: 'model', rule: `must be one of ${CAMPAIGN_MODELS.join(', ')}` }]
  }
  const given: Record<string, number | true | null> = {
    bid: settings.bid_micros,
    exclusive_bid: settings.exclusive_bid_micros,
    roas: settings.roas,
    rate: settings.rate_ppm,
    payment: settings.payment_micros,
    second_rate: settings.has_second_rate || null,
  }
  const needed = { cpc: 'bid', cpa: 'rate', epp: 'payment' }[model]
  const faults: Fault[] = []
  for (const [field, value] of Object.entries(given)) {
    const models = USED_BY[field] ?? []
    if (value === null) {
      if (field === needed) faults.push({ field, rule: `${model} campaigns need it` })
    } else if (!models.includes(model)) {
      faults.push({ field, rule: `only ${models.join(', ')} campaigns have one, not ${model}` })
    } else if (value !== true) {
      faults.push(...rangeFaults(field, value))
    }
  }
  return faults
}

function rangeFaults(field: string, value: number): Fault[] {
  if (field === 'rate') {
    if (value >= 1 && value <= PPM) return []
    return [{ field, rule: 'must be a fraction above 0 and at most 1, such as 0.08 for 8 %' }]
  }
  if (field === 'roas') {
    if (Number.isFinite(value) && value > 0) return []
    return [{ field, rule: 'must be above 0: dollars of revenue wanted per dollar spent' }]
  }
  const least = field === 'payment' ? micros(1) : PLATFORM_RESERVE
  if (value >= least && value <= PRICE_MAX) return []
  const range = `from $${formatExact(least)} to $${formatExact(PRICE_MAX)}`
  const why = field === 'payment' ? '' : ': no click sells below the platform’s reserve'
  return [{ field, rule: `must be ${range}${why}` }]
}

/** A budget below one click, or one purchase of known price, would never be spent. */
function budgetFaults(settings: CampaignSettings): Fault[] {
  const one = Math.max(
    settings.bid_micros ?? 0,
    settings.exclusive_bid_micros ?? 0,
    settings.payment_micros ?? 0,
    PLATFORM_RESERVE,
  )
  const budgets = [
    ['daily_budget', settings.daily_budget_micros],
    ['budget', settings.budget_micros],
  ] as const
  return budgets.flatMap(([field, value]) => {
    if (value === null || (value >= one && value <= BUDGET_MAX)) return []
    if (value > BUDGET_MAX) return [{ field, rule: `must be at most $${formatExact(BUDGET_MAX)}` }]
    return [{ field, rule: `must cover at least one payment of $${formatExact(one)}` }]
  })
}

function flightFaults({ starts_at, ends_at }: CampaignSettings, now: Date | null): Fault[] {
  if (ends_at === null) return []
  if (now !== null && ends_at <= now)
    return [{ field: 'end', rule: 'is in the past: the campaign never runs' }]
  if (starts_at !== null && ends_at <= starts_at) {
    return [{ field: 'end', rule: 'must be after start' }]
  }
  return []
}

function countryFaults(countries: readonly string[], knowsCountries: boolean): Fault[] {
  const field = 'country'
  if (countries.length > 0 && !knowsCountries) {
    const rule = 'this service cannot determine countries: set GEO_HEADER or GEOIP_DB first'
    return [{ field, rule }]
  }
  const unknown = countries.filter((code) => !isCountry(code))
  if (unknown.length === 0) return []
  const hint = unknown.includes('UK') ? '; the United Kingdom is GB' : ''
  return [{ field, rule: `not an ISO 3166 country code: ${unknown.join(', ')}${hint}` }]
}

function listFaults(settings: CampaignSettings): Fault[] {
  const faults: Fault[] = []
  const unknown = settings.devices.filter((device) => !DEVICES.includes(device))
  if (unknown.length > 0) {
    const rule = `unknown: ${unknown.join(', ')}; known: ${DEVICES.join(', ')}`
    faults.push({ field: 'device', rule })
  }
  const both = settings.allow_publishers.filter((id) => settings.block_publishers.includes(id))
  if (both.length > 0) {
    faults.push({ field: 'block_publisher', rule: `also allowed: publisher ${both.join(', ')}` })
  }
  const lists = [
    ['allow_publisher', settings.allow_publishers],
    ['block_publisher', settings.block_publishers],
  ] as const
  for (const [field, ids] of lists) {
    if (ids.length > PUBLISHERS_MAX) {
      faults.push({ field, rule: `at most ${PUBLISHERS_MAX} publishers` })
    }
  }
  return faults
}

function trackerFaults(field: string, urls: readonly string[]): Fault[] {
  if (urls.length > TRACKERS_MAX) return [{ field, rule: `at most ${TRACKERS_MAX} addresses` }]
  const wrong = urls.filter((url) => {
    const parsed = URL.parse(url)
    return parsed === null || !/^https?:$/.test(parsed.protocol) || url.length > TRACKER_LENGTH_MAX
  })
  if (wrong.length === 0) return []
  const rule = `must be http(s) URLs of at most ${TRACKER_LENGTH_MAX} characters`
  return [{ field, rule: `${rule}: ${wrong.map((url) => url.slice(0, 100)).join(', ')}` }]
}

function addressLimitFaults(field: string, clicks: number): Fault[] {
  if (Number.isInteger(clicks) && clicks >= 1 && clicks <= ADDRESS_CLICKS_MAX) return []
  return [{ field, rule: `must be a whole number from 1 to ${ADDRESS_CLICKS_MAX}` }]
}
