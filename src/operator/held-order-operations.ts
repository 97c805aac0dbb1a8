/** Orders of all merchants that wait for a person or for an exchange rate. */
import Type, { type Static } from 'typebox'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { action, type Call, list, type Operation } from '../accounts/operation.ts'
import { REASON_LENGTH_MAX } from '../events/append-money.ts'
import { auditedAppend } from '../orders/audited-append.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { idText, orNull, Time } from '../platform/http/field-types.ts'
import { requireText } from '../platform/text/characters.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { decideOrder, type OrderDecision } from '../reports/decide-order.ts'
import { OrderRecord } from '../reports/order-record-schema.ts'
import { findOrderKey, type HeldOrder, listHeldOrderPage } from '../reports/order-record-store.ts'
import type { OpenWriter } from './money-writer.ts'

const PATH = '/api/v1/network/orders/held/'
const OrderParams = Type.Object({ order_id: idText('Ours, as in the list') })

export const HeldOrderRecord = Type.Object({
  order_id: Type.String({ description: 'Ours' }),
  checkout_id: Type.String({ description: 'The merchant’s own' }),
  merch_id: Type.Integer(),
  hold: Type.Enum(['review', 'no_rate'], {
    description: 'What it waits for: `review` for a person, `no_rate` for an exchange rate',
  }),
  currency: Type.String(),
  value: Type.String({ description: 'In its currency' }),
  ordered_at: Time,
  datetime_created: Time,
  datetime_updated: Time,
})

const DecidedOrder = Type.Object({
  ...OrderRecord.properties,
  pub_id: orNull(Type.Integer(), 'Null: nobody led to it'),
  datetime_created: Time,
  datetime_updated: Time,
})

const listHeld = list({
  id: 'listHeldOrders',
  tag: 'network',
  path: PATH,
  summary: 'List the held orders of all merchants, the oldest first',
  permission: 'orders.review',
  entry: HeldOrderRecord,
  run: async ({ db, query }) => {
    const rows = await listHeldOrderPage(db, { after: cursorId(query), limit: query.limit })
    return pageOf(rows, query.limit, { idOf: ({ order_id }) => order_id, toEntry: toRecord })
  },
})

export const approveOrderBy = (open: OpenWriter) =>
  action({
    id: 'approveHeldOrder',
    tag: 'network',
    method: 'POST',
    path: `${PATH}:order_id/approve/`,
    summary: 'Approve an order that is held for review',
    description: '409 if it does not wait for a person.',
    permission: 'orders.review',
    isLong: true,
    params: OrderParams,
    entry: DecidedOrder,
    run: (call) => decide(open, call, { kind: 'approve' }),
  })

export const rejectOrderBy = (open: OpenWriter) =>
  action({
    id: 'rejectHeldOrder',
    tag: 'network',
    method: 'POST',
    path: `${PATH}:order_id/reject/`,
    summary: 'Reject an order that is not locked yet',
    description: '409 if it is locked or was rejected before.',
    permission: 'orders.review',
    isLong: true,
    params: OrderParams,
    body: Type.Object({
      reason: Type.String({ description: `1 to ${REASON_LENGTH_MAX} characters` }),
    }),
    entry: DecidedOrder,
    run: (call) => {
      const reason = requireText('reason', call.body.reason, REASON_LENGTH_MAX)
      return decide(open, call, { kind: 'reject', reason })
    },
  })

export const heldOrderOperations = (open: OpenWriter): Operation[] => [
  listHeld,
  approveOrderBy(open),
  rejectOrderBy(open),
]

async function decide(
  open: OpenWriter,
  call: Call<Static<typeof OrderParams>, unknown, unknown>,
  decision: OrderDecision,
) {
  const { db, params, now, audit } = call
  const key = await findOrderKey(db, params.order_id)
  if (key === null) throw notFound(`No order ${params.order_id}`)
  const deps = auditedAppend({ ...open(), db }, (tx) =>
    audit(
      {
        action: `order.${decision.kind}`,
        target: `order:${params.order_id}`,
        after: { merch_id: key.merchId, checkout_id: key.orderId, ...decision },
      },
      tx,
    ),
  )
  const order = await decideOrder(deps, { ...key, now, decision })
  const created = order.accepted_at ?? formatTimestamp(now)
  const times = { datetime_created: created, datetime_updated: formatTimestamp(now) }
  return [{ ...order, order_id: params.order_id, ...times }]
}

function toRecord({ accepted_at, ordered_at, ...order }: HeldOrder) {
  return {
    ...order,
    ordered_at: formatTimestamp(ordered_at),
    datetime_created: formatTimestamp(accepted_at),
    datetime_updated: formatTimestamp(accepted_at),
  }
}
