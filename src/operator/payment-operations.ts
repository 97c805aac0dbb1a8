/** Merchants' payments: record, list, reverse. The ageing of debts. */
import Type from 'typebox'
import { cursorId, pageOf, sliceOf } from '../accounts/id-pages.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { REASON_LENGTH_MAX } from '../events/append-money.ts'
import type { AgeingRow } from '../ledger/ageing.ts'
import { findPaymentById, type ListedPayment, listPaymentPage } from '../ledger/payment-store.ts'
import { recordPayment } from '../ledger/record-payment.ts'
import { reversePayment } from '../ledger/reverse-payment.ts'
import { auditedAppend } from '../orders/audited-append.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import {
  Dollars,
  idText,
  smallId,
  TextOrNull,
  Time,
  TimeOrNull,
} from '../platform/http/field-types.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { dollars, toMicros } from './money-fields.ts'
import type { OpenWriter } from './money-writer.ts'

const PATH = '/api/v1/network/payments/'

export const PaymentRecord = Type.Object({
  payment_id: Type.String(),
  merch_id: Type.Integer(),
  merchant: Type.String({ description: 'Its name' }),
  reference: Type.String({ description: 'The bank’s, unique per merchant' }),
  paid_on: Type.String({ format: 'date' }),
  amount_usd: Dollars,
  reversed_at: TimeOrNull,
  reverse_reason: TextOrNull,
  datetime_created: Time,
  datetime_updated: Time,
})

const account = {
  owed_usd: Type.String({ description: 'What the merchant owes now, US dollars' }),
  credit_usd: Type.String({ description: 'Money that has met no debt yet, US dollars' }),
}

export const RecordedPayment = Type.Object({
  payment_id: Type.String(),
  merch_id: Type.Integer(),
  reference: Type.String(),
  paid_on: Type.String({ format: 'date' }),
  amount_usd: Dollars,
  releases: Type.Array(
    Type.Object({ pub_id: Type.Integer(), earnings_usd: Dollars, items: Type.Integer() }),
    { description: 'Earnings that the payment releases to each publisher' },
  ),
  ...account,
  datetime_created: Time,
  datetime_updated: Time,
})

const listPayments = list({
  id: 'listPayments',
  tag: 'network',
  path: PATH,
  summary: 'List merchants’ payments, the latest first',
  permission: 'payments.read',
  query: Type.Object({ merch_id: Type.Optional(smallId) }),
  entry: PaymentRecord,
  run: async ({ db, query }) => {
    const { merch_id: merchId = null, limit } = query
    const rows = await listPaymentPage(db, { merchId, before: cursorId(query), limit })
    return pageOf(rows, limit, { idOf: ({ payment_id }) => payment_id, toEntry: toRecord })
  },
})

export const recordPaymentBy = (open: OpenWriter) =>
  action({
    id: 'recordPayment',
    tag: 'network',
    method: 'POST',
    path: PATH,
    summary: 'Record a merchant’s payment, and see what it releases',
    description:
      'A reference is recorded once per merchant. A 503 after recording says so: the payment then ' +
      'counts as soon as a worker is at work.',
    permission: 'network.write',
    status: 201,
    isLong: true, // The event is in the log before its effect can be read.
    body: Type.Object({
      merch_id: smallId,
      amount_usd: dollars('Above 0'),
      paid_on: Type.String({ maxLength: 10, description: 'Day of the payment, `2026-03-02`' }),
      reference: Type.String({ description: 'The bank’s, 1 to 100 characters' }),
    }),
    entry: RecordedPayment,
    run: async ({ db, body, now, audit }) => {
      const { merch_id: merchId, paid_on: paidOn } = body
      await requireMerchant(db, merchId)
      const reference = body.reference.trim()
      const after = { merch_id: merchId, amount_usd: body.amount_usd, paid_on: paidOn, reference }
      const target = `merchant:${merchId}`
      const deps = auditedAppend({ ...open(), db }, (tx) =>
        audit({ action: 'payment.record', target, after }, tx),
      )
      const amountMicros = toMicros(body.amount_usd)
      const recorded = await recordPayment(deps, { merchId, amountMicros, paidOn, reference })
      return [{ ...recorded, ...bornAt(now) }]
    },
  })

export const reversePaymentBy = (open: OpenWriter) =>
  action({
    id: 'reversePayment',
    tag: 'network',
    method: 'POST',
    path: `${PATH}:payment_id/reverse/`,
    summary: 'Reverse a payment that bounced or was recorded by mistake',
    description:
      'The merchant owes the amount again. Earnings that it released stay released. 409 if ' +
      'it was reversed before.',
    permission: 'network.write',
    isLong: true,
    params: Type.Object({ payment_id: idText() }),
    body: Type.Object({
      reason: Type.String({ description: `1 to ${REASON_LENGTH_MAX} characters` }),
    }),
    entry: Type.Object({
      payment_id: Type.String(),
      merch_id: Type.Integer(),
      reference: Type.String(),
      amount_usd: Dollars,
      reason: Type.String(),
      ...account,
      datetime_created: Time,
      datetime_updated: Time,
    }),
    run: async ({ db, params, body, now, audit }) => {
      const payment = await findPaymentById(db, params.payment_id)
      if (payment === null) throw notFound(`No payment ${params.payment_id}`)
      const { merch_id: merchId, reference, amount_usd } = payment
      const deps = auditedAppend({ ...open(), db }, (tx) =>
        audit(
          {
            action: 'payment.reverse',
            target: `payment:${payment.payment_id}`,
            before: { merch_id: merchId, reference, amount_usd },
            after: { reason: body.reason.trim() },
          },
          tx,
        ),
      )
      const reversed = await reversePayment(deps, { merchId, reference, reason: body.reason })
      const times = { ...bornAt(now), datetime_created: payment.recorded_at }
      return [{ ...reversed, ...times }]
    },
  })

export const AgeingRecord = Type.Object({
  merch_id: Type.Integer(),
  merchant: Type.String({ description: 'Its name' }),
  owed_usd: Dollars,
  oldest_due_at: TimeOrNull,
  up_to_30_days_usd: Dollars,
  up_to_60_days_usd: Dollars,
  up_to_90_days_usd: Dollars,
  over_90_days_usd: Dollars,
  credit_usd: Type.String({ description: 'Paid, and not owed yet, US dollars' }),
})

/** `read` settles every merchant, which takes seconds in a large network. */
const listAgeing = (read: () => Promise<readonly AgeingRow[]>) =>
  list({
    id: 'listAgeing',
    tag: 'network',
    path: '/api/v1/network/ageing/',
    summary: 'Which merchant owes how much, and since when',
    description: 'A merchant that owes nothing and has no credit is left out.',
    permission: 'payments.read',
    entry: AgeingRecord,
    run: async ({ query }) => sliceOf(await read(), query),
  })

export const paymentOperations = (deps: {
  readonly open: OpenWriter
  readonly readAgeing: () => Promise<readonly AgeingRow[]>
}): Operation[] => [
  listPayments,
  recordPaymentBy(deps.open),
  reversePaymentBy(deps.open),
  listAgeing(deps.readAgeing),
]

const bornAt = (now: Date) => ({
  datetime_created: formatTimestamp(now),
  datetime_updated: formatTimestamp(now),
})

function toRecord({ recorded_at, ...payment }: ListedPayment) {
  return {
    ...payment,
    datetime_created: recorded_at,
    datetime_updated: payment.reversed_at ?? recorded_at,
  }
}
