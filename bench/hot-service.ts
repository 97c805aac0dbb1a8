/**
 * The service, its hot requests and a bare server, shared by bench/http.ts and bench/latency.ts.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabaseOf } from './database.ts'
import { deferAlways } from './interrupted.ts'
import type { LoadRequest } from './load.ts'
import { type BenchNetwork, makeBenchNetwork } from './network.ts'
import { startProcess, startService, stopStarted } from './service.ts'

export const LINKS = 20_000
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/149.0 Safari/537.36'
const HEADERS = { 'user-agent': BROWSER }
/** The number of concurrent requests for redirect URLs. */
const AT_ONCE = 64

export interface HotScenario {
  readonly name: 'auction' | 'redirect' | 'event'
  /** A response of the service, which the bare server returns as well. */
  readonly sample: Answer
  /**
   * Returns this many different requests. Each redirect uses its own link, because a link pays
   * once.
   */
  readonly requests: (count: number) => Promise<LoadRequest[]>
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HotService {
  readonly scenarios: readonly HotScenario[]
  readonly port: string
  readonly pid: number
  readonly dataDir: string
}

/** Runs a service for the duration of the work. */
export async function withHotService(work: (service: HotService) => Promise<void>): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const { base, pid, dataDir } = await startService(stack)
  process.stderr.write(`Making ${LINKS.toLocaleString('en')} links …\n`)
  const network = await makeNetwork(dataDir)
  // The redirect server learns of campaigns within 2 s, and of leases a second later.
  await sleep(2_000)
  const scenarios = await scenariosOf(base, network)
  await work({ scenarios, port: new URL(base).port, pid, dataDir })
}

async function makeNetwork(dataDir: string): Promise<BenchNetwork> {
  await using stack = new AsyncDisposableStack()
  return await makeBenchNetwork(await openDatabaseOf(stack, dataDir), LINKS)
}

/**
 * Starts a bare node:http server that returns the same response to everything. Returns its port.
 */
export async function startBaseline(stack: AsyncDisposableStack, answer: Answer): Promise<string> {
  const starting = startProcess(['bench/http-baseline.ts'], { BASELINE: JSON.stringify(answer) })
  deferAlways(stack, () => stopStarted(starting))
  return (await starting).ready
}

async function scenariosOf(base: string, { links, pubId }: BenchNetwork): Promise<HotScenario[]> {
  const many = <T>(count: number, make: (link: string) => T): T[] =>
    Array.from({ length: count }, (_, at) => make(links[at % links.length] ?? ''))
  const redirects = async (count: number) => {
    const paths = await redirectsOf(base, many(Math.min(count, links.length), auctionOf))
    await sleep(400) // Clicks within 300 ms count as automatic.
    return paths.map((path) => ({ method: 'GET' as const, path, headers: HEADERS }))
  }
  const requests: Record<HotScenario['name'], HotScenario['requests']> = {
    auction: async (count) => many(count, auctionOf),
    redirect: redirects,
    event: async (count) => many(count, () => pageImpression(pubId)),
  }
  await redirectsOf(base, links.map(auctionOf)) // The node caches each requested link.
  const scenarios: HotScenario[] = []
  for (const name of ['auction', 'redirect', 'event'] as const) {
    const sample = await answerTo(base, (await requests[name](1))[0])
    scenarios.push({ name, sample, requests: requests[name] })
  }
  return scenarios
}

function auctionOf(link: string): LoadRequest {
  const path = `/api/v1/auction/?a=${link}&t=1&uuid=${randomUUID()}`
  return { method: 'GET', path, headers: HEADERS }
}

function pageImpression(pubId: number): LoadRequest {
  return {
    method: 'POST',
    path: '/api/v1/events/impressions/page_impression/',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({
      organization_type: 'publisher',
      organization_id: pubId,
      user: { page_session_uuid: randomUUID(), source_url: 'https://bench.example/a' },
      events: [{}],
    }),
  }
}

async function answerTo(base: string, request: LoadRequest | undefined): Promise<Answer> {
  if (request === undefined) throw new Error('nothing to ask')
  const { path, ...init } = request
  const response = await fetch(base + path, { ...init, redirect: 'manual' })
  const headers = Object.fromEntries(
    [...response.headers].filter(([key]) => !/^(date|connection|keep-alive)$/.test(key)),
  )
  return { status: response.status, headers, body: await response.text() }
}

/** The redirect paths in the responses of these auctions. */
async function redirectsOf(base: string, auctions: readonly LoadRequest[]): Promise<string[]> {
  const paths: string[] = []
  for (let at = 0; at < auctions.length; at += AT_ONCE) {
    const batch = auctions.slice(at, at + AT_ONCE).map(async ({ path, headers }) => {
      const response = await fetch(base + path, { headers })
      const { data } = (await response.json()) as {
        data: [{ auction_result: { redirect_url: string } }]
      }
      const { pathname, search } = new URL(data[0].auction_result.redirect_url)
      return pathname + search
    })
    paths.push(...(await Promise.all(batch)))
  }
  return paths
}
