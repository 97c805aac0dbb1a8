/** Wire shape of an explained auction and the clicks on it. */
import Type, { type Static } from 'typebox'
import { orNull, TextOrNull, Time, TimeOrNull } from '../platform/http/field-types.ts'
import { WORDS_DESCRIPTION } from './loss-reason.ts'

const NumberOrNull = orNull(Type.Number())
const IdOrNull = orNull(Type.Integer())
const Dollars = Type.String({ description: 'US dollars, two to six decimals' })
const DollarsOrNull = orNull(Dollars)

export type Replay = Static<typeof Replay>
const Replay = Type.Union(
  [
    Type.Object({ kind: Type.Literal('equal') }),
    Type.Object(
      { kind: Type.Literal('other_rules'), ruleVersion: Type.Integer() },
      { description: 'Only a version of Souk with those rules can run it again' },
    ),
    Type.Object(
      {
        kind: Type.Literal('different'),
        field: TextOrNull,
        stored: Type.Union([Type.Number(), Type.Boolean(), Type.Null()]),
        replayed: Type.Union([Type.Number(), Type.Boolean(), Type.Null()]),
        engine: Type.String(),
      },
      { description: 'The first field that differs, `losses[3]` for one; a merchant gets nulls' },
    ),
  ],
  { description: 'Whether the stored inputs still give the stored outcome, to the bit' },
)

export type ExplainedRequest = Static<typeof ExplainedRequest>
const ExplainedRequest = Type.Object({
  country: TextOrNull,
  device: Type.String(),
  original_merch_id: Type.Integer({ description: '0: nobody of the network' }),
  original_price: DollarsOrNull,
  original_is_in_stock: Type.Boolean(),
  reference_price: orNull(
    Dollars,
    'What prices are compared with: the original’s, or the median of the offers',
  ),
  exclusive_match_requested: Type.Boolean(),
  pricing: Type.Union([Type.Literal('second_price'), Type.Literal('first_price')]),
})

export type ExplainedPublisher = Static<typeof ExplainedPublisher>
const ExplainedPublisher = Type.Object({
  share: Type.Number(),
  floor: Dollars,
  tolerance: Type.Number(),
  beta: Type.Number(),
  epsilon: Type.Number(),
  require_price: Type.Boolean(),
})

export type ExplainedReason = Static<typeof ExplainedReason>
const ExplainedReason = Type.Object({
  code: Type.Integer(),
  word: Type.String({ description: WORDS_DESCRIPTION }),
  name: Type.String(),
  why: Type.String(),
})

export type ExplainedOutcome = Static<typeof ExplainedOutcome>
const ExplainedOutcome = Type.Object(
  {
    won: Type.Boolean(),
    campaign_id: IdOrNull,
    merch_id: IdOrNull,
    offer_id: TextOrNull,
    price: orNull(Dollars, 'Of a click'),
    price_why: TextOrNull,
    price_set_by: orNull(
      Type.Union([
        Type.Literal('floor'),
        Type.Literal('rival'),
        Type.Literal('posted_price'),
        Type.Literal('bid'),
        Type.Literal('contract'),
      ]),
      'What set the price, or for a commission with the second rate its rate',
    ),
    publisher_earns: orNull(Dollars, 'Of a click; a commission is shared when it is earned'),
    publisher_expects: orNull(
      Dollars,
      'Expected of a click where the winner pays on the order; an estimate if its bid is hidden',
    ),
    platform_keeps: DollarsOrNull,
    reserve: DollarsOrNull,
    explored: Type.Boolean(),
    propensity: orNull(
      Type.Number(),
      'How likely the winner was to win, over all draws. It weighs the result when other policies ' +
        'are evaluated on the log. For the publisher an estimate from the ranges of hidden bids: ' +
        'exact bids would show in it',
    ),
    eligible: IdOrNull,
    runner_up_campaign_id: IdOrNull,
    runner_up_score_micros: orNull(
      Type.Number(),
      'For the publisher only if this score set the price',
    ),
    reason: orNull(ExplainedReason, 'Why nobody won'),
  },
  {
    description: 'Nobody won, or a rival of the calling merchant: the winner’s details are null',
  },
)

export type ExplainedCandidate = Static<typeof ExplainedCandidate>
const ExplainedCandidate = Type.Object({
  campaign_id: Type.Integer(),
  merch_id: Type.Integer(),
  offer_id: TextOrNull,
  category_id: orNull(Type.Integer(), 'Whose floor applies; null: none, or missing in the receipt'),
  model: Type.String({ description: 'cpc, cpa, epp' }),
  won: Type.Boolean(),
  loss: orNull(ExplainedReason),
  bid: orNull(Dollars, 'CPC'),
  exclusive_bid: DollarsOrNull,
  paced_bid: orNull(
    Dollars,
    'CPC: the typed bid (on an exclusive link `exclusive_bid`) × `pace_factor`, rounded down to a ' +
      'whole micro-dollar',
  ),
  roas_ceiling: orNull(Dollars, 'The most that its ROAS goal allows for this click'),
  roas_factor: orNull(
    Type.Number(),
    '`roas_ceiling` is this times the order value expected of a click over the goal. The factor ' +
      'exceeds 1 while prices below the bids leave room, so that the goal is met on average; on an ' +
      'exclusive link it is 1 at most',
  ),
  orders_per_click: orNull(Type.Number(), 'CPA and EPP, the mean'),
  evidence_clicks: NumberOrNull,
  value_per_order: DollarsOrNull,
  value_range: orNull(
    Type.Object({ from: Dollars, below: Dollars }),
    'For the publisher, where the bid is hidden because it did not set the price: what a click is ' +
      'worth to the campaign is at least `from` and less than `below`',
  ),
  price: orNull(Dollars, 'What the reader pays; null: unknown'),
  quality: Type.Number(),
  confidence: Type.Number(),
  pace_factor: Type.Number({
    description:
      'The part of its bid (CPC) or of its expected value (CPA, EPP) that pacing left, so that a ' +
      'daily budget lasts the day; 1: all of it',
  }),
  pass_through: Type.Number({
    description:
      'Under rule version 1, the share of its auctions that pacing let pass; 1 in later versions',
  }),
  is_funded: Type.Boolean(),
  is_in_stock: Type.Boolean(),
  is_live: Type.Boolean(),
  reserve: orNull(Dollars, 'Null: held under other rules than this version has'),
  value_micros: orNull(
    Type.Number(),
    'Of a click, drawn if the auction explored; null, as what follows, also where a check failed',
  ),
  reader_benefit: NumberOrNull,
  weight: NumberOrNull,
  score_micros: NumberOrNull,
})

/** The rules of run-auction.ts for readers who recompute a receipt; a test holds them to it. */
export const RECEIPT_DESCRIPTION = [
  'The publisher sees bids that did not set the price as ranges (`value_range`) that double in ' +
    'width, because a floor at the exact bid would take the merchant’s whole surplus; their ' +
    '`bid`, `value_per_order`, `value_micros` and `score_micros` are null. A merchant sees its ' +
    'own exactly. `replay` is computed by the server from the exact numbers.',
  'How the outcome follows from the candidates. One that fails a check has its reason in `loss` ' +
    'and no `value_micros`. That of another is for CPC its `paced_bid`, and `roas_ceiling` at ' +
    'most; for CPA and EPP `orders_per_click` × `value_per_order` × `pace_factor`, of which an ' +
    'auction that `explored` draws the first.',
  '`reader_benefit` is e to the power of `beta` × (`reference_price` − `price`) ÷ ' +
    '`reference_price`, that quotient being −`tolerance` at least, 0.3 at most, and 0 where the ' +
    'price is not known. `weight` is `quality` × `confidence` × `reader_benefit`, and ' +
    '`score_micros` is `value_micros` × `weight`.',
  'Of those worth their `reserve` the highest score wins; of equal ones the lower price, then a ' +
    'draw. The runner-up is the best of another merchant. A CPC click costs the runner-up’s score ' +
    '÷ the winner’s weight, rounded up to a whole micro-dollar (but for 10^-12 of it, which may ' +
    'be an error of floating point), the `reserve` at least and `value_micros` at most; on an ' +
    'exclusive link, or in a first-price market, `value_micros`. `publisher_earns` is ' +
    '`price` × `share`, rounded down to a whole micro-dollar; the platform keeps the rest.',
].join('\n\n')

const numbered = { auction_result_number: Type.String({ description: '32 hex characters' }) }

export type Explanation = Static<typeof Explanation>
export const Explanation = Type.Object({
  ...numbered,
  at: Time,
  rule_version: Type.Integer(),
  engine: Type.String(),
  snapshot_version: Type.Integer(),
  replay: Replay,
  pub_id: Type.Integer(),
  request: ExplainedRequest,
  publisher: orNull(ExplainedPublisher, 'Null for a merchant'),
  outcome: ExplainedOutcome,
  candidates: Type.Array(ExplainedCandidate, {
    description: 'Best first; for a merchant only its own',
  }),
})

export type ResultClick = Static<typeof ResultClick>
const ResultClick = Type.Object({
  click_id: Type.String(),
  at: Time,
  pub_id: Type.Integer(),
  auction_id: Type.String(),
  merch_id: Type.Integer(),
  campaign_id: IdOrNull,
  model: Type.String({ description: 'cpc, cpa, epp; none where no campaign pays' }),
  price: { ...Dollars, description: 'CPC: of the click, sealed when its auction was held' },
  rate: orNull(Type.Number(), 'CPA: the commission on its orders, a fraction, sealed likewise'),
  payment: orNull(Dollars, 'EPP: for each of its orders, sealed likewise'),
  paid: Dollars,
  publisher_earns: Type.Optional({ ...Dollars, description: 'Absent for a merchant' }),
  reason: Type.String(),
  why: Type.String({ description: 'The reason in words' }),
  reversed_at: TimeOrNull,
  reverse_reason: TextOrNull,
})

const clicks = { clicks: Type.Array(ResultClick) }

/** Without a receipt, the clicks remain: they hold what was sealed and paid. */
export const ExplainedResult = Type.Union([
  Type.Object({ ...Explanation.properties, ...clicks }, { title: 'with its receipt' }),
  Type.Object(
    {
      ...numbered,
      receipt: Type.Null({ description: 'Dropped or never written' }),
      note: Type.String(),
      ...clicks,
    },
    { title: 'without its receipt' },
  ),
])
