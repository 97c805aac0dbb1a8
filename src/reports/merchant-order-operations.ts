/** A merchant's orders: the list, and its decisions on those that are held. */
import Type, { type Static } from 'typebox'
import { action, type Call, list, type Operation } from '../accounts/operation.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { REASON_LENGTH_MAX } from '../events/append-money.ts'
import { auditedAppend } from '../orders/audited-append.ts'
import type { FoldedIntake } from '../orders/intake.ts'
import { badRequest, notFound, wrongState } from '../platform/errors/api-errors.ts'
import { orNull, TextOrNull, Time, TimeOrNull } from '../platform/http/field-types.ts'
import { pageOf, readCursor } from '../platform/http/list-cursor.ts'
import { formatExact } from '../platform/money/money.ts'
import { requireText } from '../platform/text/characters.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { decideOrder, type OrderDecision, requireOrder } from './decide-order.ts'
import {
  findMerchantOrderId,
  listMerchantOrders,
  type MerchantOrder,
  ORDER_FILTERS,
} from './merchant-orders-store.ts'
import { MerchantOrderRecord } from './order-record-schema.ts'
import { explainMerchantOrder } from './order-record-store.ts'

const PATH = '/api/v1/merchants/:merch_id/orders/'
const DayOrNone = Type.Optional(
  Type.String({ format: 'date', description: 'UTC day on which the order was accepted' }),
)
const OrderParams = Type.Object({
  ...MerchantParams.properties,
  order_id: Type.String({ description: 'The merchant’s own, percent-encoded; or ours' }),
})

export const ListedOrder = Type.Object({
  order_id: orNull(Type.String(), 'Ours'),
  checkout_id: Type.String({ description: 'The merchant’s own' }),
  merch_id: Type.Integer(),
  state: Type.Enum(['PENDING', 'LOCKED', 'PAID', 'REJECTED']),
  hold: orNull(
    Type.Enum(['no_rate', 'review']),
    'What it waits for: an exchange rate, or a person; null: for nothing',
  ),
  ordered_at: TimeOrNull,
  accepted_at: Time,
  locks_at: orNull(Time, 'From then on its amounts stand'),
  rejected_at: TimeOrNull,
  reject_reason: TextOrNull,
  source: TextOrNull,
  currency: TextOrNull,
  value: orNull(Type.String(), 'In its currency'),
  revenue_usd: Type.String({ description: 'As ordered' }),
  net_revenue_usd: Type.String({ description: 'Without returned goods' }),
  commission_usd: Type.String({ description: 'As ordered' }),
  net_commission_usd: Type.String({
    description: 'What the order costs now; a click that was paid for itself is not in it',
  }),
  attribution: orNull(Type.String(), 'How its click was found; null: nobody led to it'),
  click_id: TextOrNull,
  campaign_id: orNull(Type.Integer()),
  pub_id: orNull(Type.Integer()),
  publisher_name: TextOrNull,
  datetime_created: Time,
  datetime_updated: Time,
})

const listOrders = list({
  id: 'listMerchantOrders',
  tag: 'merchants',
  path: PATH,
  summary: 'The orders of a merchant, newest first, with state, attribution and cost',
  permission: 'figures.read',
  params: MerchantParams,
  query: Type.Object({
    date_from: DayOrNone,
    date_to: DayOrNone,
    state: Type.Optional(
      Type.Enum([...ORDER_FILTERS], { description: '`HELD`: pending, and waits for a decision' }),
    ),
  }),
  entry: ListedOrder,
  run: async ({ db, params, query, now }) => {
    const { limit, cursor, state: filter = null, date_from = null, date_to = null } = query
    const { merch_id: merchId } = params
    if (date_from !== null && date_to !== null && date_from > date_to) {
      throw badRequest([{ field: 'date_to', rule: 'must not be before date_from' }])
    }
    const place = readCursor(cursor, ['id', 'text'])
    const after =
      place === null ? null : { acceptedAt: String(place[0]), orderId: String(place[1]) }
    const days = { dayFrom: date_from, dayTo: date_to }
    const wanted = { merchId, filter, ...days, after, limit: limit + 1, now }
    return pageOf(await listMerchantOrders(db, wanted), limit, {
      cursorOf: (row) => [row.accepted_us, row.order_id],
      entryOf: (row) => toListed(merchId, row),
    })
  },
})

export const DecidedOrder = Type.Object({
  ...MerchantOrderRecord.properties,
  datetime_created: Time,
  datetime_updated: Time,
})

/** Makes a writer for one call: it waits until what was appended counts. */
type OpenWriter = () => FoldedIntake

const approveOrder = (open: OpenWriter) =>
  action({
    id: 'approveMerchantOrder',
    tag: 'merchants',
    method: 'POST',
    path: `${PATH}:order_id/approve/`,
    summary: 'Approve an order that is held for review',
    description: '409 if it does not wait for a person, for example because it was approved.',
    permission: 'orders.review',
    isLong: true,
    params: OrderParams,
    entry: DecidedOrder,
    run: (call) => decide(open, call, { kind: 'approve' }),
  })

const DEFAULT_REASON = 'rejected by the merchant'

const rejectOrder = (open: OpenWriter) =>
  action({
    id: 'rejectMerchantOrder',
    tag: 'merchants',
    method: 'POST',
    path: `${PATH}:order_id/reject/`,
    summary: 'Reject an order that is held',
    description: '409 if it is not held.',
    permission: 'orders.review',
    isLong: true,
    params: OrderParams,
    // Without a type, so that no body is a body too.
    body: Type.Unsafe<{ readonly reason?: string } | null | undefined>({
      properties: {
        reason: {
          type: 'string',
          description: `1 to ${REASON_LENGTH_MAX} characters; default: ${DEFAULT_REASON}`,
        },
      },
    }),
    entry: DecidedOrder,
    run: (call) => {
      const given = call.body?.reason ?? DEFAULT_REASON
      const reason = requireText('reason', given, REASON_LENGTH_MAX)
      return decide(open, call, { kind: 'reject', reason })
    },
  })

export const merchantOrderOperations = (open: OpenWriter): Operation[] => [
  listOrders,
  approveOrder(open),
  rejectOrder(open),
]

async function decide(
  open: OpenWriter,
  { db, params, now, audit }: Call<Static<typeof OrderParams>, unknown, unknown>,
  decision: OrderDecision,
) {
  const { merch_id: merchId, order_id: named } = params
  const orderId = await findMerchantOrderId(db, { merchId, named })
  if (orderId === null) throw notFound(`No order ${named}`)
  const key = { merchId, orderId, now }
  const { hold, state } = await requireOrder(db, key)
  // A merchant takes back an order that counts by another report, not by a decision.
  if (hold === null || state === 'REJECTED') {
    throw wrongState({ field: 'order', rule: `is ${state} and not held: nothing to decide` })
  }
  const deps = auditedAppend({ ...open(), db }, (tx) =>
    audit({ action: `order.${decision.kind}`, target: `order:${orderId}`, after: decision }, tx),
  )
  await decideOrder(deps, { ...key, decision })
  const order = await explainMerchantOrder(db, key)
  if (order === null) throw notFound(`No order ${named}`)
  const created = order.accepted_at ?? formatTimestamp(now)
  return [{ ...order, datetime_created: created, datetime_updated: formatTimestamp(now) }]
}

function toListed(merchId: number, row: MerchantOrder): Static<typeof ListedOrder> {
  const accepted = formatTimestamp(row.accepted_at)
  return {
    order_id: row.event_id,
    checkout_id: row.order_id,
    merch_id: merchId,
    state: row.state,
    hold: row.hold,
    ordered_at: formatTimestampOrNull(row.ordered_at),
    accepted_at: accepted,
    locks_at: formatTimestampOrNull(row.locks_at),
    rejected_at: formatTimestampOrNull(row.rejected_at),
    reject_reason: row.reject_reason,
    source: row.source,
    currency: row.currency ?? row.waiting_currency,
    value: row.value ?? row.waiting_value,
    revenue_usd: formatExact(row.revenue_micros),
    net_revenue_usd: formatExact(row.net_revenue_micros),
    commission_usd: formatExact(row.commission_micros),
    net_commission_usd: formatExact(row.net_commission_micros),
    attribution: row.attribution,
    click_id: row.click_id?.toString('hex') ?? null,
    campaign_id: row.campaign_id,
    pub_id: row.pub_id,
    publisher_name: row.publisher_name,
    datetime_created: accepted,
    datetime_updated: formatTimestamp(row.rejected_at ?? row.accepted_at),
  }
}
