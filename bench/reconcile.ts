/**
 * Measures how many events per second `souk reconcile` recomputes, on a log where one event in 50
 * is an order: views, clicks, orders of several sources, returns. Goal: 200,000.
 *
 *   node bench/reconcile.ts [--events 1000000]
 *
 * Uses an embedded PostgreSQL and the real fold, with synthetic traffic.
 */
import { parseArgs } from 'node:util'
import {
  EVENT_TYPE,
  type LogEvent,
  MODEL,
  type StoredEvent,
  viewLane,
} from '../src/events/event.ts'
import { keyOfUrl } from '../src/platform/net/url.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { DAY_MS } from '../src/platform/time/timestamp.ts'
import { reconcile } from '../src/reconcile/reconcile.ts'
import { openFoldedLog } from '../test/support/fold-log.ts'
import { MoneyEvents, orderLine, START_MS } from '../test/support/money-events.ts'
import { makePublisherWorld } from '../test/support/publisher-world.ts'
import { openBenchDatabase } from './database.ts'

const GOAL_PER_SECOND = 200_000
const DAYS = 7
const ARTICLES = 100
const BATCH = 2_000
/** Per block: four clicks, two orders, a fifth of a return. The rest are page views. */
const BLOCK = 5_000
const CLICKS = BLOCK * 0.04
const ORDERS = BLOCK * 0.02
const RETURNS = BLOCK * 0.002

const { values } = parseArgs({ options: { events: { type: 'string', default: '1000000' } } })
const EVENTS = Number(values.events)

await using stack = new AsyncDisposableStack()
const { database: db } = await openBenchDatabase(stack)
await db.run(sql`
  select create_event_partition((${new Date(START_MS)}::timestamptz)::date + n)
  from generate_series(0, ${DAYS}::int) as n`)

const world = await makePublisherWorld(db)
const campaignId = await world.addCampaign()
const articles = await Promise.all(
  Array.from({ length: ARTICLES }, (_, index) => world.addArticle(`Article ${index}`)),
)
const { pub_id: pubId } = world.publisher
const { merch_id: merchId } = world.merchant
const scope = { after: (work: () => Promise<void>) => stack.defer(work) }
const log = openFoldedLog(scope, db)
const events = makeEvents()

const appended = await timed(async () => {
  for (let at = 0; at < events.length; at += BATCH) await log.append(events.slice(at, at + BATCH))
})
const folded = await timed(() => log.fold())
await db.run(sql`vacuum analyze`)
let differences = 0
const took = await timed(async () => {
  const options = { from: null, to: null, onProgress: (line: string) => console.log(`  ${line}`) }
  const result = await reconcile(db, options)
  differences = result.differences.length
  for (const difference of result.differences.slice(0, 5)) console.log(difference)
})
const rate = events.length / took
const shown = (seconds: number) => Math.round(events.length / seconds).toLocaleString('en')
console.log(
  `${events.length.toLocaleString('en')} events, ${(ORDERS / BLOCK) * 100} % orders: appended ${shown(appended)}/s, ` +
    `folded ${shown(folded)}/s, reconciled ${shown(took)}/s (goal ` +
    `${GOAL_PER_SECOND.toLocaleString('en')}), ${differences} differences`,
)
if (differences > 0 || rate < GOAL_PER_SECOND) {
  console.log(differences > 0 ? 'DIFFERENCES' : 'BELOW GOAL')
  process.exitCode = 1
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1_000
}

/**
 * In order of time, in blocks: clicks, their orders, then page views. Sessions and visitors appear
 * once, so that everything counts.
 */
function makeEvents(): LogEvent[] {
  const made = new MoneyEvents()
  return Array.from({ length: EVENTS }, (_none, index) => {
    const atMs = START_MS + Math.floor((index / EVENTS) * DAYS * DAY_MS)
    const [block, place] = [Math.floor(index / BLOCK), index % BLOCK]
    return eventAt({ made, atMs, index, block, place })
  })
}

interface Place {
  readonly made: MoneyEvents
  readonly atMs: number
  readonly index: number
  readonly block: number
  readonly place: number // its index in the block
}

function eventAt(at: Place): StoredEvent {
  const { made, atMs, index, block, place } = at
  const order = place - CLICKS
  if (order < 0) return click(at)
  if (order < ORDERS) {
    const cents = 1_000 + (index % 90_000)
    const lines = [orderLine('A1', cents, 1), orderLine('B1', 333, 2)]
    const report = { value_micros: cents * 10_000, lines }
    return made.order(`o${block}-${order}`, atMs, { merchId, click: `${block} ${order}`, report })
  }
  const back = order - ORDERS
  if (back < RETURNS) {
    const goods = { product_id: 'B1', quantity: 1 }
    return { ...made.goodsBack(`o${block}-${back}`, atMs, goods), merchId }
  }
  return view(at)
}

function click({ made, atMs, index, block, place }: Place): StoredEvent {
  const isPaid = place % 2 === 0
  const price = isPaid ? 542_235 : 70_001
  return made.click(`${block} ${place}`, atMs, {
    ...{ pubId, merchId, campaignId, auctionId: articleOf(index).auctionId },
    ...{ model: isPaid ? MODEL.cpc : MODEL.cpa, termsAmount: price, sharePpm: 750_000 },
    reservedMicros: isPaid ? price : null,
    visitorKey: Buffer.from(`v${block} ${place}`.padEnd(16)),
  })
}

/** One page impression, six link impressions, three placements. */
function view({ made, atMs, index, block, place }: Place): StoredEvent {
  const of10 = place % 10
  const type = of10 === 0 ? EVENT_TYPE.pageImpression : EVENT_TYPE.linkImpression
  const { auctionId, url } = articleOf(index)
  return made.at(atMs, {
    ...{ type: of10 > 6 ? EVENT_TYPE.placement : type, lane: viewLane(pubId), pubId },
    ...{ auctionId, merchId, urlKey: of10 === 0 ? keyOfUrl(new URL(url)) : null },
    sessionKey: Buffer.from(`${block} ${place}`.padEnd(16)),
  })
}

function articleOf(index: number) {
  const article = articles[(index * 7) % ARTICLES]
  if (article === undefined) throw new Error('no such article')
  return article
}
