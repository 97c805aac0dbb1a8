/** Commands on merchants and campaigns. */

import type { Static } from 'typebox'
import { perform } from '../accounts/operation.ts'
import { listSpending } from '../budgets/budget-account.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings } from '../campaigns/campaign.ts'
import {
  type CampaignDeps,
  changeCampaign,
  createCampaign,
  pauseCampaign,
  resumeCampaign,
} from '../campaigns/campaign-operations.ts'
import { toCampaignBody, toCampaignRecord } from '../campaigns/campaign-record.ts'
import type { NewCampaignBody } from '../campaigns/campaign-schema.ts'
import { type Campaign, listCampaigns, requireCampaign } from '../campaigns/campaign-store.ts'
import { conflictText, listConflicts } from '../campaigns/list-conflict-store.ts'
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
  // Options without a default are required.
  const { merch_id = 0, ...settings } = readCampaignChanges(options)
  const db = await context.database()
  const body = toCampaignBody(settings) as Static<typeof NewCampaignBody>
  const call = { ...asShell(context, db), params: { merch_id }, body }
  const [created] = await perform(createCampaign(campaignDeps(context)), call)
  const { campaign_id = 0, price_note = '' } = created ?? {}
  const isSecondPrice = context.config.pricing === 'second_price'
  return {
    ...(await withConflicts(db, await requireCampaign(db, campaign_id))),
    price_note: isSecondPrice ? `${price_note} ${FLOOR_HINT}` : price_note,
  }
}

const FLOOR_HINT = 'Raise a publisher’s floor with souk publisher update --floor.'

export async function updateCampaignCommand(
  context: CommandContext,
  { id: campaignId, ...options }: Given & { readonly id: number },
) {
  const body = toCampaignBody(readCampaignChanges(options))
  const db = await context.database()
  const params = await paramsOf(db, campaignId)
  await perform(changeCampaign(campaignDeps(context)), { ...asShell(context, db), params, body })
  return withConflicts(db, await requireCampaign(db, campaignId))
}

function readCampaignChanges(options: Given): Partial<CampaignSettings> {
  return changesOf(CAMPAIGN_SETTINGS, options, CAMPAIGN_DEFAULTS)
}

/** Commands name a campaign by its own id. */
async function paramsOf(db: Db, campaignId: number) {
  const { campaign_id, merch_id } = await requireCampaign(db, campaignId)
  return { campaign_id, merch_id }
}

/** No command shows what the auctions of a node know of orders to come. */
const campaignDeps = ({ config }: CommandContext): CampaignDeps => ({
  overCap: () => new Set(),
  knowsCountries: knowsCountries(config),
  pricing: config.pricing,
})

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
  setState(context, options.campaign, pauseCampaign)

export const resumeCampaignCommand = (context: CommandContext, options: { campaign: number }) =>
  setState(context, options.campaign, resumeCampaign)

async function setState(
  context: CommandContext,
  campaignId: number,
  operation: typeof pauseCampaign | typeof resumeCampaign,
) {
  const db = await context.database()
  const params = await paramsOf(db, campaignId)
  await perform(operation(campaignDeps(context)), { ...asShell(context, db), params })
  const { campaign_id, state } = await requireCampaign(db, campaignId)
  return { campaign_id, state }
}
