/** `souk demo`: the demo network beside the server. */
import type { Node } from '../node/node.ts'
import {
  type DemoDeps,
  type DemoState,
  importDemoFeeds,
  isEmpty,
  loadDemo,
  readDemo,
} from './load.ts'
import { demoScreen, ownDataScreen } from './screen.ts'
import { findFreePort, startDemoSite } from './site.ts'

/** Feeds expire after a day; imported twice a day, one failure does no harm. */
const FEEDS_MS = 12 * 3_600_000
/** Every demo that starts at the same time has the same history. */
const HISTORY_SEED = 60

export interface Demo {
  /** The node to serve from now on. */
  readonly node: Node
  /** The text to print once the server answers. */
  readonly screen: string
  close(): Promise<void>
}

export interface DemoOptions {
  /** Creates a new demo with the figures of past days; null: without any. */
  readonly createWithHistory: CreateDemo | null
}

type CreateDemo = (
  node: Node,
  deps: DemoDeps,
  wanted: { readonly sitePort: number; readonly nowMs: number; readonly seed: number },
) => Promise<DemoState>

/** Loads the demo if the database is empty, and serves its shops and magazines. */
export async function startDemo(node: Node, options: DemoOptions): Promise<Demo> {
  const { config, database, ids, log } = node
  const deps: DemoDeps = {
    database,
    ids,
    dataDir: config.dataDir,
    now: () => new Date(node.now()),
  }
  const state = await openState(node, deps, options)
  if (state === null) {
    return { node, screen: ownDataScreen(config), close: async () => undefined }
  }
  const { host, baseUrl, linkUrl } = config
  const screen = await demoScreen(config, { deps, state })
  const site = await startDemoSite({ state, host, baseUrl, linkUrl })
  const timer = setInterval(
    () => importDemoFeeds(deps, state).catch((err) => log.error({ err }, 'demo feeds')),
    FEEDS_MS,
  )
  return {
    node: tryingHere(node),
    screen,
    close: async () => {
      clearInterval(timer)
      await site.close()
    },
  }
}

/**
 * A demo's webhooks may reach this machine, because all its accounts belong to the person who runs
 * it. In a real network they are guarded, whichever command serves it.
 */
function tryingHere(node: Node): Node {
  return { ...node, config: Object.freeze({ ...node.config, allowPrivateFetch: true }) }
}

/** The demo of this SOUK_DATA, created if the database is empty; null if it holds other data. */
async function openState(
  node: Node,
  deps: DemoDeps,
  { createWithHistory: create }: DemoOptions,
): Promise<DemoState | null> {
  const { port, host } = node.config
  if (await isEmpty(deps)) {
    const sitePort = await findFreePort(port + 1, host)
    if (create === null) return loadDemo(deps, sitePort)
    return create(node, deps, { nowMs: node.now(), seed: HISTORY_SEED, sitePort })
  }
  const state = await readDemo(deps)
  if (state !== null) await importDemoFeeds(deps, state)
  return state
}
