/** `souk demo`: the demo network beside the server, and the one screen that explains it. */
import type { Config } from '../config.ts'
import type { Node } from '../node.ts'
import { DAY_MS, utcDay } from '../platform/timestamp.ts'
import {
  type DemoDeps,
  type DemoState,
  importDemoFeeds,
  isEmpty,
  loadDemo,
  readDemo,
  siteUrl,
} from './load.ts'
import { ARTICLES } from './network.ts'
import { findFreePort, startDemoSite } from './site.ts'

/** Feeds are stale after a day; sent twice a day, one that fails does no harm. */
const FEEDS_MS = 12 * 3_600_000

export interface Demo {
  /** What to print once the server answers. */
  readonly screen: string
  close(): Promise<void>
}

/** Loads the demo if the database is empty, and serves its shops and magazines. */
export async function startDemo(node: Node): Promise<Demo> {
  const { config, database, ids, log } = node
  const deps: DemoDeps = {
    database,
    ids,
    dataDir: config.dataDir,
    now: () => new Date(node.now()),
  }
  const state = await openState(deps, config)
  if (state === null) return { screen: ownDataScreen(config), close: async () => undefined }
  const { host, baseUrl, linkUrl } = config
  const site = await startDemoSite({ state, host, baseUrl, linkUrl })
  const timer = setInterval(
    () => importDemoFeeds(deps, state).catch((err) => log.error({ err }, 'demo feeds')),
    FEEDS_MS,
  )
  return {
    screen: demoScreen(config, { state, nowMs: node.now() }),
    close: async () => {
      clearInterval(timer)
      await site.close()
    },
  }
}

/** The demo of this SOUK_DATA, made if the database is empty; null: it holds other data. */
async function openState(deps: DemoDeps, config: Config): Promise<DemoState | null> {
  if (await isEmpty(deps)) return loadDemo(deps, await findFreePort(config.port + 1, config.host))
  const state = await readDemo(deps)
  if (state !== null) await importDemoFeeds(deps, state)
  return state
}

function demoScreen(config: Config, { state, nowMs }: { state: DemoState; nowMs: number }): string {
  const day = (offset: number) => utcDay(nowMs + offset * DAY_MS)
  const pubId = Object.values(state.publishers)[0] ?? 1
  const articles = ARTICLES.map(
    ({ publisher, slug }) => `    ${siteUrl(publisher, state.sitePort)}/${slug}`,
  )
  const key = `Authorization: ${config.brand.toUpperCase()}-API-KEY ${state.apiKey}`
  // One line, to be copied as it stands (operator's interface, Two commands).
  const path = `/api/v1/publishers/${pubId}/stats_by_article_merchant_daily/`
  const stats = `${config.baseUrl}${path}?date_from=${day(-1)}&date_to=${day(1)}`
  return `
  Souk is running, with a demo network: two magazines, six shops.

  Open an article, watch its links go to auction, click one:
${articles.join('\n')}

  Dashboard      ${config.baseUrl}/dashboard/
    login        ${state.email}  ${state.password}
  API reference  ${config.baseUrl}/docs/
  API key        ${state.apiKey}

  The statistics, seconds after a click:
    curl -H '${key}' '${stats}'

  Data in ${config.dataDir}. Stop with Ctrl-C; delete that folder to start anew.
`
}

function ownDataScreen({ baseUrl, dataDir }: Config): string {
  return `
  Souk is running on the data in ${dataDir} (not a demo).

  Dashboard      ${baseUrl}/dashboard/
  API reference  ${baseUrl}/docs/

  Stop with Ctrl-C.
`
}
