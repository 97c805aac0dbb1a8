/** Clicks that were found invalid later: list them, reverse them. */
import Type from 'typebox'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { auditedAppend } from '../orders/audited-append.ts'
import { Dollars, orNull, Time } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { readClick } from '../stats/click-view.ts'
import { acceptReversal, reversalChange, showReversal } from '../stats/reverse-clicks.ts'
import { ReversalRecord } from '../stats/schema.ts'
import type { OpenWriter } from './money-writer.ts'
import { listReversedClicks, type ReversedClick } from './reversal-store.ts'

const PATH = '/api/v1/network/reversals/'

export const ReversedClickRecord = Type.Object({
  reversal_id: Type.String(),
  click_id: Type.String(),
  clicked_at: Time,
  pub_id: Type.Integer(),
  merch_id: Type.Integer(),
  cost_usd: Type.String({ description: 'What the merchant had paid for it, US dollars' }),
  earnings_usd: Dollars,
  reason: Type.String(),
  datetime_created: Time,
  datetime_updated: Time,
})

const Hex = Type.Optional(
  orNull(Type.String({ maxLength: 64, description: '32 hexadecimal characters' })),
)

const listReversals = list({
  id: 'listReversals',
  tag: 'network',
  path: PATH,
  summary: 'List reversed clicks, the latest reversal first',
  permission: 'network.read',
  entry: ReversedClickRecord,
  run: async ({ db, query }) => {
    const rows = await listReversedClicks(db, { before: cursorId(query), limit: query.limit })
    return pageOf(rows, query.limit, {
      idOf: ({ reversal_event_id }) => reversal_event_id,
      toEntry: toRecord,
    })
  },
})

export const reverseClicksBy = (open: OpenWriter) =>
  action({
    id: 'reverseNetworkClicks',
    tag: 'network',
    method: 'POST',
    path: PATH,
    summary: 'Reverse a click, or all clicks of an auction result',
    description:
      'One of `click`, the id of a click, and `result`, the number of an auction result, must be ' +
      'sent. 409 if all of them were reversed before.',
    permission: 'network.write',
    status: 201,
    isLong: true,
    body: Type.Object({
      click: Hex,
      result: Hex,
      reason: Type.String({ description: '1 to 255 characters; shown beside the click' }),
    }),
    entry: Type.Object({
      ...ReversalRecord.properties,
      datetime_created: Time,
      datetime_updated: Time,
    }),
    run: async ({ db, body, now, audit }) => {
      const { click: clickId = null, result: resultNumber = null, reason } = body
      const wanted = { clickId, resultNumber, reason }
      const writer = { ...open(), db }
      const deps = auditedAppend(writer, (tx) => audit(reversalChange(wanted), tx))
      const accepted = await acceptReversal(deps, wanted)
      await deps.folded()
      const at = formatTimestamp(now)
      return [{ ...(await showReversal(db, accepted)), datetime_created: at, datetime_updated: at }]
    },
  })

export const reversalOperations = (open: OpenWriter): Operation[] => [
  listReversals,
  reverseClicksBy(open),
]

function toRecord(row: ReversedClick) {
  const click = readClick(row)
  return {
    reversal_id: row.reversal_event_id,
    click_id: click.clickId,
    clicked_at: formatTimestamp(row.at),
    pub_id: row.pub_id,
    merch_id: row.merch_id,
    cost_usd: formatExact(click.merchantCostMicros),
    earnings_usd: formatExact(click.publisherEarningsMicros),
    reason: row.reverse_reason ?? '',
    datetime_created: formatTimestamp(row.reversed_at),
    datetime_updated: formatTimestamp(row.reversed_at),
  }
}
