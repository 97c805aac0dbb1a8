/**
 * Measures 90 days of statistics over HTTP for a publisher with ten million events: the latency for
 * each of ten callers that ask repeatedly. Goal: 95 of 100 within 300 ms.
 *
 *   node bench/statistics.ts [--requests 200]
 *
 * Synthetic: the generator provides articles, links and their shares. The daily rows, which are all
 * the response reads, are written directly into the tables. Measured in the default order (by
 * clicks), and then in every other order for information.
 */
import { Agent, get } from 'node:http'
import { parseArgs } from 'node:util'
import { ORDER_COLUMNS } from '../src/stats/schema.ts'
import { makeStatistics } from './daily-rows.ts'
import { hasTrafficKit } from './make-traffic.ts'
import { startService } from './service.ts'

const EVENTS = 10_000_000
const DAYS = 90
const IN_FLIGHT = 10
const GOAL_P95_MS = 300
/** Warm-up, because a server that runs for days has compiled its code. */
const WARM_UP = 200

const { values } = parseArgs({ options: { requests: { type: 'string', default: '200' } } })

if (!hasTrafficKit()) process.exit()

await using stack = new AsyncDisposableStack()
const { base, dataDir } = await startService(stack)
const made = await makeStatistics(dataDir, { events: EVENTS, days: DAYS })
const query = `date_from=${made.dayFrom}&date_to=${made.dayTo}`
const path = `${base}/api/v1/publishers/${made.pubId}/stats_by_article_merchant_daily/?${query}`
const ask = caller(made.key)
console.log(
  `${made.events.toLocaleString('en')} events in ${made.rows.toLocaleString('en')} daily rows, ` +
    `${DAYS} days, ${IN_FLIGHT} in flight`,
)
await askMany(ask, () => path, WARM_UP)
const byClicks = await askMany(ask, () => path, Number(values.requests))
const p95 = report('by clicks', byClicks)
report('by others', await askMany(ask, (index) => `${path}&${otherOrder(index)}`, 100))
if (p95 >= GOAL_P95_MS) {
  console.log(`p95 ABOVE GOAL of ${GOAL_P95_MS} ms`)
  process.exitCode = 1
}

type Ask = (url: string) => Promise<number>

/** Requests one URL and returns the response's bytes. */
function caller(key: string): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
  const headers = { authorization: `SERVICE-API-KEY ${key}` }
  return (url) =>
    new Promise((resolve, reject) => {
      const request = get(url, { agent, headers }, (response) => {
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        response.on('end', () => {
          if (response.statusCode === 200) resolve(bytes)
          else reject(new Error(`answered ${response.statusCode}`))
        })
      })
      request.on('error', reject)
    })
}

interface Run {
  readonly times: readonly number[] // milliseconds, ascending
  readonly bytes: number
  readonly seconds: number
}

async function askMany(
  ask: Ask,
  address: (index: number) => string,
  requests: number,
): Promise<Run> {
  const times: number[] = []
  let [next, bytes] = [-IN_FLIGHT, 0]
  let started = performance.now()
  const one = async () => {
    while (next < requests) {
      const index = next++
      const sentAt = performance.now()
      const answered = await ask(address(Math.abs(index)))
      if (index < 0) {
        started = performance.now() // The first request of each caller is a warm-up.
        continue
      }
      bytes += answered
      times.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, one))
  const seconds = (performance.now() - started) / 1_000
  return { times: times.toSorted((first, second) => first - second), bytes, seconds }
}

function report(what: string, { times, bytes, seconds }: Run): number {
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0)
  console.log(
    `${what}: p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  p99 ${at(0.99)} ms  ` +
      `${(times.length / seconds).toFixed(1)}/s, ${(bytes / times.length / 1e6).toFixed(1)} MB each`,
  )
  return at(0.95)
}

/** The other columns in turn, descending and ascending. */
function otherOrder(index: number): string {
  const others = ORDER_COLUMNS.filter((column) => column !== 'clicks')
  const sign = Math.floor(index / others.length) % 2 === 0 ? '-' : '%2B'
  return `order_by=${sign}${others[index % others.length]}`
}
