/**
 * Attack: keyless auctions from one address, to switch off a rival's campaign (SECURITY.md).
 *
 * Campaigns of $5 to $500 a day, each with its own link, 300 page views and 60 clicks. Readers at
 * 203 other addresses each run an auction before the flood, during it and after it.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { micros } from '../src/platform/money/money.ts'
import { makePublisherWorld } from '../test/support/publisher-world.ts'
import { isReconciled } from './abuse-service.ts'
import { openDatabaseOf } from './database.ts'
import { type LoadRequest, runLoad } from './load.ts'
import { startService } from './service.ts'

const BUDGETS = [5, 30, 100, 500] // dollars a day
const BID = micros(600_000)
const VIEWS = 300
const CLICKS = 60
export const READERS = 203
const FLOOD = 5_710 // auctions for each campaign
/** Others keep at least this part of their auctions (docs/spec/budgets.md#bound-against-floods). */
const KEPT_MIN = 0.9
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/149.0 Safari/537.36'

interface Target {
  readonly dollars: number
  readonly auctionId: string
}

/** Prints what the attack achieves; resolves to whether the bound held. */
export async function floodAuctions(): Promise<boolean> {
  await using stack = new AsyncDisposableStack()
  const env = { RATE_LIMITS: 'auction=2000:10000', TRUSTED_PROXIES: '127.0.0.1' }
  const { base, dataDir } = await startService(stack, env)
  const targets = await makeTargets(dataDir)
  await sleep(4_000) // Campaigns reach the edge within 2 s, leases a second later.
  let isHeld = true
  for (const { dollars, auctionId } of targets) {
    await readPages(base, auctionId)
    const before = await winsOfReaders(base, auctionId, 0)
    const started = performance.now()
    const flood = runLoad({
      ...{ port: Number(new URL(base).port), connections: 32, seconds: 60, status: 200 },
      requests: Array.from({ length: FLOOD }, () => auctionFrom('203.0.113.66', auctionId)),
    })
    await sleep(200)
    const during = await winsOfReaders(base, auctionId, 1)
    await flood
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    const after = await winsOfReaders(base, auctionId, 2)
    isHeld &&= Math.min(before, during, after) >= KEPT_MIN * READERS
    console.log(
      `auction flood, $${dollars} a day: ${FLOOD} auctions in ${seconds} s from one address; of ` +
        `${READERS} auctions readers elsewhere won ${before} before, ${during} during, ${after} after`,
    )
  }
  return (await isReconciled(dataDir)) && isHeld
}

export async function makeTargets(dataDir: string): Promise<Target[]> {
  await using stack = new AsyncDisposableStack()
  const db = await openDatabaseOf(stack, dataDir)
  const targets: Target[] = []
  for (const dollars of BUDGETS) {
    const world = await makePublisherWorld(db, `flooded${dollars}`)
    await world.addCampaign({
      ...{ model: 'cpc', rate_ppm: null, bid_micros: BID },
      daily_budget_micros: micros(dollars * 1_000_000),
    })
    const page = `https://flooded${dollars}-shop.example/kettle`
    const { auctionId } = await world.addArticle('kettles', page)
    targets.push({ dollars, auctionId })
  }
  return targets
}

export function auctionFrom(address: string, auctionId: string): LoadRequest {
  const path = `/api/v1/auction/?a=${auctionId}&t=1&uuid=${randomUUID()}`
  return { method: 'GET', path, headers: { 'user-agent': BROWSER, 'x-forwarded-for': address } }
}

/** Page views and clicks of readers, each at a separate address. */
async function readPages(base: string, auctionId: string): Promise<void> {
  const ask = (reader: number, path: string) => {
    const address = `192.0.${2 + Math.floor(reader / 250)}.${1 + (reader % 250)}`
    const headers = { 'user-agent': BROWSER, 'x-forwarded-for': address }
    return fetch(base + path, { headers, redirect: 'manual' })
  }
  const views = Array.from({ length: VIEWS }, async (_, reader) => {
    const response = await ask(reader, auctionFrom('', auctionId).path)
    const { data } = (await response.json()) as Answer
    return new URL(data[0].auction_result.redirect_url)
  })
  const redirects = await Promise.all(views)
  await sleep(400) // No person clicks sooner.
  const clicks = redirects.slice(0, CLICKS).map(async ({ pathname, search }, reader) => {
    await (await ask(reader, pathname + search)).arrayBuffer()
  })
  await Promise.all(clicks)
}

interface Answer {
  readonly data: readonly [{ has_winner: boolean; auction_result: { redirect_url: string } }]
}

/** Runs an auction at each of 203 addresses, none of them twice; counts those that somebody won. */
export async function winsOfReaders(
  base: string,
  auctionId: string,
  turn: number,
): Promise<number> {
  let wins = 0
  for (let reader = 1; reader <= READERS; reader++) {
    const { path, headers } = auctionFrom(`198.51.${turn}.${reader}`, auctionId)
    const response = await fetch(base + path, { headers })
    const { data } = (await response.json()) as Answer
    if (data[0].has_winner) wins += 1
  }
  return wins
}
