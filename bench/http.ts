/**
 * The hot endpoints over HTTP, as a ratio to a bare node:http server that answers the same bytes
 * on the same Node: interleaved rounds in one run, medians, 64 connections, 20,000 distinct links,
 * receipts, logging and fsync on, rate limits off.
 *
 *   node bench/http.ts [--seconds 4] [--only redirect]
 *
 * Goals: auction 0.5, redirect with its durable click 0.35, one-event POST made durable 0.3.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../test/free-port.ts'
import { type CpuTime, cpuTime } from './cpu-time.ts'
import { type LoadRequest, type LoadResult, runLoad } from './load.ts'
import { makeBenchNetwork } from './network.ts'
import { startProcess, stopProcess } from './service.ts'

const CONNECTIONS = 64
const LINKS = 20_000
const ROUNDS = 5
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/149.0 Safari/537.36'
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '4' }, only: { type: 'string', default: '' } },
})
const SECONDS = Number(values.seconds)
/** More than a round answers: no request is sent twice, so no auction is answered from memory. */
const REQUESTS = SECONDS * 40_000

interface Scenario {
  readonly name: string
  readonly goal: number
  readonly requests: () => Promise<LoadRequest[]>
}

const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
const service = await startProcess(
  ['bin/souk.mjs', 'serve'],
  { SOUK_DATA: dataDir, PORT: String(await freePort()), RATE_LIMITS: '0', LOG_LEVEL: 'info' },
  join(dataDir, 'log'),
)
const base = service.ready.replace('localhost', '127.0.0.1')
try {
  process.stderr.write(`Making ${LINKS.toLocaleString('en')} links …\n`)
  const { links, pubId } = await makeBenchNetwork(dataDir, LINKS)
  await sleep(2_000) // Campaigns reach the edge within 2 s, leases a second later.
  const headers = { 'user-agent': BROWSER }
  const auctionOf = (link: string): LoadRequest => ({
    method: 'GET',
    path: `/api/v1/auction/?a=${link}&t=1&uuid=${randomUUID()}`,
    headers,
  })
  const scenarios: Scenario[] = [
    { name: 'auction', goal: 0.5, requests: async () => many(links).map(auctionOf) },
    {
      name: 'redirect',
      goal: 0.35,
      requests: async () => {
        const redirects = await redirectsOf(links.map(auctionOf))
        await sleep(400) // No person clicks sooner.
        return redirects.map((path) => ({ method: 'GET' as const, path, headers }))
      },
    },
    {
      name: 'event',
      goal: 0.3,
      requests: async () =>
        many(links).map(() => ({
          method: 'POST' as const,
          path: '/api/v1/events/impressions/page_impression/',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({
            organization_type: 'publisher',
            organization_id: pubId,
            user: { page_session_uuid: randomUUID(), source_url: 'https://bench.example/a' },
            events: [{}],
          }),
        })),
    },
  ]
  await redirectsOf(links.map(auctionOf)) // Links that the node holds: each was asked for once.
  console.log(`64 connections, ${LINKS} links, ${ROUNDS} rounds of ${SECONDS} s, medians`)
  for (const scenario of scenarios) {
    if (scenario.name.includes(values.only)) await compare(scenario)
  }
} finally {
  await stopProcess(service)
  await rm(dataDir, { recursive: true, force: true })
}

async function compare({ name, goal, requests }: Scenario): Promise<void> {
  const [first] = await requests()
  if (first === undefined) throw new Error('nothing to ask')
  const sample = await fetch(base + first.path, {
    method: first.method,
    headers: first.headers,
    redirect: 'manual',
    ...(first.body === undefined ? {} : { body: first.body }),
  })
  const answer = {
    status: sample.status,
    headers: Object.fromEntries(
      [...sample.headers].filter(([key]) => !/^(date|connection|keep-alive)$/.test(key)),
    ),
    body: await sample.text(),
  }
  const baseline = await startProcess(['bench/http-baseline.ts'], {
    BASELINE: JSON.stringify(answer),
  })
  const ours: LoadResult[] = []
  const bare: LoadResult[] = []
  const cpu: string[] = []
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const asked = await requests()
      bare.push(await load(baseline.ready, asked, answer.status))
      const before = serviceCpu()
      const result = await load(new URL(base).port, asked, answer.status)
      cpu.push(cpuPerAnswer(before, result))
      ours.push(result)
    }
  } finally {
    await stopProcess(baseline)
  }
  const [mine, theirs] = [median(ours), median(bare)]
  const ratio = mine.rate / theirs.rate
  console.log(
    `${name.padEnd(9)} ratio ${ratio.toFixed(2)} (goal ${goal})${ratio < goal ? '  BELOW GOAL' : ''}\n` +
      `          ours ${show(mine)}\n          bare ${show(theirs)}\n` +
      `          processor time of an answer, each round: ${cpu.join(' · ')}`,
  )
  if (ratio < goal) process.exitCode = 1
}

/** As many as a round may ask for, all links in turn. */
function many(links: readonly string[]): string[] {
  return Array.from({ length: REQUESTS }, (_, at) => links[at % links.length] ?? '')
}

function serviceCpu(): CpuTime | null {
  return cpuTime({ pid: service.child.pid ?? 0, dataDir })
}

function cpuPerAnswer(before: CpuTime | null, { answers }: LoadResult): string {
  const after = serviceCpu()
  if (before === null || after === null) return 'unknown'
  const micros = (seconds: number) => `${((seconds / answers) * 1e6).toFixed(0)} µs`
  return `${micros(after.node - before.node)} + ${micros(after.postgres - before.postgres)} PostgreSQL`
}

function load(port: string, requests: readonly LoadRequest[], status: number): Promise<LoadResult> {
  return runLoad({
    port: Number(port),
    connections: CONNECTIONS,
    seconds: SECONDS,
    status,
    requests,
  })
}

/** The paths of the redirects that these auctions give. */
async function redirectsOf(auctions: readonly LoadRequest[]): Promise<string[]> {
  const paths: string[] = []
  for (let at = 0; at < auctions.length; at += CONNECTIONS) {
    const batch = auctions.slice(at, at + CONNECTIONS).map(async ({ path, headers }) => {
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

function median(results: readonly LoadResult[]): LoadResult {
  const sorted = [...results].sort((a, b) => a.rate - b.rate)
  return sorted[sorted.length >> 1] as LoadResult
}

function show({ rate, p50, p99, p999 }: LoadResult): string {
  return `${Math.round(rate).toLocaleString('en').padStart(7)}/s  p50 ${p50} ms  p99 ${p99} ms  p99.9 ${p999} ms`
}
