/** A campaign as the operator sees it: settings under the names and in the units of the options. */
import { formatExact, type Micros, PPM } from '../platform/money/money.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import type { Campaign } from './campaign-store.ts'

export function toCampaignRecord(row: Campaign) {
  return {
    campaign_id: row.campaign_id,
    merch_id: row.merch_id,
    state: row.state,
    model: row.model,
    bid: dollars(row.bid_micros),
    exclusive_bid: dollars(row.exclusive_bid_micros),
    rate: row.rate_ppm === null ? null : row.rate_ppm / PPM,
    payment: dollars(row.payment_micros),
    roas: row.roas,
    second_rate: row.has_second_rate === true,
    daily_budget: dollars(row.daily_budget_micros),
    budget: dollars(row.budget_micros),
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

function dollars(amount: Micros | null): string | null {
  return amount === null ? null : formatExact(amount)
}
