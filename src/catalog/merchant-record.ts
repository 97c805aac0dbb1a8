/** A merchant as the operator sees it: settings under the names of the operator's options. */

import { PPM } from '../platform/money/money.ts'
import { withoutPassword } from '../platform/net/fetch-guard.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import type { Merchant } from './merchant-store.ts'

export function toMerchantRecord(row: Merchant) {
  return {
    merch_id: row.merch_id,
    name: row.name,
    domain: [...row.domains],
    uid: row.uid,
    click_param: row.click_param,
    deep_link: row.deep_link,
    window_days: row.window_days,
    origin: [...row.origins],
    post_impression_rate:
      row.post_impression_rate_ppm === null ? null : row.post_impression_rate_ppm / PPM,
    confirm_orders: row.is_confirming,
    allow_second_rate: row.allows_second_rate,
    default_currency: row.default_currency,
    feed_imported_at: formatTimestampOrNull(row.feed_imported_at),
    feed_url: row.feed_url === null ? null : withoutPassword(new URL(row.feed_url)),
    feed_error: row.feed_error,
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
  }
}
