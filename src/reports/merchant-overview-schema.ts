/** Wire shapes of a merchant's page: its costs, and whether its campaigns run. */
import Type, { type Static } from 'typebox'
import { CAMPAIGN_MODELS } from '../campaigns/campaign.ts'
import { STANDINGS } from '../campaigns/campaign-standing.ts'
import { Dollars, orNull, TextOrNull, TimeOrNull } from '../platform/http/field-types.ts'
import { ReasonCount } from '../stats/dashboard-schema.ts'
import { LedgerPage } from './schema.ts'

const DollarsOrNull = orNull(Dollars)

const figures = {
  cost: Type.String({ description: 'US dollars, exact; less reversals on these days' }),
  clicks: Type.Integer({ description: 'Readers who came' }),
  sales: Type.Integer(),
  revenue: Dollars,
}

export const CampaignFigures = Type.Object({
  campaign_id: Type.Integer(),
  model: Type.Enum(CAMPAIGN_MODELS),
  bid: DollarsOrNull,
  exclusive_bid: DollarsOrNull,
  rate: orNull(Type.Number(), 'Part of an order’s value'),
  payment: DollarsOrNull,
  standing: Type.Enum(STANDINGS),
  start: TimeOrNull,
  end: TimeOrNull,
  daily_budget: DollarsOrNull,
  spent_today: Dollars,
  budget: DollarsOrNull,
  spent: Dollars,
})

export const MerchantOverview = Type.Object({
  merch_id: Type.Integer(),
  owed_usd: LedgerPage.properties.owed_usd,
  not_due_usd: Type.String({
    description: 'May still change: orders until they lock, today’s clicks',
  }),
  credit_usd: LedgerPage.properties.credit_usd,
  totals: Type.Object(figures),
  days: Type.Array(Type.Object({ event_date: Type.String({ format: 'date' }), ...figures })),
  publishers: Type.Array(
    Type.Object({ pub_id: Type.Integer(), publisher_name: Type.String(), ...figures }),
    { description: 'Who cost most first' },
  ),
  clicks: Type.Array(ReasonCount, {
    description: 'How many have each reason, including bots and unpaid clicks',
  }),
  campaigns: Type.Array(CampaignFigures),
  feed: Type.Object({
    imported_at: TimeOrNull,
    is_stale: Type.Boolean({ description: 'So old that nothing of it bids' }),
    url: orNull(Type.String(), 'Where it is fetched again'),
    error: TextOrNull,
  }),
})

/** Minus is owed, as in the ledger. */
export const AccountEntry = Type.Object({
  line: Type.String({ description: 'Which one of the ledger' }),
  entry: orNull(Type.String(), 'Its key in the ledger; null, as kind and time: it is gone'),
  kind: orNull(
    Type.String(),
    'click, order, revision, return, reversal, payment, payment_reversal',
  ),
  day: Type.String({ format: 'date' }),
  at: TimeOrNull,
  amount_usd: Dollars,
  publisher_name: TextOrNull,
  auction_result_number: orNull(Type.String(), 'Names the receipt of a click'),
  campaign_id: orNull(Type.Integer(), 'Of a click'),
  order_id: TextOrNull,
  payment_reference: TextOrNull,
})

export const AccountPage = Type.Object({
  entries: Type.Array(AccountEntry, { description: 'The last one first' }),
  next: LedgerPage.properties.next,
})

export type AccountEntry = Static<typeof AccountEntry>
export type AccountPage = Static<typeof AccountPage>
export type CampaignFigures = Static<typeof CampaignFigures>
export type MerchantOverview = Static<typeof MerchantOverview>
