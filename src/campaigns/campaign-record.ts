/** A campaign as the operator sees it: settings under the names and in the units of the options. */
import { formatExact, type Micros, PPM, parseDollars } from '../platform/money/money.ts'
import {
  formatTimestamp,
  formatTimestampOrNull,
  parseTimestamp,
} from '../platform/time/timestamp.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings } from './campaign.ts'
import type { Campaign } from './campaign-store.ts'

export function toCampaignRecord(row: Campaign) {
  return {
    campaign_id: row.campaign_id,
    merch_id: row.merch_id,
    state: row.state,
    model: row.model,
    bid: dollarsOrNull(row.bid_micros),
    exclusive_bid: dollarsOrNull(row.exclusive_bid_micros),
    rate: row.rate_ppm === null ? null : row.rate_ppm / PPM,
    payment: dollarsOrNull(row.payment_micros),
    roas: row.roas,
    second_rate: row.has_second_rate === true,
    daily_budget: dollarsOrNull(row.daily_budget_micros),
    budget: dollarsOrNull(row.budget_micros),
    start: formatTimestampOrNull(row.starts_at),
    end: formatTimestampOrNull(row.ends_at),
    country: [...row.countries],
    device: [...row.devices],
    allow_publisher: [...row.allow_publishers],
    block_publisher: [...row.block_publishers],
    tracker_impression: [...row.tracker_impression],
    tracker_viewable: [...row.tracker_viewable],
    clicks_per_address_hour: row.clicks_per_address_hour,
    clicks_per_address_day: row.clicks_per_address_day,
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
  }
}

function dollarsOrNull(amount: Micros | null): string | null {
  return amount === null ? null : formatExact(amount)
}

type Name = keyof CampaignSettings

/** How a setting is named in a body, and how its value is written and read. */
interface BodyField {
  readonly name: string
  readonly write: (value: never) => unknown
  readonly read: (value: never) => unknown
}

const same = (name: string): BodyField => ({
  name,
  write: (value) => value,
  read: (value) => value,
})
const money = (name: string): BodyField => ({
  name,
  write: (value: Micros) => formatExact(value),
  read: parseDollars,
})
const time = (name: string): BodyField => ({
  name,
  write: (value: Date) => value.toISOString(),
  read: parseTimestamp,
})

const BODY_FIELDS: Readonly<Record<Name, BodyField>> = {
  merch_id: same('merch_id'),
  model: same('model'),
  bid_micros: money('bid'),
  exclusive_bid_micros: money('exclusive_bid'),
  rate_ppm: {
    name: 'rate',
    write: (value: number) => value / PPM,
    read: (value: number) => Math.round(value * PPM),
  },
  payment_micros: money('payment'),
  roas: same('roas'),
  has_second_rate: same('second_rate'),
  daily_budget_micros: money('daily_budget'),
  budget_micros: money('budget'),
  starts_at: time('start'),
  ends_at: time('end'),
  countries: {
    ...same('country'),
    read: (codes: readonly string[]) => codes.map((code) => code.toUpperCase()),
  },
  devices: {
    ...same('device'),
    read: (devices: readonly string[]) => devices.map((device) => device.toLowerCase()),
  },
  allow_publishers: same('allow_publisher'),
  block_publishers: same('block_publisher'),
  tracker_impression: same('tracker_impression'),
  tracker_viewable: same('tracker_viewable'),
  clicks_per_address_hour: same('clicks_per_address_hour'),
  clicks_per_address_day: same('clicks_per_address_day'),
}
const FIELDS = Object.entries(BODY_FIELDS) as [Name, BodyField][]

/** The body that sets these settings: the inverse of `readCampaignBody`. */
export function toCampaignBody(settings: Partial<CampaignSettings>): Record<string, unknown> {
  const given = FIELDS.filter(([setting]) => settings[setting] !== undefined)
  return Object.fromEntries(
    given.map(([setting, { name, write }]) => {
      const value = settings[setting] ?? null
      return [name, value === null ? null : write(value as never)]
    }),
  )
}

/** The settings that a body names; null takes a setting's default. */
export function readCampaignBody(
  body: Readonly<Record<string, unknown>>,
): Partial<CampaignSettings> {
  const defaults: Partial<CampaignSettings> = CAMPAIGN_DEFAULTS
  const given = FIELDS.filter(([, { name }]) => body[name] !== undefined)
  return Object.fromEntries(
    given.map(([setting, { name, read }]) => {
      const value = body[name] ?? null
      return [setting, value === null ? defaults[setting] : read(value as never)]
    }),
  ) as Partial<CampaignSettings>
}
