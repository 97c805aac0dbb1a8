/**
 * Creates the demo network in an empty database, through the same functions as the operator's
 * commands: accounts, merchants with feeds and campaigns, articles with smart links.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createApiKey, createUser } from '../accounts/create-account.ts'
import { setMembership } from '../accounts/membership-store.ts'
import { hashPassword } from '../accounts/password.ts'
import {
  MEMBER_ROLES,
  NETWORK,
  NETWORK_ROLES,
  type Organization,
  type Role,
} from '../accounts/permission.ts'
import { PUBLISHER_DEFAULTS } from '../accounts/publisher.ts'
import { insertPublisher } from '../accounts/publisher-store.ts'
import { insertUser } from '../accounts/store.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings } from '../campaigns/campaign.ts'
import { insertCampaign } from '../campaigns/campaign-store.ts'
import { openFeedFile } from '../catalog/feeds/feed-file.ts'
import { beginRun, RecordedRun } from '../catalog/feeds/record-import.ts'
import { MERCHANT_DEFAULTS } from '../catalog/merchant.ts'
import { insertMerchant } from '../catalog/merchant-store.ts'
import { readLinkRequest } from '../links/create-link.ts'
import { insertSmartLink } from '../links/store.ts'
import { replaceFile } from '../platform/files/atomic-file.ts'
import type { IdSource } from '../platform/ids.ts'
import { MICROS_PER_DOLLAR, type Micros, micros } from '../platform/money/money.ts'
import type { Database, Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { feedText } from './feeds.ts'
import {
  ARTICLES,
  type DemoCampaign,
  type DemoMerchant,
  type DemoOffer,
  type DemoPick,
  MERCHANTS,
  offersOf,
  PUBLISHERS,
  pickedOffer,
} from './network.ts'

/** The demo's record beside its database: URLs, and the sign-in that the screen shows. */
export interface DemoState {
  readonly sitePort: number
  readonly email: string
  readonly password: string
  readonly apiKey: string
  /** A login for each role, with the same password; missing in demos from before there were any. */
  readonly logins?: readonly DemoLogin[]
  readonly merchants: Readonly<Record<string, number>> // merch_id by slug.
  readonly publishers: Readonly<Record<string, number>> // pub_id by slug.
  readonly links: Readonly<Record<string, string>> // Auction id by article and pick.
}

export interface DemoLogin {
  readonly email: string
  readonly role: Role
  readonly of: string // the name of its organization
}

export interface DemoDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly dataDir: string
  readonly now: () => Date
}

const siteHost = (slug: string): string => `${slug}.localhost`
export const siteUrl = (slug: string, port: number): string => `http://${siteHost(slug)}:${port}`
export const pictureUrl = (gtin: string, port: number): string =>
  `http://pictures.localhost:${port}/${gtin}.svg`
export const linkKey = (article: string, pick: DemoPick): string => `${article}/${pick.verdict}`

const FILE = 'demo.json'

/** The demo's record; null if this database holds no demo. */
export async function readDemo({ database, dataDir }: DemoDeps): Promise<DemoState | null> {
  const state = await readState(dataDir)
  if (state === null) return null
  // With DATABASE_URL, a demo's folder may be used with the database of a real network.
  const made = await database.row(sql`
    select from merchant_domain
    where (merch_id, domain) in (
      select * from unnest(
        ${Object.values(state.merchants)}::int[],
        ${Object.keys(state.merchants).map(siteHost)}::text[]))
    limit 1`)
  return made === null ? null : state
}

async function readState(dataDir: string): Promise<DemoState | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, FILE), 'utf8')) as DemoState
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

export async function isEmpty({ database }: DemoDeps): Promise<boolean> {
  const row = await database.row<{ is_empty: boolean }>(sql`
    select not exists (select from publisher) and not exists (select from merchant) as is_empty`)
  return row?.is_empty === true
}

/** The network as it was before its history; its campaigns have no budgets yet. */
export interface PastStart {
  readonly at: Date
  readonly offersOf: (merchant: DemoMerchant) => readonly DemoOffer[]
}

/**
 * Creates everything in an empty database, as of now or as of the start of its history. A start
 * that dies leaves the database empty, or with a demo whose feeds the next start imports.
 */
export async function loadDemo(
  deps: DemoDeps,
  sitePort: number,
  past: PastStart | null = null,
): Promise<DemoState> {
  const state = await deps.database.transaction(async (tx) => {
    const now = past === null ? deps.now : () => past.at
    const made = await makeNetwork({ ...deps, now }, tx, { sitePort, isCapped: past === null })
    // Before the commit: a demo that nobody can sign in to would look like other data.
    await replaceFile(join(deps.dataDir, FILE), (draft) =>
      writeFile(draft, JSON.stringify(made, null, 2), { mode: 0o600 }),
    )
    return made
  })
  await importDemoFeeds(deps, state, past?.offersOf)
  return state
}

async function makeNetwork(
  deps: DemoDeps,
  tx: Db,
  { sitePort, isCapped }: { readonly sitePort: number; readonly isCapped: boolean },
): Promise<DemoState> {
  const email = 'demo@souk.example'
  const password = `demo-${randomBytes(6).toString('hex')}`
  const { uid } = await createUser(tx, { email, password, isAdmin: true })
  const publishers = await makePublishers(tx, uid)
  const merchants = await makeMerchants(tx, { uid, now: deps.now(), sitePort, isCapped })
  const wanted = { uid, description: 'Demo key', expiresAt: null, now: deps.now() }
  const { key: apiKey } = await createApiKey(tx, wanted)
  const logins = await makeLogins(tx, { password, publishers, merchants })
  const state = { sitePort, email, password, apiKey, logins, merchants, publishers, links: {} }
  return { ...state, links: await makeLinks(deps, tx, { user: uid, state }) }
}

/** A user for each role of the first publisher, the first merchant and the network. */
async function makeLogins(
  tx: Db,
  demo: Pick<DemoState, 'password' | 'publishers' | 'merchants'>,
): Promise<DemoLogin[]> {
  const passwordHash = await hashPassword(demo.password)
  const [publisher, merchant] = [PUBLISHERS[0], MERCHANTS[0]]
  const [pubId, merchId] = [
    demo.publishers[publisher?.slug ?? ''],
    demo.merchants[merchant?.slug ?? ''],
  ]
  assert(publisher !== undefined && merchant !== undefined)
  assert(pubId !== undefined && merchId !== undefined)
  const wanted = [
    ...MEMBER_ROLES.map((role) => ({ role, of: publisher.name, at: publisherOf(pubId) })),
    ...MEMBER_ROLES.map((role) => ({ role, of: merchant.name, at: merchantOf(merchId) })),
    ...NETWORK_ROLES.map((role) => ({ role, of: 'the network', at: NETWORK })),
  ]
  const logins: DemoLogin[] = []
  for (const { role, of, at } of wanted) {
    const email = `${at.kind === 'network' ? '' : `${at.kind}-`}${role}@souk.example`
    const { uid } = await insertUser(tx, { email, passwordHash, isAdmin: false })
    await setMembership(tx, { uid, organization: at, role })
    logins.push({ email, role, of })
  }
  return logins
}

const publisherOf = (id: number): Organization => ({ kind: 'publisher', id })
const merchantOf = (id: number): Organization => ({ kind: 'merchant', id })

/** Feeds expire after a day, so each start imports them again. */
export async function importDemoFeeds(
  deps: DemoDeps,
  state: DemoState,
  offersAt: (merchant: DemoMerchant) => readonly DemoOffer[] = offersOf,
): Promise<void> {
  for (const merchant of MERCHANTS) {
    await importDemoFeed(deps, state, { merchant, offers: offersAt(merchant) })
  }
}

/** Imports the feed of one shop; returns the number of the import, null without that shop. */
export async function importDemoFeed(
  { database, dataDir, now }: DemoDeps,
  { sitePort, merchants }: DemoState,
  { merchant, offers }: { readonly merchant: DemoMerchant; readonly offers: readonly DemoOffer[] },
): Promise<string | null> {
  const merchId = merchants[merchant.slug]
  if (merchId === undefined) return null
  const folder = join(dataDir, 'demo-feeds')
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${merchant.slug}.${merchant.feed}`)
  const siteOf = {
    shop: (slug: string) => siteUrl(slug, sitePort),
    picture: (gtin: string) => pictureUrl(gtin, sitePort),
  }
  await writeFile(path, feedText(merchant, siteOf, offers))
  const importId = await beginRun(database, {
    ...{ merch_id: merchId, source: 'schedule', is_dry_run: false, state: 'fetching', url: null },
  })
  const run = new RecordedRun(database, importId)
  const file = await openFeedFile(path)
  const seed = randomBytes(4).readUInt32BE()
  await run.during(() => run.import({ merchId, file, format: 'auto', at: now(), seed }))
  return importId
}

async function makePublishers(db: Db, uid: number): Promise<Record<string, number>> {
  const made: Record<string, number> = {}
  for (const { slug, name, isPartner, sharePercent } of PUBLISHERS) {
    const row = await insertPublisher(db, {
      ...PUBLISHER_DEFAULTS,
      uid,
      slug,
      name,
      is_partner: isPartner,
      share_ppm: sharePercent * 10_000,
      domains: [siteHost(slug)],
    })
    made[slug] = row.pub_id
  }
  return made
}

async function makeMerchants(
  db: Db,
  wanted: { uid: number; now: Date; sitePort: number; isCapped: boolean },
): Promise<Record<string, number>> {
  const { uid, now, sitePort, isCapped } = wanted
  const made: Record<string, number> = {}
  for (const { slug, name, campaigns } of MERCHANTS) {
    const { merch_id: merchId } = await insertMerchant(db, {
      ...MERCHANT_DEFAULTS,
      uid, // One sign-in shows both sides of each click.
      name,
      domains: [siteHost(slug)],
      origins: [siteUrl(slug, sitePort)],
    })
    made[slug] = merchId
    for (const campaign of campaigns) {
      const uncapped = { daily_budget_micros: null, budget_micros: null }
      const settings = { ...campaignSettings(merchId, campaign), ...(isCapped ? {} : uncapped) }
      await insertCampaign(db, { settings, world: { now, knowsCountries: false } })
    }
  }
  return made
}

function campaignSettings(merchId: number, campaign: DemoCampaign): CampaignSettings {
  const { bidCents, exclusiveBidCents, ratePercent, paymentCents } = campaign
  return {
    ...CAMPAIGN_DEFAULTS,
    merch_id: merchId,
    model: campaign.model,
    bid_micros: cents(bidCents),
    exclusive_bid_micros: cents(exclusiveBidCents),
    rate_ppm: ratePercent === undefined ? null : ratePercent * 10_000,
    payment_micros: cents(paymentCents),
    daily_budget_micros: dollars(campaign.dailyBudgetDollars),
    budget_micros: dollars(campaign.budgetDollars),
  }
}

const cents = (value: number | undefined): Micros | null =>
  value === undefined ? null : micros((value * MICROS_PER_DOLLAR) / 100)
const dollars = (value: number | undefined): Micros | null =>
  value === undefined ? null : micros(value * MICROS_PER_DOLLAR)

/**
 * Smart links for the articles of publishers outside the partner program; LinkMate creates the
 * others.
 */
async function makeLinks(
  { ids, now }: DemoDeps,
  db: Db,
  { user, state }: { user: number; state: DemoState },
): Promise<Record<string, string>> {
  const links: Record<string, string> = {}
  for (const article of ARTICLES) {
    const publisher = PUBLISHERS.find(({ slug }) => slug === article.publisher)
    const pubId = state.publishers[article.publisher]
    if (publisher === undefined || pubId === undefined || publisher.isPartner) continue
    for (const pick of article.picks) {
      const { merchant, sku } = pickedOffer(pick)
      const request = readLinkRequest(
        {
          url: `${siteUrl(merchant.slug, state.sitePort)}/p/${sku}`,
          article_name: article.title,
          article_url: `${siteUrl(article.publisher, state.sitePort)}/${article.slug}`,
          article_publication_date: article.published,
          exclusive_match_requested: pick.isExclusive,
          pub_id: pubId,
        },
        { holder: { uid: user, pubIds: Object.values(state.publishers) }, at: now() },
      )
      const { link } = await insertSmartLink(db, { ...request, auctionId: ids.next() })
      links[linkKey(article.slug, pick)] = link.auction_id
    }
  }
  return links
}
