/** The parts of a campaign that core, leases and pacing each need, computed once per snapshot. */
import { ALWAYS, type BudgetedCampaign } from '../budgets/lease.ts'
import type { PacedCampaign } from '../budgets/pacing-book.ts'
import { MODEL } from '../events/event.ts'
import type { CampaignFlight } from './campaign-state.ts'
import type { CampaignTerms } from './candidate-set.ts'
import type { Campaign, Market } from './market.ts'
import { countryBits, deviceMask, idList, lets } from './targeting.ts'

export function campaignTerms(campaign: Campaign, index: number): CampaignTerms {
  const bidMicros = Number(campaign.bid_micros ?? 0)
  return {
    index,
    campaignId: campaign.campaign_id,
    merchId: campaign.merch_id,
    model: MODEL[campaign.model],
    hasSecondRate: campaign.has_second_rate === true,
    bidMicros,
    exclusiveBidMicros: Number(campaign.exclusive_bid_micros ?? bidMicros),
    deviceMask: deviceMask(campaign.devices),
    countries: countryBits(campaign.countries),
    publishers: idList(campaign.allow_publishers, campaign.block_publishers),
  }
}

export function flightOf(market: Market, campaign: Campaign, index: number): CampaignFlight {
  const feedAt = market.merchants.get(campaign.merch_id)?.feed_imported_at
  return {
    index,
    isActive: campaign.state === 'active',
    startsAtMs: campaign.starts_at?.getTime() ?? null,
    endsAtMs: campaign.ends_at?.getTime() ?? null,
    feedImportedAtMs: feedAt?.getTime() ?? null,
  }
}

export function budgetOf(campaign: Campaign, index: number): BudgetedCampaign {
  const { model, daily_budget_micros: daily, budget_micros: total } = campaign
  const hasBudget = daily !== null || total !== null
  const kind = model === 'cpc' ? 'leased' : 'ofOrders'
  return {
    campaignId: campaign.campaign_id,
    index,
    budget: hasBudget ? kind : 'none',
    priceMaxMicros: priceMax(campaign),
    budgetVersion: `${daily} ${total} ${campaign.state}`,
    servesFromMs: campaign.starts_at?.getTime() ?? ALWAYS.servesFromMs,
    servesUntilMs:
      campaign.state === 'active'
        ? (campaign.ends_at?.getTime() ?? ALWAYS.servesUntilMs)
        : Number.NEGATIVE_INFINITY,
  }
}

export function pacedOf(campaign: Campaign, index: number): PacedCampaign {
  const { model, daily_budget_micros: daily, roas } = campaign
  const publishers = idList(campaign.allow_publishers, campaign.block_publishers)
  return {
    campaignId: campaign.campaign_id,
    index,
    dailyBudgetMicros: model === 'cpc' && daily !== null ? Number(daily) : null,
    priceMaxMicros: priceMax(campaign),
    hasRoasGoal: model === 'cpc' && roas !== null,
    isAllowed: publishers && ((pubId) => lets(publishers, pubId)),
  }
}

/** The most that one click can cost. */
function priceMax({ bid_micros, exclusive_bid_micros }: Campaign): number {
  return Math.max(Number(bid_micros ?? 0), Number(exclusive_bid_micros ?? 0))
}
