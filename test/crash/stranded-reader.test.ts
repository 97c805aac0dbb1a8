/** I5: no reader is stranded with the database down or silent; and nothing is lost (I2, I3). */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CONSENT } from '../../src/events/consent.ts'
import { NO_TERMS } from '../../src/events/pay-terms.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startApi } from '../support/api.ts'
import { follow, KETTLE, makeMarket, runAuction, SLUG, statsOf, until } from '../support/market.ts'
import { ownMs } from '../support/process-time.ts'
import { openProxy, type TcpProxy } from '../support/proxy.ts'

/** Readers wait 50 ms at most by design; the cost of an answer comes on top. */
const SOON_MS = 500

const logLines: string[] = []
let proxy: TcpProxy | null = null
const database = (mode: 'pass' | 'refuse' | 'hang') => proxy?.setMode(mode)
// Before the service's own hook, because it could not close over a silent connection.
after(() => database('pass'))
const api = await startApi(
  { after },
  {
    env: { LOG_LEVEL: 'warn' },
    logLines,
    reach: async (connection) => {
      const { host = '', port = 0 } = connection
      const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
      proxy = await openProxy(target, 'pass')
      return { ...connection, host: '127.0.0.1', port: proxy.port }
    },
  },
)
after(() => proxy?.close())
const market = await makeMarket(api)
await market.campaign(market.kettles, { bid_micros: micros(600_000) })

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = ownMs()
  const result = await work()
  return { result, ms: ownMs() - started }
}

for (const mode of ['refuse', 'hang'] as const) {
  const name = mode === 'refuse' ? 'gone' : 'silent'
  test(`with the database ${name}, cached links redirect at once and their clicks are counted later`, async () => {
    const held = await market.link(KETTLE, { article: mode })
    await runAuction(api, held) // Cached from here on.
    const unknown = '9007199254740993' // Possibly another node's.
    database(mode)

    const first = await timed(() => follow(api, `/${held}`))
    assert.equal(first.result.status, 302)
    assert.match(first.result.location, /^https:\/\/kettles\.example\/p\/1\?cid=/)
    assert.ok(first.ms < SOON_MS, `${first.ms} ms`)
    const events = await api.call('/api/v1/events/impressions/page_impression/', {
      headers: { 'user-agent': 'Mozilla/5.0 Chrome/149.0 Safari/537.36' },
      body: {
        organization_type: 'publisher',
        organization_id: market.account.pubId,
        user: {
          page_session_uuid: crypto.randomUUID(),
          source_url: `https://daily.example/${mode}`,
        },
        events: [{}],
      },
    })
    assert.equal(events.status, 201)
    // Once the node knows that storage is down, an uncached link is a page that retries.
    await until(
      () => !api.app.node.edge.isStorageAnswering() || api.app.node.appender.isLogUnreachable(),
    )
    const other = await timed(() => follow(api, `/${unknown}`))
    assert.equal(other.result.status, 503)
    assert.match(other.result.text, /tries\s+again by itself/)
    assert.ok(other.ms < SOON_MS, `${other.ms} ms`)

    database('pass')
    await until(async () => (await fetch(`${api.url}/readyz`)).ok)
    await until(() => api.app.node.appender.isSpoolEmpty())
    const row = (await statsOf(api, market)).find(({ article_name }) => article_name === mode)
    assert.deepEqual([row?.clicks, row?.impressions], [1, 1])
  })
}

test('with the database down, pages still start their tags', async (t) => {
  t.after(() => database('pass'))
  const held = await market.link(KETTLE)
  await runAuction(api, held)
  for (const mode of ['refuse', 'hang'] as const) {
    database(mode)
    const config = await api.call(`/api/v0/publishers/${SLUG.toUpperCase()}/amp_config/?page_tag=1`)
    assert.equal(config.status, 200, `${mode}: ${config.text}`)
    const { amp_config } = config.entry<{ amp_config: object }>()
    assert.deepEqual(amp_config, { linkmate_enabled: true, publisher_id: market.account.pubId })
    await runAuction(api, held)
    database('pass')
    await until(async () => (await fetch(`${api.url}/readyz`)).ok)
  }
})

test('a link that this node saw created redirects at once, before it was ever served', async () => {
  const own = await market.link(KETTLE)
  const bare = await market.link(null, { article: 'bare' })
  database('hang')
  await until(
    () => !api.app.node.edge.isStorageAnswering() || api.app.node.appender.isLogUnreachable(),
  )
  logLines.length = 0
  for (let click = 0; click < 20; click++) await follow(api, `/${own}`)
  const lines = logLines.filter((line) => line.includes('a click was not recorded'))
  const clicks = [
    await timed(() => follow(api, `/${own}`)),
    await timed(() => follow(api, `/${bare}`)),
  ]
  database('pass')
  await until(async () => (await fetch(`${api.url}/readyz`)).ok)
  const answers = clicks.map(({ result }) => [result.status, result.location])
  assert.deepEqual(answers, [
    [302, KETTLE],
    [302, 'https://daily.example/bare'],
  ])
  for (const { ms } of clicks) assert.ok(ms < SOON_MS, `${ms} ms`)
  assert.equal(lines.length, 1, 'an outage is no news at each click')
})

test('with the database busy, the first click on a link after a start is still recorded', async () => {
  const isRecorded = async () => {
    const auctionId = await market.link(KETTLE)
    api.app.node.destinations.note(auctionId, KETTLE) // As read from the journal at a start.
    const holder = await api.db.reserve()
    await holder.run(sql`begin`)
    await holder.run(sql`lock table smart_link in access exclusive mode`)
    const click = follow(api, `/${auctionId}`)
    await sleep(60)
    await holder.run(sql`commit`)
    holder.release()
    return (await click).location.includes('?cid=')
  }
  // A busy machine may sometimes take longer still.
  let attempts = 0
  while (!(await isRecorded())) assert.ok(++attempts < 20, 'never')
})

test('while reports and orders queue, a first click is recorded at once', async () => {
  const auctionId = await market.link(KETTLE)
  const { pool } = api.db
  const asking = Array.from({ length: 2 * pool.options.max }, () => api.db.reserve())
  await until(() => pool.waitingCount > 0)
  const { location } = await follow(api, `/${auctionId}`)
  const ready = await fetch(`${api.url}/readyz`)
  await Promise.allSettled(asking.map(async (reserved) => (await reserved).release()))
  assert.match(location, /\?cid=/)
  assert.equal(ready.status, 200, 'no load balancer takes the node from its readers')
})

test('an old keyless seal does not redirect off the network, also with the link unreachable', async () => {
  const url = 'https://elsewhere.example/1'
  const { pubId } = market.account
  const { node } = api.app
  // Sealed a day ago; this node has never cached the link.
  const binding = { auctionId: node.ids.next(), uidService: '0', url, uuid: crypto.randomUUID() }
  const token = node.sealer.seal(
    {
      resultNumber: randomBytes(16),
      issuedAtMs: Date.now() - 25 * 3_600_000,
      pubId,
      merchId: 0,
      campaignId: 0,
      offerId: '0',
      terms: NO_TERMS,
      sharePpm: 0,
      isExclusive: false,
      isKeylessForeign: true,
      isAtClick: false,
      consent: CONSENT.full,
      runnerUpMicros: micros(0),
      snapshotVersion: 1,
    },
    binding,
  )
  const query = new URLSearchParams({ a: binding.auctionId, uid_service: '0', ar: token, url })
  const address = `/api/v1/redirect/?${query}&uuid=${binding.uuid}`
  database('hang')
  const stranger = await follow(api, address)
  const reader = await follow(api, address, { referer: 'https://daily.example/a' })
  database('pass')
  assert.deepEqual([stranger.status, stranger.location], [200, ''])
  assert.match(stranger.text, /elsewhere\.example/)
  assert.deepEqual([reader.status, reader.location], [302, url])
})

test('with the database down a node is alive, reports not ready, and logs the reason once', async (t) => {
  t.after(() => database('pass'))
  const answer = async (path: string) => {
    const response = await fetch(`${api.url}${path}`)
    return [response.status, await response.json()]
  }
  for (const mode of ['refuse', 'hang'] as const) {
    database(mode)
    logLines.length = 0
    assert.deepEqual(await answer('/healthz'), [200, { ok: true }])
    for (let asked = 0; asked < 3; asked++) {
      assert.deepEqual(await answer('/readyz'), [503, { ok: false }])
    }
    const lines = logLines.filter((line) => line.includes('not ready'))
    assert.ok(lines.length <= 2, `an outage is no news at each question: ${lines}`)
    database('pass')
    await until(async () => (await fetch(`${api.url}/readyz`)).ok)
  }
})
