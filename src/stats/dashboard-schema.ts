/** Wire shapes of the dashboard's pages on statistics, clicks and receipts. */

import Type, { type Static } from 'typebox'
import { Explanation } from '../auction/explanation-schema.ts'
import { orNull, TextOrNull, Time, timestamp } from '../platform/http/field-types.ts'
import { NextPage, PageCursor } from '../platform/http/page.ts'

const Dollars = Type.String({ description: 'US dollars, two decimals' })
const ExactDollars = Type.String({ description: 'US dollars, two to six decimals' })

/** Two years and a leap day: a chart of more days than pixels says nothing. */
export const PAGE_DAYS_MAX = 732

/** Unlike 4.4, one day is asked as (D, D): a form's two fields say what they mean. */
export const RangeQuery = Type.Object({
  date_from: timestamp('First UTC day, ISO 8601'),
  date_to: timestamp('Last UTC day, ISO 8601; the same day or a later one'),
})

const figures = {
  impressions: Type.Integer({ description: 'Page impressions' }),
  clicks: Type.Integer(),
  sales: Type.Integer(),
  revenue: Dollars,
  earnings: Dollars,
}
const counted = {
  ...figures,
  unpaid_clicks: Type.Integer({ description: 'Recorded with a reason, and not counted' }),
}

export const OverviewRow = Type.Object({
  article_id: Type.Integer(),
  article_name: Type.String(),
  article_url: Type.String(),
  merch_id: Type.Integer({ description: '0: of no merchant' }),
  merchant_name: TextOrNull,
  ...figures,
})

export const Overview = Type.Object({
  pub_id: Type.Integer(),
  date_from: Type.String({ format: 'date' }),
  date_to: Type.String({ format: 'date' }),
  totals: Type.Object({
    ...counted,
    earnings_per_click: orNull(ExactDollars, 'To a tenth of a cent; null without a click'),
  }),
  days: Type.Array(Type.Object({ event_date: Type.String({ format: 'date' }), ...counted })),
  rows: Type.Array(OverviewRow, { description: 'By article and merchant, best earning first' }),
  are_rows_cut: Type.Boolean(),
})

export const ClicksQuery = Type.Object({
  ...RangeQuery.properties,
  outcome: Type.Optional(Type.Union([Type.Literal('counted'), Type.Literal('unpaid')])),
  cursor: PageCursor,
})

export const ClickEntry = Type.Object({
  click_id: Type.String(),
  at: Time,
  auction_id: Type.String(),
  auction_result_number: Type.String({ description: 'Names the receipt' }),
  article_name: TextOrNull,
  article_url: TextOrNull,
  merchant_name: TextOrNull,
  product_name: TextOrNull,
  model: Type.String({ description: 'none, cpc, cpa, epp' }),
  price: ExactDollars,
  paid: ExactDollars,
  earnings: ExactDollars,
  is_counted: Type.Boolean(),
  reason: Type.String(),
  why: Type.String({ description: 'The reason as a sentence' }),
})

export const ReasonCount = Type.Object({
  reason: Type.String(),
  why: Type.String(),
  clicks: Type.Integer(),
})

export const ClickPage = Type.Object({
  clicks: Type.Array(ClickEntry),
  next: NextPage,
  reasons: Type.Array(ReasonCount, {
    description: 'How many clicks of the range have each reason; on its first page only',
  }),
})

export const OrdersQuery = Type.Object({
  ...RangeQuery.properties,
  cursor: PageCursor,
})

/** The order, and the click that led to it. */
const ofOrder = {
  order_id: Type.String({ description: 'Ours, as in the orders report' }),
  checkout_id: Type.String({ description: 'The merchant’s own id of the order' }),
  article_name: TextOrNull,
  article_url: TextOrNull,
  merchant_name: TextOrNull,
  auction_result_number: orNull(Type.String(), 'Names the receipt of the click'),
}

export const OrderEntry = Type.Object({
  ...ofOrder,
  at: Type.String({ format: 'date-time', description: 'When it was accepted' }),
  model: Type.String({ description: 'cpc, cpa, epp' }),
  state: Type.String({ description: 'PENDING, LOCKED, REJECTED' }),
  locks_at: Time,
  reject_reason: TextOrNull,
  is_cancelled: Type.Boolean({ description: 'No sale, though what is locked stands' }),
  revenue: ExactDollars,
  earnings: ExactDollars,
  returned: Type.String({ description: 'What returns have taken of the earnings since' }),
})

export const OrderPage = Type.Object({
  orders: Type.Array(OrderEntry),
  next: NextPage,
})

export const ReturnEntry = Type.Object({
  ...ofOrder,
  return_id: Type.String({ description: 'The merchant’s own, of its order’s returns one alone' }),
  at: Type.String({ format: 'date-time', description: 'When it took effect' }),
  ordered_at: Time,
  quantity: Type.Integer({ description: 'Returned pieces; 0: an amount was refunded' }),
  revenue: Type.String({ description: 'What it took, not positive; US dollars, exact' }),
  earnings: Type.String({ description: 'Likewise; 0 if clicks or purchases are paid' }),
})

export const ReturnPage = Type.Object({
  returns: Type.Array(ReturnEntry),
  next: NextPage,
})

export const NamedMerchant = Type.Object({ merch_id: Type.Integer(), name: Type.String() })
const NamedOffer = Type.Object({
  offer_id: Type.String(),
  title: Type.String(),
  url: Type.String(),
})

export const Receipt = Type.Object({
  auction_result_number: Type.String(),
  pub_id: Type.Integer(),
  auction_id: Type.String(),
  article_name: TextOrNull,
  article_url: TextOrNull,
  link_url: TextOrNull,
  explanation: Type.Union(
    [Explanation, Type.Null({ description: 'The receipt was dropped or never written' })],
    { description: 'As `souk explain` prints it' },
  ),
  merchants: Type.Array(NamedMerchant),
  offers: Type.Array(NamedOffer),
  clicks: Type.Array(ClickEntry),
})

export type Overview = Static<typeof Overview>
export type OverviewRow = Static<typeof OverviewRow>
export type ClickEntry = Static<typeof ClickEntry>
export type ClickPage = Static<typeof ClickPage>
export type ReasonCount = Static<typeof ReasonCount>
export type OrderEntry = Static<typeof OrderEntry>
export type OrderPage = Static<typeof OrderPage>
export type ReturnEntry = Static<typeof ReturnEntry>
export type ReturnPage = Static<typeof ReturnPage>
export type Receipt = Static<typeof Receipt>
