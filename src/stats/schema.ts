/** Wire shapes of the statistics endpoints. */
import Type, { type Static } from 'typebox'
import { orNull, TextOrNull, Time, timestamp } from '../platform/http/field-types.ts'
import { CURSOR_LENGTH_MAX, CURSOR_RULE, parseCursor } from './change-cursor.ts'

/** Default and maximum. */
export const LIMIT_MAX = 10_000
const TEXT_LENGTH_MAX = 64

/** The columns that rows may be sorted by. */
export const ORDER_COLUMNS = [
  'article_id',
  'advertiser_attributed_sales',
  'pub_earnings',
  'merch_id',
  'impressions',
  'advertiser_attributed_revenue',
  'event_date',
  'clicks',
] as const
export type OrderColumn = (typeof ORDER_COLUMNS)[number]

/** Reads `order_by`; null for an unknown column. */
export function readOrder(text: string): { orderBy: OrderColumn; isAscending: boolean } | null {
  // A plus sign that was not percent-encoded arrives as a space.
  const orderBy = ORDER_COLUMNS.find((name) => name === text.replace(/^[-+ ]/, ''))
  return orderBy === undefined ? null : { orderBy, isAscending: /^[+ ]/.test(text) }
}

const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_MAX }))

export const StatsQuery = Type.Object({
  date_from: timestamp('First day, ISO 8601'),
  date_to: timestamp('Last day, ISO 8601; must be greater than date_from'),
  limit: Limit,
  order_by: Type.Optional(
    Type.Refine(
      Type.String({
        maxLength: TEXT_LENGTH_MAX,
        description: `${ORDER_COLUMNS.join(', ')}; descending, or ascending after a leading +`,
      }),
      (text) => readOrder(text) !== null,
      () => `must be one of ${ORDER_COLUMNS.join(', ')}`,
    ),
  ),
  out_of_network: Type.Optional(
    Type.Boolean({ description: 'Also rows imported from other networks' }),
  ),
  as_of: Type.Optional(timestamp('Answer what the report said at this time')),
})

export type StatsQuery = Static<typeof StatsQuery>

export const ChangesQuery = Type.Object({
  since: timestamp('Only what changed at or after this time, ISO 8601'),
  limit: Limit,
  cursor: Type.Optional(
    Type.Refine(
      Type.String({
        maxLength: CURSOR_LENGTH_MAX,
        description: '`next` or `cursor` of an earlier answer',
      }),
      (text) => parseCursor(text) !== null,
      () => CURSOR_RULE,
    ),
  ),
})

export const StatsRow = Type.Object({
  advertiser_name: TextOrNull,
  article_name: Type.String(),
  advertiser_attributed_sales: Type.Integer(),
  pub_earnings: Type.String({
    description:
      'US dollars, rounded to two decimals row by row, half to even; `changes/` is exact',
  }),
  article_id: Type.Integer(),
  article_url: Type.String(),
  merch_id: Type.Integer({ description: '0: of no merchant, or not of this network' }),
  impressions: Type.Integer({ description: 'Of the article and day: never sum over merchants' }),
  advertiser_attributed_revenue: Type.String({ description: 'US dollars, rounded likewise' }),
  pub_id: Type.Integer(),
  event_date: Type.String({ format: 'date' }),
  clicks: Type.Integer({
    description: 'Valid ones, paid for or not, less earlier ones that were reversed on this day',
  }),
})

const Midnight = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2} 00:00:00$',
  description: 'YYYY-MM-DD 00:00:00',
})

export const Stats = Type.Object({
  date: Type.Object({ date_from: Midnight, date_to: Midnight }),
  pub_id: Type.Integer(),
  stats: Type.Array(StatsRow),
})

/** Fields of every change: time, cause, events of the log, day and article. */
const changeHead = {
  changed_at: Time,
  cause: Type.String({
    description: 'click, order, revision, return, reversal; placement; import; impression',
  }),
  event_ids: Type.Array(Type.String(), {
    description: 'The log’s events that caused it; empty for views, which are not kept for ever',
  }),
  event_date: Type.String({ format: 'date' }),
  article_id: Type.Integer(),
}

/** The change of the figures; amounts in US dollars with up to six decimals. */
const figureDifferences = {
  clicks: Type.Integer(),
  advertiser_attributed_sales: Type.Integer(),
  advertiser_attributed_revenue: Type.String(),
  pub_earnings: Type.String(),
}

export const StatsChanges = Type.Object({
  pub_id: Type.Integer(),
  since: Time,
  next: orNull(
    Type.String(),
    'Cursor of the next page, which continues every list; null: all lists are complete',
  ),
  cursor: Type.String({
    description: 'Where this page ends: a later request with it gets everything that came since',
  }),
  changes: Type.Array(
    Type.Object({
      change_id: Type.String(),
      ...changeHead,
      merch_id: Type.Integer(),
      ...figureDifferences,
    }),
    {
      description:
        'Every change of a row of the network’s own merchants, as differences; all zero where an ' +
        'event only creates the row (a click that no budget could pay, the return of a gift)',
    },
  ),
  placements: Type.Array(Type.Object({ ...changeHead, merch_id: Type.Integer() }), {
    description: 'Rows that appeared, with zeros, because their merchant was shown',
  }),
  networks: Type.Array(
    Type.Object({
      ...changeHead,
      network: Type.String(),
      advertiser: TextOrNull,
      ...figureDifferences,
    }),
    {
      description:
        'What each import changed in a row of another network, as differences; also rows of zeros ' +
        'that appear or disappear',
    },
  ),
  impressions: Type.Array(Type.Object({ ...changeHead, impressions: Type.Integer() }), {
    description:
      'Article-days with their page impressions as they are now, in the order in which they ' +
      'changed, or appeared because their article was made',
  }),
})

const Hex = Type.Optional(
  Type.String({ pattern: '^[0-9a-fA-F]{32}$', description: '32 hexadecimal characters' }),
)

/** Either a click or all clicks of an auction result. */
export const ReversalBody = Type.Object({
  click: Hex,
  result: Hex,
  reason: Type.String({ minLength: 1, maxLength: 255, description: 'Shown beside the click' }),
})

export const ReversalRecord = Type.Object({
  clicks: Type.Array(Type.String()),
  entries: Type.Array(
    Type.Object({
      entry: Type.String({ description: 'Name of the ledger entry' }),
      kind: Type.String(),
      day: Type.String(),
      corrects: orNull(Type.String(), 'The entry that this one takes back'),
      lines: Type.Array(
        Type.Object({
          account: Type.String(),
          merch_id: Type.Integer(),
          pub_id: Type.Integer(),
          article_id: Type.Integer(),
          amount_usd: Type.String(),
        }),
      ),
    }),
    { description: 'Empty for clicks that nothing was paid for, and in a 202' },
  ),
})

export type StatsRow = Static<typeof StatsRow>
export type StatsChanges = Static<typeof StatsChanges>
