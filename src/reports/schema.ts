/** Parameters of reports, and the shapes that are not tables. */
import Type, { type Static } from 'typebox'
import { PublisherParams } from '../accounts/schema.ts'
import { REASONS_DESCRIPTION } from '../events/reason-words.ts'
import { MINIMUM_PAYOUT_MICROS } from '../ledger/statement.ts'
import { Dollars, idText, orNull, Time, timestamp } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import { REPORT_COLUMNS, REPORT_NAMES, type ReportName } from './report.ts'

/** A page that a client can hold and the server can create in a moment. */
const REPORT_LIMIT_MAX = 10_000
export const REPORT_LIMIT = 1_000
/** A quarter and some days; longer ranges need several requests. */
export const REPORT_DAYS_MAX = 100
const CURSOR_LENGTH_MAX = 128

export const ReportParams = Type.Object({
  ...PublisherParams.properties,
  report: Type.Union(REPORT_NAMES.map((name) => Type.Literal(name))),
})

export const ReportQuery = Type.Object({
  date_from: timestamp('First day, ISO 8601'),
  date_to: timestamp(`Last day, inclusive; at most ${REPORT_DAYS_MAX} days at a time`),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: REPORT_LIMIT_MAX, default: REPORT_LIMIT }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: CURSOR_LENGTH_MAX, description: '`next` of the page before' }),
  ),
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv')], {
      description: 'json: a page; csv: all days in one file',
    }),
  ),
})

/** The meaning of a row, and the amounts that differ from what their names suggest. */
const ROW_DESCRIPTIONS: Readonly<Record<ReportName, string>> = {
  clicks:
    'One row per click or impression (is_click); earnings is in cents, earnings_usd is not. ' +
    'cookie_id is a hash of the reader, or of the page session, to each publisher another; ' +
    'channel the utm_source, and click_u1_param the u1, with which the link was opened; ' +
    'link_type open or exclusive; link_source api, linkmate or wrapper. unbillable_reason says ' +
    'why the click itself costs nobody anything: paid_per_order, as its ' +
    `orders are paid for; no_bidder: no campaign won it; ${REASONS_DESCRIPTION}`,
  orders:
    'One row per product, on the day of its order’s first report, whatever its ' +
    'checkout_timestamp; earnings and revenue are the whole order’s, the same in each of its ' +
    'rows: only line_earnings and line_revenue may be summed. For a link that was only seen ' +
    '(an impression in the order’s record), the click is the one that identifies the reader, ' +
    'and may have led to another shop',
  returns:
    'One row per returned product, on the day of the return’s report, or of its order’s if that ' +
    'was later; amounts are negative',
  payments:
    'One row per order product, or day of clicks, that a merchant’s payment released, on the day ' +
    'of its paid_at. Debts form a queue in order of due date: the clicks of a UTC day when it ' +
    'is over, an order at its locks_at, a later return when it is reported. ' +
    'The merchant’s money covers the queue from the front; a debt covered in part (PART_PAID) ' +
    'releases that part of its earnings, rounded down on the running total. A reversal ' +
    '(TAKEN_BACK) closes the open rest of its own debt, and covers others as far as that was ' +
    'paid: the part it covers names no payment. A statement sums up the rows of its ' +
    'statement_id, except for reports after it was issued',
}

export const REPORTS_DESCRIPTION = REPORT_NAMES.map(
  (name) => `${name}: ${ROW_DESCRIPTIONS[name]}. Columns: ${REPORT_COLUMNS[name].join(', ')}.`,
).join('\n\n')

export const ReportPage = Type.Object({
  report: Type.String(),
  pub_id: Type.Integer(),
  next: orNull(Type.String(), '`cursor` of the next page; null: that was the last'),
  rows: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description: 'Under the names of the columns of the CSV file',
  }),
})

/** A merchant's account over some days, and its balance today. */
export const LedgerPage = Type.Object({
  merch_id: Type.Integer(),
  owed_usd: Type.String({ description: 'Due by now, and not covered' }),
  credit_usd: Type.String({ description: 'Paid, and not owed yet' }),
  next: ReportPage.properties.next,
  rows: ReportPage.properties.rows,
})

export const OrderParams = Type.Object({
  ...PublisherParams.properties,
  order_id: idText('order_id of the report'),
})

export const StatementParams = Type.Object({
  ...PublisherParams.properties,
  month: Type.String({ pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' }),
})

export const StatementQuery = Type.Object({
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv'), Type.Literal('html')]),
  ),
})

export const StatementRecord = Type.Object({
  statement_id: Type.String(),
  pub_id: Type.Integer(),
  month: Type.String(),
  opening_usd: Dollars,
  released_usd: Dollars,
  taken_back_usd: Dollars,
  payout_usd: Type.String({
    description:
      'Opening, plus released, less reversed: in whole cents where that is ' +
      `$${formatExact(MINIMUM_PAYOUT_MICROS)} or more, else 0`,
  }),
  closing_usd: Type.String({ description: 'The rest: the opening of the next month' }),
  issued_at: Time,
})
export type StatementRecord = Static<typeof StatementRecord>

/** The composition of a publisher's month, per merchant. */
export const StatementDetail = Type.Object({
  ...StatementRecord.properties,
  merchants: Type.Array(
    Type.Object({
      merch_id: Type.Integer(),
      merchant: Type.String(),
      released_usd: Dollars,
      taken_back_usd: Dollars,
    }),
  ),
})
export type StatementDetail = Static<typeof StatementDetail>
