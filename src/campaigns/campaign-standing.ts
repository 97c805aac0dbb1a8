/** Why a campaign's own settings and budgets keep it from winning clicks now. */
import { FEED_AGE_MAX_MS } from '../catalog/merchant.ts'
import type { Micros } from '../platform/money/money.ts'
import type { CampaignSettings } from './campaign.ts'
import type { Campaign } from './campaign-store.ts'

export const STANDINGS = [
  'running',
  'paused',
  'not_begun',
  'ended',
  'budget_spent',
  'daily_budget_spent', // until the next UTC day
  'orders_awaited', // expected orders use up a budget
] as const
export type Standing = (typeof STANDINGS)[number]

type Known = Pick<
  Campaign,
  | 'state'
  | 'starts_at'
  | 'ends_at'
  | 'bid_micros'
  | 'exclusive_bid_micros'
  | 'budget_micros'
  | 'daily_budget_micros'
>

interface Spent {
  readonly spentMicros: number
  readonly spentTodayMicros: number
  readonly isOverCap: boolean // from `findOverCap`
}

/** The longest-lasting reason, if there are several. */
export function standingOf(campaign: Known, spent: Spent, now: Date): Standing {
  const { state, starts_at: start, ends_at: end } = campaign
  if (end !== null && end <= now) return 'ended'
  if (isSpent(campaign, campaign.budget_micros, spent.spentMicros)) return 'budget_spent'
  if (state === 'paused') return 'paused'
  if (start !== null && start > now) return 'not_begun'
  const isOver = isSpent(campaign, campaign.daily_budget_micros, spent.spentTodayMicros)
  if (isOver) return 'daily_budget_spent'
  return spent.isOverCap ? 'orders_awaited' : 'running'
}

/** A win is funded only where its most expensive click is. */
function isSpent(
  {
    bid_micros,
    exclusive_bid_micros,
  }: Pick<CampaignSettings, 'bid_micros' | 'exclusive_bid_micros'>,
  budget: Micros | null,
  spentMicros: number,
): boolean {
  const dearest = Math.max(bid_micros ?? 0, exclusive_bid_micros ?? 0, 1)
  return budget !== null && budget - spentMicros < dearest
}

/** What a merchant reads of its campaign; the network's management API has no other words. */
export const CAMPAIGN_STATES = [
  'running',
  'paused',
  'scheduled',
  'ended',
  'out_of_budget',
  'no_feed',
  'waiting_for_orders',
] as const
export type PublicState = (typeof CAMPAIGN_STATES)[number]

const STATE_OF: Readonly<Record<Standing, PublicState>> = {
  running: 'running',
  paused: 'paused',
  not_begun: 'scheduled',
  ended: 'ended',
  budget_spent: 'out_of_budget',
  daily_budget_spent: 'out_of_budget',
  orders_awaited: 'waiting_for_orders',
}

/**
 * The state of a campaign. A merchant whose feed is too old sells nothing; one that never had a
 * feed competes on its links without prices.
 */
export function publicState(
  campaign: Known,
  spent: Spent,
  { now, feedImportedAt }: { readonly now: Date; readonly feedImportedAt: Date | null },
): PublicState {
  const state = STATE_OF[standingOf(campaign, spent, now)]
  if (state !== 'running' && state !== 'waiting_for_orders') return state
  const age = feedImportedAt === null ? 0 : now.getTime() - feedImportedAt.getTime()
  return age > FEED_AGE_MAX_MS ? 'no_feed' : state
}
