/** Commands on merchants and campaigns. */

import { perform } from '../accounts/operation.ts'
import { listPublishers } from '../accounts/publisher-store.ts'
import { listSpending } from '../budgets/budget-account.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings } from '../campaigns/campaign.ts'
import { toCampaignRecord } from '../campaigns/campaign-record.ts'
import {
  type Campaign,
  type CampaignState,
  type CampaignWorld,
  insertCampaign,
  listCampaigns,
  setCampaignState,
  updateCampaign,
} from '../campaigns/campaign-store.ts'
import { conflictText, listConflicts } from '../campaigns/list-conflict-store.ts'
import { priceNote } from '../campaigns/price-note.ts'
import { MERCHANT_DEFAULTS, type MerchantSettings } from '../catalog/merchant.ts'
import { toMerchantRecord } from '../catalog/merchant-record.ts'
import { listMerchants, requireMerchant } from '../catalog/merchant-store.ts'
import { knowsCountries } from '../node/config.ts'
import { type NewMerchant, toMerchantBody } from '../operator/merchant-body.ts'
import {
  createMerchant,
  replacePostbackSecret,
  updateNetworkMerchant,
} from '../operator/merchant-operations.ts'
import { NO_WARNINGS, sumWarnings } from '../orders/warning-store.ts'
import { formatExact } from '../platform/money/money.ts'
import { doesEdgeKnowCountries } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { withUid } from './accounts.ts'
import { asShell } from './as-shell.ts'
import type { CommandContext } from './command.ts'
import { CAMPAIGN_SETTINGS, changesOf, type Given, MERCHANT_SETTINGS } from './settings.ts'

export async function createMerchantCommand(context: CommandContext, options: Given) {
  const db = await context.database()
  const body = toMerchantBody(await readMerchantChanges(db, options)) as NewMerchant
  const [created] = await perform(createMerchant, { ...asShell(context, db), body })
  return withSecret(db, created?.merch_id ?? 0)
}

export async function updateMerchantCommand(
  context: CommandContext,
  options: Given & { readonly id: number; readonly newSecret?: boolean },
) {
  const db = await context.database()
  const changes = await readMerchantChanges(db, options)
  const { id: merchId, newSecret: isNewSecret = false } = options
  const call = { ...asShell(context, db), params: { merch_id: merchId } }
  await perform(updateNetworkMerchant, { ...call, body: toMerchantBody(changes) })
  if (isNewSecret) await perform(replacePostbackSecret, call)
  return withSecret(db, merchId)
}

export async function listMerchantsCommand(context: CommandContext) {
  const db = await context.database()
  const warnings = await sumWarnings(db, context.now())
  return (await listMerchants(db)).map((merchant) => ({
    ...toMerchantRecord(merchant),
    warnings_30d: warnings.get(merchant.merch_id) ?? NO_WARNINGS,
  }))
}

/** The secret is for the merchant's own server: shown with its record, never in a list. */
async function withSecret(db: Db, merchId: number) {
  const merchant = await requireMerchant(db, merchId)
  return { ...toMerchantRecord(merchant), postback_secret: merchant.postback_secret }
}

async function readMerchantChanges(db: Db, options: Given): Promise<Partial<MerchantSettings>> {
  return changesOf(MERCHANT_SETTINGS, await withUid(db, options), MERCHANT_DEFAULTS)
}

export async function createCampaignCommand(context: CommandContext, options: Given) {
  const settings = { ...CAMPAIGN_DEFAULTS, ...readCampaignChanges(options) } as CampaignSettings
  const db = await context.database()
  const world = await worldOf(context, db)
  const created = await withConflicts(db, await insertCampaign(db, { settings, world }))
  const floors = (await listPublishers(db, { uid: null })).map((each) => each.floor_micros)
  return { ...created, price_note: priceNote(context.config.pricing, floors) }
}

export async function updateCampaignCommand(
  context: CommandContext,
  { id: campaignId, ...options }: Given & { readonly id: number },
) {
  const changes = readCampaignChanges(options)
  const db = await context.database()
  const world = await worldOf(context, db)
  return withConflicts(db, await updateCampaign(db, { campaignId, changes, world }))
}

function readCampaignChanges(options: Given): Partial<CampaignSettings> {
  return changesOf(CAMPAIGN_SETTINGS, options, CAMPAIGN_DEFAULTS)
}

/** A campaign's record, with the publishers that its lists can never reach. */
async function withConflicts(db: Db, campaign: Campaign) {
  const conflicts = await listConflicts(db, { campaignId: campaign.campaign_id, pubId: null })
  return { ...toCampaignRecord(campaign), conflicts: conflicts.map(conflictText) }
}

export async function listCampaignsCommand(context: CommandContext) {
  const db = await context.database()
  const spending = new Map(
    (await listSpending(db, { today: utcDay(context.now()) })).map((row) => [row.campaign_id, row]),
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

/**
 * The servers meet the readers, so their knowledge counts as much as this command's environment.
 */
async function worldOf({ config, now }: CommandContext, db: Db): Promise<CampaignWorld> {
  const isKnown = knowsCountries(config) || (await doesEdgeKnowCountries(db))
  return { now: now(), knowsCountries: isKnown }
}
