/** Wire shapes of campaigns in the management API. */
import Type from 'typebox'
import {
  Dollars,
  dollars,
  orNull,
  Time,
  TimeOrNull,
  timestamp,
} from '../platform/http/field-types.ts'
import { SMALL_ID_MAX } from '../platform/ids.ts'
import { PPM } from '../platform/money/money.ts'
import { CAMPAIGN_MODELS } from './campaign.ts'
import { CAMPAIGN_STATES } from './campaign-standing.ts'
import { PAUSERS } from './campaign-store.ts'

export const CampaignEntry = Type.Object({
  campaign_id: Type.Integer(),
  merch_id: Type.Integer(),
  state: Type.Enum([...CAMPAIGN_STATES], {
    description:
      'What keeps the campaign from winning clicks now, or `running`. `out_of_budget` lasts to ' +
      'the end of the UTC day, or for good if `budget` is spent. `no_feed`: the merchant’s feed ' +
      'is older than 24 hours. `waiting_for_orders`: orders still to come will use the budget up.',
  }),
  paused_by: orNull(
    Type.Enum([...PAUSERS]),
    'Null unless it is paused. Only the operator can resume what the operator paused.',
  ),
  model: Type.Enum([...CAMPAIGN_MODELS]),
  bid: orNull(Dollars, 'cpc: the most a click may cost, in US dollars'),
  exclusive_bid: orNull(Dollars, 'cpc: the price of clicks on exclusive links, in US dollars'),
  rate: orNull(Type.Number(), 'cpa: commission, a fraction of the order'),
  payment: orNull(Dollars, 'epp: paid per purchase, in US dollars'),
  roas: orNull(Type.Number(), 'cpc: wanted revenue per dollar spent'),
  second_rate: Type.Boolean({ description: 'cpa, epp: pays only the rate that still wins' }),
  daily_budget: orNull(Dollars, 'The most per UTC day, in US dollars; only orders can exceed it'),
  budget: orNull(Dollars, 'The most in total, in US dollars; only orders can exceed it'),
  start: TimeOrNull,
  end: TimeOrNull,
  country: Type.Array(Type.String(), { description: 'ISO 3166 codes; empty: everywhere' }),
  device: Type.Array(Type.String(), { description: 'desktop, mobile, tablet; empty: all' }),
  allow_publisher: Type.Array(Type.Integer(), { description: 'Only these; empty: all' }),
  block_publisher: Type.Array(Type.Integer()),
  tracker_impression: Type.Array(Type.String(), { description: 'URLs fired at the auction' }),
  tracker_viewable: Type.Array(Type.String(), { description: 'URLs fired when in view' }),
  clicks_per_address_hour: Type.Integer({ description: 'Most paid clicks from one address' }),
  clicks_per_address_day: Type.Integer({ description: 'Most paid clicks from one address' }),
  spent: Type.String({ description: 'In total, in US dollars' }),
  spent_today: Type.String({ description: 'On this UTC day, in US dollars' }),
  over_cap: Type.String({ description: 'What orders cost beyond a budget, in US dollars' }),
  conflicts: Type.Array(Type.String(), {
    description: 'Lists of the campaign and of publishers that contradict each other',
  }),
  datetime_created: Time,
  datetime_updated: Time,
})

export const NewCampaignEntry = Type.Object({
  ...CampaignEntry.properties,
  price_note: Type.String({ description: 'How a click gets its price, and the least it costs' }),
})

const Rate = Type.Refine(
  Type.Number({ description: 'cpa: commission, a fraction of the order, such as 0.08' }),
  (value) => typeof value !== 'number' || Math.abs(value * PPM - Math.round(value * PPM)) < 0.01,
  () => 'must be a fraction with at most six decimals, such as 0.08',
)
const OptionalDollars = (description: string) =>
  Type.Optional(Type.Union([dollars(description), Type.Null()]))
const Texts = (description: string) =>
  Type.Optional(orNull(Type.Array(Type.String(), { description })))
const Ids = (description: string) =>
  Type.Optional(
    orNull(Type.Array(Type.Integer({ minimum: 0, maximum: SMALL_ID_MAX }), { description })),
  )
const Model = Type.Enum([...CAMPAIGN_MODELS])

const SETTINGS = {
  bid: OptionalDollars('cpc: the most a click may cost'),
  exclusive_bid: OptionalDollars('cpc: the price of clicks on exclusive links; else the bid'),
  rate: Type.Optional(Type.Union([Rate, Type.Null()])),
  payment: OptionalDollars('epp: paid per purchase'),
  roas: Type.Optional(orNull(Type.Number(), 'cpc: wanted revenue per dollar spent')),
  second_rate: Type.Optional(orNull(Type.Boolean(), 'cpa, epp: pay only the rate that still wins')),
  daily_budget: OptionalDollars('The most per UTC day'),
  budget: OptionalDollars('The most in total'),
  start: Type.Optional(Type.Union([timestamp(), Type.Null()])),
  end: Type.Optional(Type.Union([timestamp(), Type.Null()])),
  country: Texts('ISO 3166 codes; empty: everywhere'),
  device: Texts('desktop, mobile, tablet; empty: all'),
  allow_publisher: Ids('Only these publishers; empty: all'),
  block_publisher: Ids('Never these publishers'),
  tracker_impression: Texts('URLs fired at the auction'),
  tracker_viewable: Texts('URLs fired when in view'),
  clicks_per_address_hour: Type.Optional(orNull(Type.Integer(), 'Default 10')),
  clicks_per_address_day: Type.Optional(orNull(Type.Integer(), 'Default 50')),
}

export const NewCampaignBody = Type.Object({ model: Model, ...SETTINGS })
export const CampaignBody = Type.Object({
  model: Type.Optional(Model),
  merch_id: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: SMALL_ID_MAX,
      description: 'Moves it to another merchant, where you need `campaigns.write` as well',
    }),
  ),
  ...SETTINGS,
})
