/**
 * Wire shapes of orders and returns, from a browser or from a merchant's server.
 *
 * An order has the shape of the checkout call that merchants' tags already send. A server adds what
 * only it knows: when, which click, whether it was cancelled. Money is decimal text.
 */
import Type, { type Static } from 'typebox'
import { EVENTS_PER_CALL_MAX, PAGE_URL_LENGTH_MAX } from '../events/schema.ts'
import { orNull, TextOrNull, Time } from '../platform/http/field-types.ts'
import { CURRENCY_PATTERN } from '../platform/http/pattern.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import type { RefusalRow } from './intake-store.ts'

/** Orders or returns per signed request. 100 of the largest usual size fit into 1 MiB. */
export const BATCH_MAX = 500
const ORDER_ID_LENGTH_MAX = 50
const PRODUCT_ID_LENGTH_MAX = 100
/** Products per order. More is a wholesale list, not a reader's basket. */
export const LINES_MAX = 500
/** A million of one product for one reader is a wrong number. */
const QUANTITY_MAX = 1_000_000
/** The click ids that a tag remembers. It stores far fewer. */
const CLICK_IDS_MAX = 100
/** Ids of other systems are accepted and ignored. Google's have up to 100 characters. */
const CLICK_ID_LENGTH_MAX = 255
const CLICK_IDS_LENGTH_MAX = CLICK_IDS_MAX * (CLICK_ID_LENGTH_MAX + 1)
const AMOUNT_LENGTH_MAX = 28 // 15 digits, a dot and 12 decimals: more than any currency has.
const TIMESTAMP_LENGTH_MAX = 40
/** Warnings per response. More of the same would not help. */
export const WARNINGS_MAX = 100

const optionalText = (maxLength: number) => Type.Optional(orNull(Type.String({ maxLength })))

const amount = (of: string) =>
  Type.String({
    minLength: 1,
    maxLength: AMOUNT_LENGTH_MAX,
    description: `A decimal such as "105.00", not negative: ${of}, after discounts, without shipping and tax`,
  })
const Currency = Type.String({ pattern: CURRENCY_PATTERN, description: 'ISO 4217' })
const optionalTime = (description: string) =>
  Type.Optional(
    orNull(Type.String({ maxLength: TIMESTAMP_LENGTH_MAX }), `ISO 8601; ${description}`),
  )

const orderFields = {
  id: Type.String({
    minLength: 1,
    maxLength: ORDER_ID_LENGTH_MAX,
    description: 'Space around an id is no part of it',
  }),
  value: amount('what the buyer pays for the goods, before any returns'),
  currency: Currency,
  click_ids: Type.Optional(
    orNull(
      Type.Array(Type.String({ maxLength: CLICK_ID_LENGTH_MAX }), { maxItems: CLICK_IDS_MAX }),
      'What readers landed with in `cid`, or the merchant’s own such parameter, as far as ' +
        'this buyer is remembered; the latest valid click counts',
    ),
  ),
  cids: Type.Optional(
    orNull(
      Type.String({ maxLength: CLICK_IDS_LENGTH_MAX, description: 'The same, comma-separated' }),
    ),
  ),
  is_new_customer: Type.Optional(orNull(Type.Boolean())),
  test: Type.Optional(
    orNull(Type.Boolean(), 'true: an order that nobody placed; it is stored, shown and never paid'),
  ),
}

const CheckoutProduct = Type.Object({
  id: Type.String({ minLength: 1, maxLength: PRODUCT_ID_LENGTH_MAX }),
  name: optionalText(255),
  brand: optionalText(100),
  image_url: optionalText(2048),
  size: optionalText(20),
  color: optionalText(20),
  quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: QUANTITY_MAX, default: 1 })),
  price: amount('of one unit'),
  currency: Type.Optional(Currency),
})

const products = Type.Optional(
  orNull(
    Type.Array(CheckoutProduct, { maxItems: LINES_MAX }),
    'Left out of a later report, its sender’s earlier lines stay',
  ),
)

/** An order as reported by a reader's browser. */
export const CheckoutEvent = Type.Object({ order: Type.Object(orderFields), products })

/** The checkout call of the merchant tag. */
export const CheckoutBody = Type.Object({
  organization_type: Type.Literal('merchant'),
  organization_id: Type.Integer(),
  user: Type.Optional(
    Type.Object({
      source_url: optionalText(PAGE_URL_LENGTH_MAX),
      previous_url: optionalText(PAGE_URL_LENGTH_MAX),
    }),
  ),
  events: Type.Array(CheckoutEvent, { minItems: 1, maxItems: EVENTS_PER_CALL_MAX }),
})

/**
 * The other call of the merchant tag: a shop page, viewed by a reader who came through a smart
 * link.
 */
export const ShopViewBody = Type.Object({
  organization_type: Type.Literal('merchant'),
  organization_id: Type.Integer(),
  user: Type.Object({
    source_url: Type.String({ minLength: 1, maxLength: PAGE_URL_LENGTH_MAX }),
    previous_url: optionalText(PAGE_URL_LENGTH_MAX),
  }),
  events: Type.Array(
    Type.Object({
      click_ids: Type.Array(Type.String({ maxLength: CLICK_ID_LENGTH_MAX }), {
        minItems: 1,
        maxItems: CLICK_IDS_MAX,
      }),
      is_landing: Type.Optional(Type.Boolean({ default: false })),
    }),
    { minItems: 1, maxItems: EVENTS_PER_CALL_MAX },
  ),
})
export type ShopViewBody = Static<typeof ShopViewBody>

/** An order as reported by the merchant's server. */
export const ServerOrder = Type.Object({
  order: Type.Object({
    ...orderFields,
    click_id: Type.Optional(
      orNull(
        Type.String({
          maxLength: CLICK_ID_LENGTH_MAX,
          description: 'The one click of this order, where it is known',
        }),
      ),
    ),
    ordered_at: optionalTime(
      'without it, the time of the order’s first report; with a plain date, any click of that day of the shop’s may have led to it',
    ),
    updated_at: optionalTime('of two reports of an order the later counts; without it, now'),
    status: Type.Optional(Type.Union([Type.Literal('placed'), Type.Literal('cancelled')])),
    value_is_net: Type.Optional(
      orNull(
        Type.Boolean(),
        'true: the value is net of all returns, which then do not change it again',
      ),
    ),
  }),
  products,
})

export const OrdersBody = Type.Object({
  orders: Type.Array(ServerOrder, { minItems: 1, maxItems: BATCH_MAX }),
})

export const ReturnEntry = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: ORDER_ID_LENGTH_MAX,
    description: 'Of its order’s returns one alone; a parcel of two products is two returns',
  }),
  order_id: Type.String({
    minLength: 1,
    maxLength: ORDER_ID_LENGTH_MAX,
    description: 'order.id, as in the order’s report',
  }),
  product_id: Type.Optional(
    orNull(
      Type.String({ maxLength: PRODUCT_ID_LENGTH_MAX }),
      'The returned goods; one of product_id, line and amount is required',
    ),
  ),
  line: Type.Optional(
    orNull(
      Type.Integer({
        minimum: 0,
        maximum: LINES_MAX - 1,
        description: 'Of the order’s products, counted from 0',
      }),
    ),
  ),
  quantity: Type.Optional(
    orNull(
      Type.Integer({ minimum: 1, maximum: QUANTITY_MAX }),
      'Returned units; 1 where neither it nor amount is given',
    ),
  ),
  amount: Type.Optional(
    orNull(
      Type.String({ maxLength: AMOUNT_LENGTH_MAX }),
      'Instead of a quantity: how much of the value was refunded, such as "12.50"; of the line or ' +
        'product named, or of the whole order where none is',
    ),
  ),
  currency: Type.Optional(orNull(Currency, 'Of amount; it must be the order’s')),
  returned_at: optionalTime('without it, now'),
})

export const ReturnsBody = Type.Object({
  returns: Type.Array(ReturnEntry, { minItems: 1, maxItems: BATCH_MAX }),
})

export const AcceptedOrderRecord = Type.Object({
  order_id: Type.String(),
  held: Type.Union([Type.Literal('no_rate'), Type.Literal('review'), Type.Null()], {
    description: 'Why the order waits: for a recent exchange rate, or for review by a person',
  }),
  ignored: orNull(
    Type.String(),
    'Why the report changes nothing: the order’s amounts have closed (90 days), or it was rejected',
  ),
})

/** Beside `data`: accepted reports that may not mean what their sender intends. */
export const Warnings = Type.Array(
  Type.Object({
    field: Type.String({ description: 'As in the request, such as orders[0].order.click_id' }),
    message: Type.String(),
  }),
  {
    description:
      'Fields that are not known, click ids that are not, and values that are not the sum of ' +
      `the products; at most ${WARNINGS_MAX}`,
  },
)

export const RefusalRecord = Type.Object({
  refused_id: Type.String(),
  at: Time,
  endpoint: Type.String(),
  reason: Type.String(),
  is_accepted: Type.Boolean({ description: 'It was accepted; faults are warnings' }),
  faults: Type.Array(Type.Object({ field: Type.String(), rule: Type.String() })),
  body: Type.String({ description: 'As it was sent' }),
  origin: TextOrNull,
})

/** The response to a browser's report, without a body. */
export const Stored = Type.Unsafe<undefined>({
  type: 'null',
  description: 'Durable; the body is empty',
})

export type CheckoutBody = Static<typeof CheckoutBody>
export type CheckoutEvent = Static<typeof CheckoutEvent>
export type ServerOrder = Static<typeof ServerOrder>
export type ReturnEntry = Static<typeof ReturnEntry>

export function toRefusalRecord(row: RefusalRow): Static<typeof RefusalRecord> {
  return { ...row, at: formatTimestamp(row.at), faults: [...row.faults] }
}
