/** Campaigns in SQL: created, changed, paused, resumed, found and listed. */

import { applyBudgets, shareBudgets } from '../budgets/budget-account.ts'
import { type ApiError, badRequest, type Fault, notFound } from '../platform/errors/api-errors.ts'
import { canBeSmallId } from '../platform/ids.ts'
import { type Micros, micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { LIST_ROWS_MAX, type Sql, sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { type CampaignSettings, campaignFaults } from './campaign.ts'

export type CampaignState = 'active' | 'paused'
export const PAUSERS = ['merchant', 'operator'] as const
/** Who paused a campaign. */
export type Pauser = (typeof PAUSERS)[number]

export interface Campaign extends CampaignSettings {
  readonly campaign_id: number
  readonly state: CampaignState
  readonly paused_by: Pauser | null // null while it is active
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

const AMOUNTS = [
  'bid_micros',
  'exclusive_bid_micros',
  'payment_micros',
  'daily_budget_micros',
  'budget_micros',
] as const
/** As the driver returns it: 64-bit columns as text. */
export type CampaignRow = Omit<Campaign, (typeof AMOUNTS)[number]> &
  Record<(typeof AMOUNTS)[number], string | null>

/** The context of the rules: the time, and whether readers' countries are known. */
export interface CampaignWorld {
  readonly now: Date
  readonly knowsCountries: boolean
}

/** Of `CampaignSettings`. */
const SETTINGS = sql`merch_id, model, bid_micros, exclusive_bid_micros, rate_ppm, payment_micros,
  roas, has_second_rate, daily_budget_micros, budget_micros, starts_at, ends_at, countries, devices,
  allow_publishers, block_publishers, tracker_impression, tracker_viewable,
  clicks_per_address_hour, clicks_per_address_day`
/** Of a `CampaignRow`, but for its times. */
export const CAMPAIGN_COLUMNS = sql`campaign_id, ${SETTINGS}, state`
const COLUMNS = sql`${CAMPAIGN_COLUMNS}, paused_by, datetime_created, datetime_updated`

/** Throws a 400 that names everything that would keep the campaign from working. */
export async function insertCampaign(
  db: Db,
  { settings, world }: { settings: CampaignSettings; world: CampaignWorld },
): Promise<Campaign> {
  await refuseFaults(db, settings, { world, before: null })
  const chosen = { ...settings, has_second_rate: await secondRateOf(db, settings) }
  const row = await db.row<CampaignRow>(sql`
    insert into campaign (${SETTINGS}) ${rowOf(chosen)}
    returning ${COLUMNS}
  `)
  return toCampaign(row as CampaignRow)
}

/** A new campaign pays the second rate unless it sets otherwise or its contract forbids it. */
async function secondRateOf(
  db: Db,
  { merch_id, model, has_second_rate }: CampaignSettings,
): Promise<boolean> {
  if (has_second_rate !== null || model === 'cpc') return has_second_rate ?? false
  const merchant = await db.row<{ allows_second_rate: boolean }>(
    sql`select allows_second_rate from merchant where merch_id = ${merch_id}`,
  )
  return merchant?.allows_second_rate ?? false
}

/** Changes the given settings and keeps the others; throws a 404 for an unknown campaign. */
export function updateCampaign(
  db: Db,
  {
    campaignId,
    changes,
    world,
  }: {
    campaignId: number
    changes: Partial<CampaignSettings>
    world: CampaignWorld
  },
): Promise<Campaign> {
  return db.transaction(async (tx) => {
    const before = await lockCampaign(tx, campaignId)
    const wanted: CampaignSettings = { ...before, ...changes }
    const settings = { ...wanted, has_second_rate: await secondRateOf(tx, wanted) }
    await refuseFaults(tx, settings, { world, before })
    const updated = await tx.row<CampaignRow>(sql`
      update campaign set (${SETTINGS}) = (${rowOf(settings)}), datetime_updated = now()
      where campaign_id = ${campaignId}
      returning ${COLUMNS}
    `)
    await applyBudgets(tx, campaignId, utcDay(world.now))
    return toCampaign(updated as CampaignRow)
  })
}

/** The campaign, which nobody else changes until the transaction ends; a 404 if unknown. */
export async function lockCampaign(tx: Db, campaignId: number): Promise<Campaign> {
  // Locked before the campaign's row: the fold locks that row after its accounts.
  await shareBudgets(tx)
  const row = await tx.row<CampaignRow>(
    sql`select ${COLUMNS} from campaign where campaign_id = ${campaignId} for no key update`,
  )
  if (row === null) throw unknownCampaign(campaignId)
  return toCampaign(row)
}

/** Throws a 404 for an unknown campaign. `campaignId` may be any integer. */
export async function requireCampaign(db: Db, campaignId: number): Promise<Campaign> {
  const row = canBeSmallId(campaignId)
    ? await db.row<CampaignRow>(
        sql`select ${COLUMNS} from campaign where campaign_id = ${campaignId}`,
      )
    : null
  if (row === null) throw unknownCampaign(campaignId)
  return toCampaign(row)
}

function rowOf(settings: CampaignSettings): Sql {
  return sql`
    select ${SETTINGS}
    from jsonb_populate_record(null::campaign, ${JSON.stringify(settings)}::jsonb)`
}

/** Pauses, or resumes for null; a second time changes nothing. A 404 for an unknown campaign. */
export async function setPaused(
  db: Db,
  { campaignId, pausedBy }: { campaignId: number; pausedBy: Pauser | null },
): Promise<Campaign> {
  const state: CampaignState = pausedBy === null ? 'active' : 'paused'
  const row = await db.row<CampaignRow>(sql`
    update campaign set state = ${state}, paused_by = ${pausedBy},
      datetime_updated = case when state = ${state} and paused_by is not distinct from ${pausedBy}
        then datetime_updated else now() end
    where campaign_id = ${campaignId}
    returning ${COLUMNS}
  `)
  if (row === null) throw unknownCampaign(campaignId)
  return toCampaign(row)
}

/** The campaigns of one merchant, or of all. */
export async function listCampaigns(
  db: Db,
  { merchId = null }: { readonly merchId?: number | null } = {},
): Promise<Campaign[]> {
  const isWanted = merchId === null ? sql`true` : sql`merch_id = ${merchId}`
  const rows = await db.rows<CampaignRow>(sql`
    select ${COLUMNS} from campaign where ${isWanted} order by campaign_id limit ${LIST_ROWS_MAX}`)
  return rows.map(toCampaign)
}

/** Campaigns of a merchant in the order of their ids, from the one after `afterId` on. */
export async function listCampaignsAfter(
  db: Db,
  { merchId, afterId, limit }: { merchId: number; afterId: number; limit: number },
): Promise<Campaign[]> {
  const rows = await db.rows<CampaignRow>(sql`
    select ${COLUMNS} from campaign where merch_id = ${merchId} and campaign_id > ${afterId}
    order by campaign_id limit ${limit}`)
  return rows.map(toCampaign)
}

async function refuseFaults(
  db: Db,
  settings: CampaignSettings,
  { world, before }: { world: CampaignWorld; before: CampaignSettings | null },
) {
  const faults = [
    ...campaignFaults(settings, world, before),
    ...(await unknownFaults(db, settings)),
    ...(before?.has_second_rate === true ? [] : await contractFaults(db, settings)),
  ]
  if (faults.length > 0) throw badRequest(faults)
}

/** A contract is checked when a campaign switches the second rate on; a running one keeps it. */
function contractFaults(db: Db, { merch_id, has_second_rate }: CampaignSettings): Promise<Fault[]> {
  const rule = `the contract of merchant ${merch_id} does not allow it (merchant update --allow-second-rate)`
  return db.rows<Fault>(sql`
    select 'second_rate' as field, ${rule} as rule from merchant
    where merch_id = ${merch_id} and ${has_second_rate === true} and not allows_second_rate`)
}

/** Merchants and publishers that the settings name but that do not exist. */
async function unknownFaults(db: Db, settings: CampaignSettings): Promise<Fault[]> {
  const { merch_id, allow_publishers, block_publishers } = settings
  const rows = await db.rows<{ field: string; id: number }>(sql`
    select 'merchant' as field, ${merch_id}::int as id
    where not exists (select from merchant where merch_id = ${merch_id})
    union all
    select field, id from (
      select 'allow_publisher', unnest(${allow_publishers}::int[])
      union all select 'block_publisher', unnest(${block_publishers}::int[])
    ) as named (field, id)
    where not exists (select from publisher where pub_id = id)
  `)
  return rows.map(({ field, id }) => ({ field, rule: `no ${field.split('_').at(-1)} ${id}` }))
}

function unknownCampaign(campaignId: number): ApiError {
  return notFound(`No campaign ${campaignId}`)
}

function toCampaign(row: CampaignRow): Campaign {
  const amounts = AMOUNTS.map((name) => {
    const value = row[name]
    return [name, value === null ? null : micros(Number(value))] as const
  })
  return {
    ...row,
    ...(Object.fromEntries(amounts) as Record<(typeof AMOUNTS)[number], Micros | null>),
  }
}
