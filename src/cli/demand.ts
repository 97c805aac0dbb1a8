/** Commands on merchants and campaigns. */
import { MERCHANT_DEFAULTS, type MerchantSettings } from '../catalog/merchant.ts'
import { toMerchantRecord } from '../catalog/merchant-record.ts'
import {
  insertMerchant,
  listMerchants,
  type Merchant,
  updateMerchant,
} from '../catalog/merchant-store.ts'
import { knowsCountries } from '../config.ts'
import { listSpending } from '../demand/budget-account.ts'
import { CAMPAIGN_DEFAULTS, type CampaignModel, type CampaignSettings } from '../demand/campaign.ts'
import { toCampaignRecord } from '../demand/campaign-record.ts'
import {
  type Campaign,
  type CampaignState,
  type CampaignWorld,
  insertCampaign,
  listCampaigns,
  setCampaignState,
  updateCampaign,
} from '../demand/campaign-store.ts'
import { conflictText, listConflicts } from '../demand/list-conflict-store.ts'
import type { Device } from '../events/user-agent.ts'
import { formatExact, type Micros } from '../platform/money.ts'
import { doesEdgeKnowCountries } from '../platform/node-registry.ts'
import type { Db } from '../platform/postgres.ts'
import { utcDay } from '../platform/timestamp.ts'
import { requireUid } from './accounts.ts'
import type { CommandContext } from './command.ts'
import { changesOf } from './settings.ts'

interface MerchantOptions {
  readonly name?: string
  readonly domain?: string[]
  readonly user?: string | null
  readonly clickParam?: string | null
  readonly deepLink?: string | null
  readonly windowDays?: number | null
  readonly origin?: string[]
  readonly postImpressionRate?: number | null
  readonly confirmOrders?: boolean
}

export async function createMerchantCommand(
  context: CommandContext,
  options: MerchantOptions & { name: string; domain: string[] },
) {
  const db = await context.database()
  const { name, domain: domains } = options
  const changes = await readMerchantChanges(db, options)
  return withSecret(await insertMerchant(db, { ...MERCHANT_DEFAULTS, name, domains, ...changes }))
}

export async function updateMerchantCommand(
  context: CommandContext,
  options: MerchantOptions & { id: number; newSecret?: boolean },
) {
  const db = await context.database()
  const changes = await readMerchantChanges(db, options)
  const { id: merchId, newSecret: isNewSecret = false } = options
  return withSecret(await updateMerchant(db, { merchId, changes, isNewSecret }))
}

export async function listMerchantsCommand(context: CommandContext) {
  return (await listMerchants(await context.database())).map(toMerchantRecord)
}

/** The secret is for one merchant's own server: shown with its record, never in a list of all. */
function withSecret(merchant: Merchant) {
  return { ...toMerchantRecord(merchant), postback_secret: merchant.postback_secret }
}

async function readMerchantChanges(
  db: Db,
  options: MerchantOptions,
): Promise<Partial<MerchantSettings>> {
  const { user } = options
  return changesOf<MerchantSettings>(MERCHANT_DEFAULTS, {
    name: options.name,
    domains: options.domain,
    uid: user == null ? user : await requireUid(db, user),
    click_param: options.clickParam,
    deep_link: options.deepLink,
    window_days: options.windowDays,
    origins: options.origin,
    post_impression_rate_ppm: options.postImpressionRate,
    is_confirming: options.confirmOrders,
  })
}

interface CampaignOptions {
  readonly merchant?: number
  readonly model?: CampaignModel
  readonly bid?: Micros | null
  readonly exclusiveBid?: Micros | null
  readonly rate?: number | null
  readonly payment?: Micros | null
  readonly roas?: number | null
  readonly dailyBudget?: Micros | null
  readonly budget?: Micros | null
  readonly start?: Date | null
  readonly end?: Date | null
  readonly country?: string[]
  readonly device?: Device[]
  readonly allowPublisher?: number[]
  readonly blockPublisher?: number[]
  readonly trackerImpression?: string[]
  readonly trackerViewable?: string[]
}

export async function createCampaignCommand(
  context: CommandContext,
  options: CampaignOptions & { merchant: number; model: CampaignModel },
) {
  const settings: CampaignSettings = {
    ...CAMPAIGN_DEFAULTS,
    merch_id: options.merchant,
    model: options.model,
    ...readCampaignChanges(options),
  }
  const db = await context.database()
  const world = await worldOf(context, db)
  return withConflicts(db, await insertCampaign(db, { settings, world }))
}

export async function updateCampaignCommand(
  context: CommandContext,
  options: CampaignOptions & { id: number },
) {
  const changes = readCampaignChanges(options)
  const db = await context.database()
  const world = await worldOf(context, db)
  return withConflicts(db, await updateCampaign(db, { campaignId: options.id, changes, world }))
}

/** A campaign's record, and which publishers it waits for in vain. */
async function withConflicts(db: Db, campaign: Campaign) {
  const conflicts = await listConflicts(db, { campaignId: campaign.campaign_id, pubId: null })
  return { ...toCampaignRecord(campaign), conflicts: conflicts.map(conflictText) }
}

export async function listCampaignsCommand(context: CommandContext) {
  const db = await context.database()
  const spending = new Map(
    (await listSpending(db, utcDay(context.now()))).map((row) => [row.campaign_id, row]),
  )
  const conflicts = Map.groupBy(
    await listConflicts(db, { campaignId: null, pubId: null }),
    ({ campaign_id }) => campaign_id,
  )
  return (await listCampaigns(db)).map((campaign) => {
    const spent = spending.get(campaign.campaign_id)
    return {
      ...toCampaignRecord(campaign),
      spent: formatExact(spent?.spent_micros ?? 0),
      spent_today: formatExact(spent?.spent_today_micros ?? 0),
      over_cap: formatExact(spent?.over_cap_micros ?? 0),
      conflicts: (conflicts.get(campaign.campaign_id) ?? []).map(conflictText),
    }
  })
}

export const pauseCampaignCommand = (context: CommandContext, options: { campaign: number }) =>
  setState(context, options.campaign, 'paused')

export const resumeCampaignCommand = (context: CommandContext, options: { campaign: number }) =>
  setState(context, options.campaign, 'active')

async function setState(context: CommandContext, campaignId: number, state: CampaignState) {
  const campaign = await setCampaignState(await context.database(), { campaignId, state })
  return { campaign_id: campaign.campaign_id, state: campaign.state }
}

function readCampaignChanges(options: CampaignOptions): Partial<CampaignSettings> {
  return changesOf<CampaignSettings>(CAMPAIGN_DEFAULTS, {
    merch_id: options.merchant,
    model: options.model,
    bid_micros: options.bid,
    exclusive_bid_micros: options.exclusiveBid,
    rate_ppm: options.rate,
    payment_micros: options.payment,
    roas: options.roas,
    daily_budget_micros: options.dailyBudget,
    budget_micros: options.budget,
    starts_at: options.start,
    ends_at: options.end,
    countries: options.country?.map((code) => code.toUpperCase()),
    devices: options.device,
    allow_publishers: options.allowPublisher,
    block_publishers: options.blockPublisher,
    tracker_impression: options.trackerImpression,
    tracker_viewable: options.trackerViewable,
  })
}

/** Readers meet the servers: what those know counts as much as this command's environment. */
async function worldOf({ config, now }: CommandContext, db: Db): Promise<CampaignWorld> {
  const isKnown = knowsCountries(config) || (await doesEdgeKnowCountries(db))
  return { now: now(), knowsCountries: isKnown }
}
