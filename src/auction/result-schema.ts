/** Bodies of the receipt endpoints. */
import Type, { type Static } from 'typebox'
import { BETA_MAX, LIST_LENGTH_MAX } from '../accounts/publisher.ts'
import { orNull } from '../platform/http/field-types.ts'
import { UUID_PATTERN } from '../platform/http/pattern.ts'
import { WORDS_DESCRIPTION } from './loss-reason.ts'
import { LISTED_ID_MAX } from './targeting.ts'

const DAY = '^\\d{4}-\\d{2}-\\d{2}$'
/** An id that no list can hold belongs to no merchant. */
const MerchantId = Type.Integer({ minimum: 1, maximum: LISTED_ID_MAX })

export const ResultParams = Type.Object({
  id: Type.String({
    maxLength: 200,
    description: 'An auction_result.id, its result number, or the id of a click on it',
    examples: ['9f86d081884c7d659a2feaa0c55ad015'],
  }),
})

export const WhatIfBody = Type.Object({
  pub_id: Type.Integer(),
  date: Type.String({
    pattern: DAY,
    description: 'UTC day; unclicked receipts are stored for RECEIPT_HOURS (48)',
  }),
  floor: Type.Optional(
    Type.String({ description: 'US dollars a click; floors of categories stay' }),
  ),
  category_floors: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: LIST_LENGTH_MAX,
      description: 'all floors of categories, `222=0.10` or `222:GB=0.08`; empty: none',
    }),
  ),
  tolerance: Type.Optional(Type.Number({ minimum: 0, maximum: 0.2 })),
  beta: Type.Optional(Type.Number({ minimum: 0, maximum: BETA_MAX })),
  require_price: Type.Optional(Type.Boolean()),
  pricing: Type.Optional(Type.Union([Type.Literal('second_price'), Type.Literal('first_price')])),
  allow_merchants: Type.Optional(
    Type.Array(MerchantId, {
      maxItems: LIST_LENGTH_MAX,
      description: 'replaces both lists of the day; without block_merchants nobody is blocked',
    }),
  ),
  block_merchants: Type.Optional(
    Type.Array(MerchantId, {
      maxItems: LIST_LENGTH_MAX,
      description: 'replaces both lists of the day; without allow_merchants all others are allowed',
    }),
  ),
})
export type WhatIfBody = Static<typeof WhatIfBody>

export type WhatIfSide = Static<typeof WhatIfSide>
const WhatIfSide = Type.Object({
  won: Type.Integer({ description: 'Auctions that a merchant won' }),
  earnings_micros: Type.Integer({
    description:
      'The publisher’s part over the clicks that came; of one whose orders are paid for, its ' +
      'part of the commission that was expected, whatever orders came',
  }),
  earnings_per_click_micros: Type.Integer({
    description: 'Its mean over all auctions: what one click was worth',
  }),
  reader_price_micros: orNull(
    Type.Integer(),
    'Mean price that winners with a known price ask of the reader; null: none',
  ),
})

export type WhatIf = Static<typeof WhatIf>
export const WhatIf = Type.Object({
  auctions: Type.Integer({ description: 'With stored receipts' }),
  clicks: Type.Integer({ description: 'Valid, and not reversed' }),
  skipped: Type.Integer({
    description:
      'In no figure, as they cannot be run again: auctions under other rules and, where floors of ' +
      'categories change, those whose receipts lack categories',
  }),
  before: WhatIfSide,
  after: WhatIfSide,
  difference: WhatIfSide,
  winner_changed: Type.Integer(),
  winners: Type.Array(
    Type.Object({ merch_id: Type.Integer(), before: Type.Integer(), after: Type.Integer() }),
    { description: 'Auctions won by merchant, before and after; merchant 0 is nobody' },
  ),
})

export const WhatIfJobParams = Type.Object({ job_id: Type.String({ pattern: UUID_PATTERN }) })

export type WhatIfJob = Static<typeof WhatIfJob>
export const WhatIfJob = Type.Object({
  job_id: Type.String(),
  url: Type.String({ description: 'Shows the progress, and then the result' }),
  state: Type.Union(
    [
      Type.Literal('waiting'),
      Type.Literal('running'),
      Type.Literal('done'),
      Type.Literal('failed'),
    ],
    { description: 'failed: ask again' },
  ),
  auctions: Type.Integer({ description: 'Of the day; 0 while the job waits' }),
  auctions_done: Type.Integer(),
  result: orNull(WhatIf, 'null unless done'),
})

export type NoFillReason = Static<typeof NoFillReason>
export const NoFillReason = Type.Object({
  code: Type.Integer(),
  word: Type.String({ description: WORDS_DESCRIPTION }),
  name: Type.String(),
  sentence: Type.String(),
  auctions: Type.Integer({
    description: 'Unfilled auctions in which some candidate failed for this reason',
  }),
  clicks: Type.Integer({ description: 'That the results of these auctions had, all unpaid' }),
  missed_micros: Type.Integer({
    description: 'What those clicks would have earned the publisher without this reason',
  }),
  missed_if_clicked_micros: Type.Integer({
    description: 'The same if every one of these auctions had been clicked once',
  }),
  auction_result_number: Type.String({
    description: 'Names the receipt of the one of them that missed most per click',
  }),
  links: Type.Array(
    Type.Object({
      auction_id: Type.String(),
      auctions: Type.Integer(),
      missed_if_clicked_micros: Type.Integer(),
    }),
    { description: 'The ten smart links that missed most by this reason' },
  ),
})

export const NoFillQuery = Type.Object({ date: Type.String({ pattern: DAY }) })
