/** Wire shapes of a publisher's payments page. */
import Type, { type Static } from 'typebox'
import { Dollars, orNull, Time } from '../platform/http/field-types.ts'
import { StatementRecord } from './schema.ts'

/** Earnings that no merchant has paid for yet. */
const unpaid = {
  open_usd: Type.String({
    description: 'May still change: orders until they lock, today’s clicks',
  }),
  due_usd: Type.String({ description: 'Final, and not paid by the merchant yet' }),
}

export const MerchantEarnings = Type.Object({
  merch_id: Type.Integer(),
  merchant_name: Type.String(),
  ...unpaid,
  due_since: orNull(Time, 'Of the oldest part that is due'),
  released_usd: Type.String({ description: 'Paid by the merchant, less reversals' }),
})

export const Payments = Type.Object({
  ...unpaid,
  balance_usd: Type.String({ description: 'Released, and not paid out' }),
  paid_out_usd: Dollars,
  minimum_payout_usd: Dollars,
  merchants: Type.Array(MerchantEarnings, { description: 'Who owes most first' }),
  statements: Type.Array(StatementRecord, { description: 'The last one first' }),
})

export type MerchantEarnings = Static<typeof MerchantEarnings>
export type Payments = Static<typeof Payments>
