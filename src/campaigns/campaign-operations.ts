/** What people do with campaigns: the operations behind the routes and `souk campaign`. */
import Type, { type Static } from 'typebox'
import { actsForNetwork, authorize } from '../accounts/caller.ts'
import { requireMatch } from '../accounts/etag.ts'
import { action, type Call, list, type Operation } from '../accounts/operation.ts'
import { listPublishers } from '../accounts/publisher-store.ts'
import { listSpending } from '../budgets/budget-account.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { ApiError, notFound } from '../platform/errors/api-errors.ts'
import { pageOf, readCursor } from '../platform/http/list-cursor.ts'
import { formatExact } from '../platform/money/money.ts'
import { doesEdgeKnowCountries } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings } from './campaign.ts'
import { readCampaignBody, toCampaignRecord } from './campaign-record.ts'
import {
  CampaignBody,
  CampaignEntry,
  NewCampaignBody,
  NewCampaignEntry,
} from './campaign-schema.ts'
import { publicState } from './campaign-standing.ts'
import {
  type Campaign,
  type CampaignWorld,
  insertCampaign,
  listCampaignsAfter,
  lockCampaign,
  type Pauser,
  requireCampaign,
  setPaused,
  updateCampaign,
} from './campaign-store.ts'
import { conflictText, listConflicts } from './list-conflict-store.ts'
import { priceNote } from './price-note.ts'

export interface CampaignDeps {
  /** Campaigns whose budgets the orders still to come will use up, as this node sees it. */
  readonly overCap: () => ReadonlySet<number>
  /** Whether this process can determine readers' countries; edges that can count as well. */
  readonly knowsCountries: boolean
  readonly pricing: 'second_price' | 'first_price'
}

const CAMPAIGNS = '/api/v1/merchants/:merch_id/campaigns/'
const CAMPAIGN = `${CAMPAIGNS}:campaign_id/`
const CampaignParams = Type.Object({ ...MerchantParams.properties, campaign_id: Type.Integer() })

type Entry = Static<typeof CampaignEntry>

/** Without figures, which change by themselves: the etag and the audit log leave them out. */
function versionOf(campaign: Entry & { readonly price_note?: string }) {
  const { state, spent, spent_today, over_cap, conflicts, price_note, ...settings } = campaign
  return settings
}

const SHARED = { tag: 'merchants', hasEtag: true, versionOf } as const

export const listCampaignEntries = (deps: CampaignDeps) =>
  list({
    id: 'listCampaigns',
    tag: 'merchants',
    path: CAMPAIGNS,
    summary: 'The campaigns of a merchant',
    permission: 'figures.read',
    params: MerchantParams,
    entry: CampaignEntry,
    run: async ({ db, params, query: { limit, cursor }, now }) => {
      const { merch_id: merchId } = params
      const [afterId = 0] = readCursor(cursor, ['integer']) ?? []
      const page = { merchId, afterId: Number(afterId), limit: limit + 1 }
      const { rows, nextCursor } = pageOf(await listCampaignsAfter(db, page), limit, {
        cursorOf: (row) => [row.campaign_id],
        entryOf: (row) => row,
      })
      return { rows: await toEntries(db, rows, { deps, merchId, now }), nextCursor }
    },
  })

export const createCampaign = (deps: CampaignDeps) =>
  action({
    ...SHARED,
    id: 'createCampaign',
    method: 'POST',
    path: CAMPAIGNS,
    summary: 'Create a campaign',
    description: 'A campaign that could not work is refused with every reason.',
    permission: 'campaigns.write',
    status: 201,
    params: MerchantParams,
    body: NewCampaignBody,
    entry: NewCampaignEntry,
    run: async (call) => {
      const { db, now } = call
      const { merch_id: merchId } = call.params
      const given = { ...CAMPAIGN_DEFAULTS, ...readCampaignBody(call.body), merch_id: merchId }
      const settings = given as CampaignSettings
      const row = await insertCampaign(db, { settings, world: await worldOf(db, deps, now) })
      const entry = await toEntry(db, row, { deps, now })
      await call.audit({
        action: 'campaign.create',
        target: `campaign:${row.campaign_id}`,
        after: versionOf(entry),
      })
      const floors = (await listPublishers(db, { uid: null })).map((each) => each.floor_micros)
      return [{ ...entry, price_note: priceNote(deps.pricing, floors) }]
    },
  })

export const readCampaign = (deps: CampaignDeps) =>
  action({
    ...SHARED,
    id: 'readCampaign',
    method: 'GET',
    path: CAMPAIGN,
    summary: 'A campaign',
    permission: 'figures.read',
    params: CampaignParams,
    entry: CampaignEntry,
    run: async ({ db, params, now }) => {
      const row = requireOwn(await requireCampaign(db, params.campaign_id), params)
      return [await toEntry(db, row, { deps, now })]
    },
  })

export const changeCampaign = (deps: CampaignDeps) =>
  action({
    ...SHARED,
    id: 'updateCampaign',
    method: 'PATCH',
    path: CAMPAIGN,
    summary: 'Change a campaign',
    description:
      'Fields that are not sent stay as they are; null sets one to its default. Budgets apply at ' +
      'once. A campaign that could not work is refused with every reason.',
    permission: 'campaigns.write',
    params: CampaignParams,
    body: CampaignBody,
    entry: CampaignEntry,
    run: (call) =>
      change(deps, call, 'campaign.update', async ({ campaign_id: campaignId }) => {
        const { db, caller, body, now } = call
        const changes = readCampaignBody(body)
        const { merch_id: id = call.params.merch_id } = changes
        if (id !== call.params.merch_id) {
          authorize(caller, { kind: 'merchant', id }, 'campaigns.write')
        }
        return updateCampaign(db, { campaignId, changes, world: await worldOf(db, deps, now) })
      }),
  })

export const pauseCampaign = (deps: CampaignDeps) =>
  action({
    ...SHARED,
    id: 'pauseCampaign',
    method: 'POST',
    path: `${CAMPAIGN}pause/`,
    summary: 'Pause a campaign',
    description: 'It wins nothing until it is resumed. Clicks on earlier results still cost.',
    permission: 'campaigns.write',
    params: CampaignParams,
    entry: CampaignEntry,
    run: (call) =>
      change(deps, call, 'campaign.pause', ({ campaign_id: campaignId, paused_by }) => {
        // A merchant's second pause must not take the operator's away.
        const pausedBy = paused_by === 'operator' ? paused_by : sideOf(call)
        return setPaused(call.db, { campaignId, pausedBy })
      }),
  })

export const resumeCampaign = (deps: CampaignDeps) =>
  action({
    ...SHARED,
    id: 'resumeCampaign',
    method: 'POST',
    path: `${CAMPAIGN}resume/`,
    summary: 'Resume a paused campaign',
    description: 'A merchant cannot resume what the operator paused: 409.',
    permission: 'campaigns.write',
    params: CampaignParams,
    entry: CampaignEntry,
    run: (call) =>
      change(deps, call, 'campaign.resume', ({ campaign_id: campaignId, paused_by }) => {
        if (paused_by === 'operator' && sideOf(call) === 'merchant') {
          const message =
            'The operator of the network paused this campaign, and only the operator can resume it'
          throw new ApiError('wrongState', { message })
        }
        return setPaused(call.db, { campaignId, pausedBy: null })
      }),
  })

export const campaignOperations = (deps: CampaignDeps): Operation[] => [
  listCampaignEntries(deps),
  createCampaign(deps),
  readCampaign(deps),
  changeCampaign(deps),
  pauseCampaign(deps),
  resumeCampaign(deps),
]

const sideOf = ({ caller }: Pick<CampaignCall, 'caller'>): Pauser =>
  actsForNetwork(caller) ? 'operator' : 'merchant'

type CampaignCall = Call<Static<typeof CampaignParams>, unknown, unknown>

/** A change under the campaign's lock, and its entry in the audit log if it changed anything. */
async function change(
  deps: CampaignDeps,
  { db, params, now, ifMatch, audit }: CampaignCall,
  name: string,
  work: (before: Campaign) => Promise<Campaign>,
) {
  // Before the lock, which would block changes of other merchants' campaigns.
  requireOwn(await requireCampaign(db, params.campaign_id), params)
  const row = requireOwn(await lockCampaign(db, params.campaign_id), params)
  const before = versionOf(await toEntry(db, row, { deps, now }))
  requireMatch(ifMatch, before)
  const entry = await toEntry(db, await work(row), { deps, now })
  const after = versionOf(entry)
  if (JSON.stringify(after) !== JSON.stringify(before)) {
    await audit({ action: name, target: `campaign:${row.campaign_id}`, before, after })
  }
  return [entry]
}

/** Another merchant's campaign is answered as one that does not exist. */
function requireOwn(campaign: Campaign, { merch_id }: Static<typeof MerchantParams>): Campaign {
  if (campaign.merch_id === merch_id) return campaign
  throw notFound(`No campaign ${campaign.campaign_id}`)
}

/** The servers meet the readers, so their knowledge counts as much as this process's. */
async function worldOf(
  db: Db,
  { knowsCountries }: CampaignDeps,
  now: Date,
): Promise<CampaignWorld> {
  return { now, knowsCountries: knowsCountries || (await doesEdgeKnowCountries(db)) }
}

interface Seen {
  readonly deps: CampaignDeps
  readonly now: Date
}

async function toEntry(db: Db, row: Campaign, seen: Seen): Promise<Entry> {
  const [entry] = await toEntries(db, [row], { ...seen, merchId: row.merch_id })
  if (entry === undefined) throw new Error('a row has no entry')
  return entry
}

async function toEntries(
  db: Db,
  rows: readonly Campaign[],
  { deps, merchId, now }: Seen & { readonly merchId: number },
): Promise<Entry[]> {
  if (rows.length === 0) return []
  const { feed_imported_at: feedImportedAt } = await requireMerchant(db, merchId)
  const spending = await listSpending(db, { today: utcDay(now), merchId })
  const spent = new Map(spending.map((each) => [each.campaign_id, each]))
  const [single] = rows.length === 1 ? rows : []
  const of = { campaignId: single?.campaign_id ?? null, pubId: null }
  const conflicts = Map.groupBy(await listConflicts(db, of), ({ campaign_id }) => campaign_id)
  return rows.map((row) => {
    const { campaign_id } = row
    const sums = spent.get(campaign_id)
    const { spent_micros = '0', spent_today_micros = '0', over_cap_micros = '0' } = sums ?? {}
    const used = {
      spentMicros: Number(spent_micros),
      spentTodayMicros: Number(spent_today_micros),
      isOverCap: deps.overCap().has(campaign_id),
    }
    return {
      ...toCampaignRecord(row),
      state: publicState(row, used, { now, feedImportedAt }),
      paused_by: row.paused_by,
      spent: formatExact(spent_micros),
      spent_today: formatExact(spent_today_micros),
      over_cap: formatExact(over_cap_micros ?? 0),
      conflicts: (conflicts.get(campaign_id) ?? []).map(conflictText),
    }
  })
}
