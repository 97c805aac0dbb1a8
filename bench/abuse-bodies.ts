/**
 * Attack: 32 connections post bodies of up to 80,000 keys, each call from another address, while
 * readers follow their links. One process serves both.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { HostileOrder } from './abuse-bodies-thread.ts'
import { addressOf, attack, BROWSER, isQuiet, P95_MAX_MS, type Target } from './abuse-service.ts'
import { type LoadResult, runOpenLoad } from './load.ts'

const CONNECTIONS = 32
const READERS_PER_SECOND = 200
const SECONDS = 5
const MIB = 1_048_576

export const postHostileBodies = (): Promise<boolean> =>
  attack(`${CONNECTIONS} connections that post bodies of many keys`, async (target) => {
    const alone = await readersOf(target)
    console.log(`  readers alone: ${shown(alone)}`)
    const isJudged = isQuiet(alone)
    let isHeld = true
    for (const [route, path, bytes] of [
      ['events', '/api/v1/events/impressions/page_impression/', MIB],
      ['events', '/api/v1/events/impressions/page_impression/', MIB / 4],
      ['checkout', '/api/v1/events/conversions/checkout/', MIB],
      ['LinkMate', `/api/v1/publishers/${target.pubId}/linkmate/smart_links/`, MIB],
      ['unsigned orders', '/api/v1/merchants/1/orders/', MIB],
    ] as const) {
      const hostile = sendHostile({ port: target.port, path, bytes, addresses: 1_000_000 })
      const readers = await readersOf(target)
      isHeld &&= !isJudged || readers.p95 < P95_MAX_MS
      const answers = Object.entries(await hostile).map(([status, calls]) => `${calls} × ${status}`)
      console.log(`  ${route}, ${bytes / 1024} KiB (${answers.join(', ')}): ${shown(readers)}`)
    }
    return isHeld
  })

async function sendHostile(
  order: Pick<HostileOrder, 'port' | 'path' | 'bytes' | 'addresses'>,
): Promise<Record<string, number>> {
  const workerData: HostileOrder = { ...order, connections: CONNECTIONS, seconds: SECONDS + 1 }
  const thread = new Worker(new URL('./abuse-bodies-thread.ts', import.meta.url), { workerData })
  const [counts] = await once(thread, 'message')
  return counts as Record<string, number>
}

function readersOf({ port, links }: Target): Promise<LoadResult> {
  const count = READERS_PER_SECOND * SECONDS
  return runOpenLoad({
    ...{ port, connections: 64, seconds: SECONDS, status: 302, rate: READERS_PER_SECOND },
    requests: Array.from({ length: 64 + count }, (_, at) => ({
      method: 'GET' as const,
      path: `/${links[at % links.length]}`,
      headers: { 'user-agent': BROWSER, 'x-forwarded-for': addressOf(0x7000_0000 + at) },
    })),
  })
}

const shown = ({ p50, p95, p99 }: LoadResult) =>
  `a redirect takes p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms`
