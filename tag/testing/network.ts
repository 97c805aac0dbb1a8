/**
 * The real service with a small network on it: what the specs of both tags run against.
 *
 * Two publishers (`daily` is in the partner program, `weekly` is not), a shop that bids on all it
 * sells, and one whose goods are known but which bids on nothing.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUser } from '../../src/accounts/create-account.ts'
import { PUBLISHER_DEFAULTS } from '../../src/accounts/publisher.ts'
import { insertPublisher } from '../../src/accounts/publisher-store.ts'
import { CAMPAIGN_DEFAULTS } from '../../src/campaigns/campaign.ts'
import { insertCampaign } from '../../src/campaigns/campaign-store.ts'
import { openFeedFile } from '../../src/catalog/feeds/feed-file.ts'
import { importFeed } from '../../src/catalog/feeds/import-feed.ts'
import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant } from '../../src/catalog/merchant-store.ts'
import { EVENT_TYPE } from '../../src/events/event.ts'
import { micros } from '../../src/platform/money/money.ts'
import type { Database } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startTestApp, type TestApp } from '../../test/support/app.ts'
import type { Scope } from '../../test/support/database.ts'
import { until } from '../../test/support/market.ts'
import { startWeb, type Web } from './web.ts'

export interface Network {
  readonly app: TestApp
  readonly web: Web
  /** The service's address as a page writes it. */
  readonly service: string
  /** The user who has both publishers. */
  readonly uid: number
  readonly pubId: number
  readonly merchId: number
  /** Makes the smart links of these pages for an article of `daily`; ids in the same order. */
  smartLinks(article: string, urls: readonly string[]): Promise<string[]>
  /** Resolves once the node has heard of a publisher: within two seconds of its making. */
  untilKnown(slug: string): Promise<void>
  /** Everything the service has recorded of a page, once it is folded. */
  recorded(articleUrl: string): Promise<Recorded>
}

/** The events of one page as the service has them, not as the page sent them. */
export interface Recorded {
  readonly pages: number
  /** Auction ids, one entry per occurrence, sorted. */
  readonly links: string[]
  readonly viewable: string[]
  /** Different page sessions. */
  readonly sessions: number
  readonly consents: number[]
  readonly referrers: (string | null)[]
}

export interface NetworkOptions {
  /** How many goods each shop sells: `/p/1` to `/p/<goods>`. */
  readonly goods?: number
  readonly webPort?: number
  readonly env?: Record<string, string>
}

export async function startNetwork(scope: Scope, options: NetworkOptions = {}): Promise<Network> {
  const app = await startTestApp(scope, { env: options.env ?? {} })
  const web = await startWeb(options.webPort)
  scope.after(() => web.close())
  const db = app.node.database
  const service = app.config.baseUrl
  const { uid, pubId } = await makePublishers(db)
  const goods = options.goods ?? 20
  const merchId = await makeShop(db, { web, name: 'kettles', goods, isBidding: true })
  await makeShop(db, { web, name: 'quiet', goods, isBidding: false })
  for (const name of ['kettles', 'quiet', 'daily', 'trackers']) web.words.set(name, web.host(name))
  web.words.set('service', service)
  const network: Network = {
    app,
    web,
    service,
    uid,
    pubId,
    merchId,
    smartLinks: (article, urls) => smartLinks(app, { pubId, article, urls }),
    untilKnown: async (slug) => {
      while (!app.node.edge.market.publishersBySlug.has(slug)) await sleep(20)
    },
    recorded: async (articleUrl) => {
      await app.untilFolded()
      return readRecorded(db, articleUrl)
    },
  }
  await untilBidding(network)
  return network
}

async function makePublishers(db: Database): Promise<{ uid: number; pubId: number }> {
  const account = { email: 'editor@daily.example', password: 'long enough', isAdmin: false }
  const { uid } = await createUser(db, account)
  const shared = { ...PUBLISHER_DEFAULTS, uid, epsilon_ppm: 0 }
  const daily = await insertPublisher(db, {
    ...shared,
    ...{ name: 'Daily', slug: 'daily', is_partner: true, domains: ['daily.localhost'] },
  })
  await insertPublisher(db, {
    ...shared,
    ...{ name: 'Weekly', slug: 'weekly', domains: ['weekly.localhost'] },
  })
  return { uid, pubId: daily.pub_id }
}

interface Shop {
  readonly web: Web
  readonly name: string
  readonly goods: number
  readonly isBidding: boolean
}

async function makeShop(db: Database, { web, name, goods, isBidding }: Shop): Promise<number> {
  const { merch_id } = await insertMerchant(db, {
    ...MERCHANT_DEFAULTS,
    name: `The ${name} shop`,
    domains: [`${name}.localhost`],
    origins: [web.host(name)],
  })
  const rows = Array.from({ length: goods }, (_, index) => {
    const at = index + 1
    return `${name}-${at},"Thing ${at} <of> ${name}",${web.host(name)}/p/${at},49.99 USD,in stock`
  })
  const folder = await mkdtemp(join(tmpdir(), 'souk-feed-'))
  const path = join(folder, 'feed.csv')
  await writeFile(path, ['id,title,link,price,availability', ...rows].join('\n'))
  const file = await openFeedFile(path)
  const at = new Date()
  const { rejected } = await importFeed(db, { merchId: merch_id, file, format: 'csv', at, seed: 1 })
  await rm(folder, { recursive: true })
  if (Object.keys(rejected).length > 0) throw new Error(`rejected: ${JSON.stringify(rejected)}`)
  if (isBidding) await makeCampaign(db, { merchId: merch_id, trackers: web.host('trackers'), at })
  return merch_id
}

async function makeCampaign(
  db: Database,
  { merchId, trackers, at }: { merchId: number; trackers: string; at: Date },
): Promise<void> {
  await insertCampaign(db, {
    settings: {
      ...CAMPAIGN_DEFAULTS,
      merch_id: merchId,
      model: 'cpc',
      bid_micros: micros(600_000),
      tracker_impression: [`${trackers}/seen?r={RAND}`, `${trackers}/second?r={RAND}&s={RAND}`],
      tracker_viewable: [`${trackers}/viewed?r={RAND}`],
    },
    world: { now: at, knowsCountries: false },
  })
}

async function smartLinks(
  app: TestApp,
  { pubId, article, urls }: { pubId: number; article: string; urls: readonly string[] },
): Promise<string[]> {
  const response = await app.post(`/api/v1/publishers/${pubId}/linkmate/smart_links/`, {
    article: { name: 'An article', url: article },
    links: urls.map((raw_url) => ({ raw_url })),
  })
  const body = (await response.json()) as {
    data: { smart_links: { auction_id: string; url: string }[] }[]
  }
  const ids = new Map(body.data[0]?.smart_links.map((link) => [link.url, link.auction_id]))
  return urls.map((url) => ids.get(url) ?? '')
}

/** Nodes hear of a new campaign within two seconds. */
async function untilBidding({ app, web, smartLinks: make, untilKnown }: Network): Promise<void> {
  await untilKnown('daily')
  const [id = ''] = await make(`${web.host('daily')}/warm-up`, [`${web.host('kettles')}/p/1`])
  await until(async () => {
    const response = await app.get(`/api/v1/auction/?a=${id}`)
    const body = (await response.json()) as { data: { has_winner?: boolean }[] }
    return body.data[0]?.has_winner === true
  })
}

interface EventRow {
  readonly type: number
  readonly auction_id: string | null
  readonly session_key: string
  readonly consent: number
  readonly referrer: string | null
}

async function readRecorded(db: Database, articleUrl: string): Promise<Recorded> {
  const { origin, pathname } = new URL(articleUrl)
  const rows = await db.rows<EventRow>(sql`
    select type, auction_id, encode(session_key, 'hex') as session_key, consent, referrer
    from event where url = ${origin + pathname} and reason = 0 order by seq`)
  const idsOf = (type: number) =>
    rows.flatMap((row) => (row.type === type ? (row.auction_id ?? []) : [])).sort()
  const pages = rows.filter(({ type }) => type === EVENT_TYPE.pageImpression)
  return {
    pages: pages.length,
    links: idsOf(EVENT_TYPE.linkImpression),
    viewable: idsOf(EVENT_TYPE.linkViewable),
    sessions: new Set(rows.map((row) => row.session_key)).size,
    consents: [...new Set(rows.map(({ consent }) => consent))],
    referrers: pages.map(({ referrer }) => referrer),
  }
}
