/** Wire shape of one order with its explanation. */
import Type from 'typebox'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { Dollars, orNull, TextOrNull, Time, TimeOrNull } from '../platform/http/field-types.ts'

const REVENUE_DESCRIPTION =
  '`revenue_usd` is `value` × `usd_per_base` ÷ `currency_per_base`; `commission_usd` is that × the ' +
  '`rate` of the terms (CPA), or their `payment_usd` (EPP). Both are rounded to a whole ' +
  'micro-dollar, half to even.'
const EARNINGS_DESCRIPTION =
  '`earnings_usd` is the commission × the `share` of the terms, rounded down to a whole ' +
  'micro-dollar.'
const LINES_DESCRIPTION =
  'Each of these is divided over the lines by `price` × `quantity`, or alike where that is 0 for ' +
  'all, in whole cents if it is of whole cents, else in micro-dollars: every line gets its part ' +
  'rounded down, and what is left goes one each to those that lost most, the first ones where ' +
  'they lost alike. When k of a line’s q units are returned, k ÷ q of its amounts are ' +
  'reversed, rounded half to even in that unit; a payment per purchase (EPP) is not.'

/** The rules of order-figures.ts for readers of the reference; a test holds them to it. */
export const ORDER_DESCRIPTION = [
  REVENUE_DESCRIPTION,
  EARNINGS_DESCRIPTION,
  LINES_DESCRIPTION,
].join(' ')
export const MERCHANT_ORDER_DESCRIPTION = [REVENUE_DESCRIPTION, LINES_DESCRIPTION].join(' ')

const Hold = orNull(Type.Enum(['no_rate', 'review']), 'What it waits for')

const Terms = Type.Object(
  {
    campaign_id: orNull(Type.Integer(), 'Null: the merchant’s own rate for links only seen'),
    model: Type.String({ description: 'cpc, cpa, epp' }),
    rate: orNull(Type.Number(), 'CPA: the commission, a fraction'),
    payment_usd: orNull(Dollars, 'EPP: per purchase'),
    share: Type.Number({ description: 'The publisher’s part of it' }),
  },
  { description: 'Sealed at the click' },
)

const Touch = Type.Object({
  click_id: orNull(
    Type.String(),
    'Null, as its time: another publisher’s. Of a link that was only seen, its impression’s number',
  ),
  clicked_at: TimeOrNull,
  verdict: Type.Enum([
    'won',
    'older_than_winner',
    'not_named',
    'outside_window',
    'after_order',
    'other_merchant',
    'invalid_click',
    'unknown_click',
  ]),
})

const Report = Type.Object({
  source: Type.Enum(['pixel', 'import', 's2s']),
  event_id: Type.String(),
  updated_at: Time,
  currency: Type.String(),
  value: Type.String(),
  is_cancelled: Type.Boolean(),
  is_test: Type.Boolean(),
  value_is_net: Type.Boolean({ description: 'The value is net of all returns' }),
  hold: Hold,
})

const Line = Type.Object({
  order_product_id: Type.String(),
  product_id: TextOrNull,
  name: TextOrNull,
  price: orNull(
    Type.String(),
    'Of one unit, as reported; null: missing, or in another currency than the order',
  ),
  quantity: Type.Integer(),
  returned: Type.Integer(),
  line_revenue_usd: Dollars,
  line_commission_usd: Dollars,
  line_earnings_usd: Dollars,
})

const Return = Type.Object({
  return_id: Type.String(),
  state: Type.String({ description: 'applied, refused; waiting: its order is not reported yet' }),
  reason: orNull(Type.String(), 'Why it was refused'),
  quantity: Type.Integer({ description: 'Units; 0 where an amount was refunded' }),
  amount: orNull(Type.String(), 'The refunded amount, as reported; null where units were returned'),
  currency: orNull(Type.String(), 'Of amount'),
  accepted_at: Time,
  return_revenue_usd: Dollars,
  return_commission_usd: Dollars,
  return_earnings_usd: Dollars,
})

const Entry = Type.Object({
  idempotency_key: Type.String(),
  kind: Type.String(),
  day: Type.String({ format: 'date' }),
  event_id: Type.String(),
  corrects: orNull(Type.String(), 'The idempotency_key of the entry it corrects'),
  account: Type.String(),
  merch_id: Type.Integer(),
  pub_id: Type.Integer(),
  article_id: Type.Integer(),
  amount_usd: Dollars,
})

const Rate = Type.Object({
  source: Type.String(),
  day: Type.String({ format: 'date' }),
  currency: Type.String(),
  usd_per_base: Type.String(),
  currency_per_base: Type.String(),
})

export const OrderRecord = Type.Object({
  order_id: Type.String({ description: 'Ours' }),
  checkout_id: Type.String({ description: 'The merchant’s own' }),
  merch_id: Type.Integer(),
  pub_id: Type.Integer(),
  is_test: Type.Boolean({ description: 'Nobody placed it: it is never paid' }),
  state: Type.Enum(['PENDING', 'LOCKED', 'PAID', 'REJECTED']),
  hold: Hold,
  locks_at: TimeOrNull,
  rejected_at: TimeOrNull,
  reject_reason: orNull(
    Type.String(),
    'cancelled, test, click_reversed, or what the operator wrote',
  ),
  ordered_at: TimeOrNull,
  accepted_at: TimeOrNull,
  source: orNull(Type.String(), 'Of the report whose amounts count'),
  currency: TextOrNull,
  value: orNull(Type.String(), 'In that currency, as reported'),
  rate: orNull(Rate, 'It was converted by this; null in US dollars, or while there is none'),
  revenue_usd: Dollars,
  commission_usd: Dollars,
  earnings_usd: Dollars,
  net_revenue_usd: Type.String({
    description: 'Less returns; as all that is net, 0 while held, rejected or nobody’s',
  }),
  net_commission_usd: Dollars,
  net_earnings_usd: Dollars,
  attribution: orNull(
    Type.String(),
    'exact, visitor, or impression: a link was only seen; null: nobody led to it',
  ),
  terms: orNull(Terms),
  click_id: orNull(
    Type.String(),
    'That led to it; for an impression, the one that shows whose it was',
  ),
  evidence: Type.Array(Touch, { description: 'The clicks that competed, and why one won' }),
  reports: Type.Array(Report, { description: 'The latest of each source' }),
  lines: Type.Array(Line),
  returns: Type.Array(Return),
  entries: Type.Array(Entry, { description: 'What the ledger holds of it, line by line' }),
})

export const MerchantOrderParams = Type.Object({
  ...MerchantParams.properties,
  order_id: Type.String({ description: 'The merchant’s own, percent-encoded' }),
})

/** The merchant's view, without the publisher's part. */
export const MerchantOrderRecord = Type.Object({
  ...Type.Omit(OrderRecord, ['earnings_usd', 'net_earnings_usd']).properties,
  order_id: orNull(Type.String(), 'Ours; null while only its returns are reported'),
  pub_id: orNull(Type.Integer(), 'Null: nobody led to it'),
  terms: orNull(Type.Omit(Terms, ['share'])),
  evidence: Type.Array(Touch, {
    description: 'The clicks that competed, and why one won; of another merchant’s no time',
  }),
  lines: Type.Array(Type.Omit(Line, ['line_earnings_usd'])),
  returns: Type.Array(Type.Omit(Return, ['return_earnings_usd'])),
  entries: Type.Array(Entry, { description: 'Those of the merchant’s account' }),
})
