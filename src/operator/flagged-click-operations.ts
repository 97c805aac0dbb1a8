/** Paid clicks that look like those of no reader, for a person to reverse or to leave. */
import Type, { type Static } from 'typebox'
import { sliceOf } from '../accounts/id-pages.ts'
import { list, type Operation } from '../accounts/operation.ts'
import { explainReason } from '../events/reason-words.ts'
import { Dollars, Time } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import { DAY_MS, formatTimestamp } from '../platform/time/timestamp.ts'
import { type FlaggedClicks, listFlaggedClicks, SUSPICIOUS_MIN } from './flagged-click-store.ts'

/** Somebody looks every few days; later, the statements of the month are issued. */
const DAYS = 7

export const FlaggedClicksRecord = Type.Object({
  day: Type.String({ format: 'date', description: 'UTC' }),
  pub_id: Type.Integer(),
  clicks: Type.Array(Type.String(), {
    description: 'Ids of the paid clicks that are not reversed; `POST …/reversals/` takes each',
  }),
  invalid_clicks: Type.Integer({ description: 'Of the same address on that day, unpaid' }),
  why: Type.String({ description: 'The most frequent reason of the invalid clicks' }),
  cost_usd: Type.String({ description: 'What merchants paid for the clicks, US dollars' }),
  earnings_usd: Dollars,
  datetime_created: Time,
  datetime_updated: Time,
})

export const flaggedClickOperations: readonly Operation[] = [
  list({
    id: 'listFlaggedClicks',
    tag: 'network',
    path: '/api/v1/network/flagged_clicks/',
    summary: 'List paid clicks of addresses that made many invalid ones, the costliest first',
    description:
      `One entry for a publisher, a UTC day and an address, of the last ${DAYS} days. An address ` +
      `is listed if at least ${SUSPICIOUS_MIN} of its clicks, and no fewer than its paid ones, ` +
      'were too fast, loaded in a page, repeated, or over a limit of clicks.',
    permission: 'network.read',
    entry: FlaggedClicksRecord,
    run: async ({ db, now, query }) => {
      const since = new Date(now.getTime() - DAYS * DAY_MS)
      return sliceOf((await listFlaggedClicks(db, since)).map(toRecord), query)
    },
  }),
]

function toRecord(row: FlaggedClicks): Static<typeof FlaggedClicksRecord> {
  return {
    day: row.day,
    pub_id: row.pub_id,
    clicks: row.click_ids.map((id) => id.toString('hex')),
    invalid_clicks: row.invalid_clicks,
    why: explainReason(row.reason),
    cost_usd: formatExact(row.merchant_cost_micros),
    earnings_usd: formatExact(row.publisher_earnings_micros),
    datetime_created: formatTimestamp(row.first_at),
    datetime_updated: formatTimestamp(row.last_at),
  }
}
