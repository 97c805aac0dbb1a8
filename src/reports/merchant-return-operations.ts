/** The returns that a merchant has reported: applied, waiting for their order, or refused. */
import Type, { type Static } from 'typebox'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { list, type Operation } from '../accounts/operation.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { Dollars, orNull, TextOrNull, Time } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import {
  listMerchantReturns,
  type MerchantReturn,
  RETURN_STATES,
} from './merchant-returns-store.ts'

const DayOrNone = Type.Optional(
  Type.String({ format: 'date', description: 'UTC day on which the return was accepted' }),
)

export const ListedReturn = Type.Object({
  return_id: Type.String({ description: 'The merchant’s own, as all ids here' }),
  checkout_id: Type.String({ description: 'The order' }),
  merch_id: Type.Integer(),
  state: Type.Enum([...RETURN_STATES], {
    description: '`waiting`: its order has not been reported yet',
  }),
  reason: orNull(
    Type.String(),
    'Of a refusal: `unknown_line`, `over_quantity`, `over_amount` or `other_currency`',
  ),
  products: orNull(Type.String(), 'Names of the returned products; null if none is known'),
  quantity: Type.Integer({ description: 'Pieces; 0 if the return names an amount' }),
  amount: orNull(Type.String(), 'In `currency`; null if the return names pieces'),
  currency: TextOrNull,
  return_revenue_usd: Dollars,
  return_commission_usd: Dollars,
  returned_at: Time,
  accepted_at: Time,
  datetime_created: Time,
  datetime_updated: Time,
})

const listReturns = list({
  id: 'listMerchantReturns',
  tag: 'merchants',
  path: '/api/v1/merchants/:merch_id/returns/',
  summary: 'List the returns of a merchant, the latest first, with what each reversed',
  description: 'Amounts are negative, as in the returns report; 0 unless `state` is `applied`.',
  permission: 'figures.read',
  params: MerchantParams,
  query: Type.Object({ date_from: DayOrNone, date_to: DayOrNone }),
  entry: ListedReturn,
  run: async ({ db, params: { merch_id: merchId }, query }) => {
    const { limit, date_from: dayFrom = null, date_to: dayTo = null } = query
    if (dayFrom !== null && dayTo !== null && dayFrom > dayTo) {
      throw badRequest([{ field: 'date_to', rule: 'must not be before date_from' }])
    }
    const wanted = { merchId, dayFrom, dayTo, before: cursorId(query), limit }
    return pageOf(await listMerchantReturns(db, wanted), limit, {
      idOf: ({ event_id }) => event_id,
      toEntry: (row) => toListed(merchId, row),
    })
  },
})

export const merchantReturnOperations: readonly Operation[] = [listReturns]

function toListed(merchId: number, row: MerchantReturn): Static<typeof ListedReturn> {
  const accepted = formatTimestamp(row.accepted_at)
  return {
    return_id: row.return_id,
    checkout_id: row.order_id,
    merch_id: merchId,
    state: row.state,
    reason: row.reason,
    products: row.products,
    quantity: row.quantity,
    amount: row.amount,
    currency: row.currency,
    return_revenue_usd: formatExact(-BigInt(row.revenue_micros)),
    return_commission_usd: formatExact(-BigInt(row.commission_micros)),
    returned_at: formatTimestamp(row.returned_at),
    accepted_at: accepted,
    datetime_created: accepted,
    datetime_updated: accepted,
  }
}
