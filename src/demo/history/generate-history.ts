/**
 * Creates the demo network as it was 60 days ago and plays its history until now, so that every
 * page has something to show.
 *
 * The visits are planned purely (visits.ts) and played into the service itself, at a moving clock:
 * auctions, clicks, log, fold, orders, payments. So every figure, receipt and statement is what the
 * service made of its own events, and `souk reconcile` finds no difference.
 */
import { closeEventDays, ensureEventPartitions } from '../../events/partitions.ts'
import type { Node } from '../../node/node.ts'
import { MAX_NODE_ID, makeIdSource } from '../../platform/ids.ts'
import { DAY_MS } from '../../platform/time/timestamp.ts'
import { type DemoDeps, type DemoState, loadDemo } from '../load.ts'
import type { DemoMerchant } from '../network.ts'
import { startDemoSite } from '../site.ts'
import { dateNetwork } from './history-store.ts'
import { PastNode } from './past-node.ts'
import { pastOffers } from './past-offers.ts'
import { HistoryPlayer } from './play-history.ts'
import { hexDigits, seededRandom } from './random.ts'
import { HISTORY_DAYS } from './visits.ts'

export interface HistoryOptions {
  /** The end of the history. */
  readonly nowMs: number
  /** The same seed and end give the same visits. */
  readonly seed: number
  /** Of the usual number of visits; tests play fewer. */
  readonly traffic?: number
}

const RESULT_NUMBER_DIGITS = 32
/** `ensureEventPartitions` creates those of a day and of the next seven. */
const PARTITION_DAYS = 8

export async function loadDemoWithHistory(
  node: Node,
  deps: DemoDeps,
  wanted: HistoryOptions & { readonly sitePort: number },
): Promise<DemoState> {
  const { nowMs, seed, sitePort, traffic = 1 } = wanted
  const { database: db } = deps
  const startMs = Math.floor(nowMs / DAY_MS) * DAY_MS - HISTORY_DAYS * DAY_MS
  for (let ms = startMs; ms < nowMs; ms += PARTITION_DAYS * DAY_MS) {
    await ensureEventPartitions(db, ms)
  }
  const at = new Date(startMs)
  const offersOf = (merchant: DemoMerchant) => pastOffers(merchant, HISTORY_DAYS)
  const clock = { nowMs: startMs }
  const ids = makeIdSource({ nodeId: MAX_NODE_ID, now: () => clock.nowMs })
  const state = await loadDemo({ ...deps, ids }, sitePort, { at, offersOf })
  await dateNetwork(db, at)
  const random = seededRandom(seed + 1)
  const past = await PastNode.open(node, {
    ...{ clock, ids },
    drawResultNumber: () => Buffer.from(hexDigits(random, RESULT_NUMBER_DIGITS), 'hex'),
  })
  const { host, baseUrl, linkUrl } = node.config
  // It receives the webhooks.
  const site = await startDemoSite({ state, host, baseUrl, linkUrl })
  try {
    const parts = { deps, state, random: seededRandom(seed), nowMs, traffic }
    await new HistoryPlayer(past, parts).play()
  } finally {
    await site.close()
    await past.close()
  }
  await closeEventDays(db)
  return state
}
