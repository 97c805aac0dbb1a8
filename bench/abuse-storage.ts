/** Attack: one address makes the database grow, by every call that needs no key. */
import { randomUUID } from 'node:crypto'
import { sql } from '../src/platform/postgres/sql.ts'
import { attack, BROWSER, type Target } from './abuse-service.ts'
import { type LoadRequest, runLoad } from './load.ts'

const MIB = 1_048_576
const CONNECTIONS = 16
const EVENTS = '/api/v1/events/impressions'
/** Of every attack together: the quotas of one address and hour, with the figures they lead to. */
const GROWTH_MAX_MIB = 64

export const growDatabase = (): Promise<boolean> =>
  attack('one address that makes the database grow', async (target) => {
    const before = await sizeOf(target)
    const { pubId } = target
    const session = randomUUID()
    await flood(target, 'repeats of one page impression, 100 a call', 2_255, () =>
      views(pubId, 'page_impression', { session, events: Array(100).fill({}) }),
    )
    await flood(target, 'page impressions of new sessions', 20_000, () =>
      views(pubId, 'page_impression', { session: randomUUID(), events: [{}] }),
    )
    await flood(target, 'link impressions, 100 a call', 500, () =>
      views(pubId, 'service_link_impression', {
        session: randomUUID(),
        events: Array(100).fill({ auction_id: target.links[0] }),
      }),
    )
    await flood(target, 'clicks on one link', 20_000, () => get(`/${target.links[0]}`))
    await flood(target, 'auctions', 20_000, (at) => {
      const link = target.links[at % target.links.length]
      return get(`/api/v1/auction/?a=${link}&uuid=${randomUUID()}`)
    })
    const orders = JSON.stringify({ orders: [], more: 'x'.repeat(MIB - 1_024) })
    await flood(target, 'unsigned orders of 1 MiB that race', 256, () =>
      post('/api/v1/merchants/1/orders/', orders),
    )
    const grown = ((await sizeOf(target)) - before) / MIB
    console.log(`  all together: ${grown.toFixed(1)} MiB`)
    return grown < GROWTH_MAX_MIB
  })

async function flood(
  target: Target,
  name: string,
  calls: number,
  make: (at: number) => LoadRequest,
): Promise<void> {
  const before = await sizeOf(target)
  const { answers, rate } = await runLoad({
    ...{ port: target.port, connections: CONNECTIONS, seconds: 60, status: null },
    requests: Array.from({ length: calls }, (_, at) => make(at)),
  })
  const grown = ((await sizeOf(target)) - before) / MIB
  console.log(
    `  ${name}: ${answers} calls in ${(answers / rate).toFixed(1)} s, ${grown.toFixed(1)} MiB`,
  )
}

async function sizeOf({ db }: Target): Promise<number> {
  const row = await db.row<{ bytes: string }>(sql`
    select pg_database_size(current_database()) as bytes`)
  return Number(row?.bytes)
}

const HEADERS = { 'user-agent': BROWSER, 'x-forwarded-for': '203.0.113.66' }

function get(path: string): LoadRequest {
  return { method: 'GET', path, headers: HEADERS }
}

function post(path: string, body: string): LoadRequest {
  return { method: 'POST', path, body, headers: { ...HEADERS, 'content-type': 'text/plain' } }
}

function views(
  pubId: number,
  type: string,
  { session, events }: { session: string; events: readonly object[] },
): LoadRequest {
  const user = { page_session_uuid: session, source_url: 'https://bench.example/a' }
  const body = { organization_type: 'publisher', organization_id: pubId, user, events }
  return post(`${EVENTS}/${type}/`, JSON.stringify(body))
}
