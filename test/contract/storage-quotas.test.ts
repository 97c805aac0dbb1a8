/** Decisions, Rate limits: what an anonymous client can make us store (docs/spec/limits.md). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type Api, startApi } from '../support/api.ts'

const PAGE = '/api/v1/events/impressions/page_impression/'
const LINK = '/api/v1/events/impressions/service_link_impression/'
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/149.0 Safari/537.36'
const MIB = 1_048_576

/** A service without rate limits on events, so that the quotas alone are met. */
async function startOpen(t: { after(fn: () => Promise<void>): void }) {
  const env = { RATE_LIMITS: 'events=0,linkmate=0', TRUSTED_PROXIES: '127.0.0.0/8' }
  const api = await startApi(t, { env })
  const { pubId, key } = await api.account({ is_partner: true })
  const send = (
    path: string,
    { events, session = randomUUID(), address = '198.51.100.1' }: Sent,
  ): Promise<number> =>
    api
      .call(path, {
        headers: { 'x-forwarded-for': address, 'user-agent': BROWSER },
        body: {
          organization_type: 'publisher',
          organization_id: pubId,
          user: { page_session_uuid: session, source_url: 'https://pub.example/a' },
          events,
        },
      })
      .then(({ status }) => status)
  return { api, pubId, key, send }
}

interface Sent {
  readonly events: readonly object[]
  readonly session?: string
  readonly address?: string
}

async function count(api: Api, table: 'event' | 'smart_link' | 'receipt'): Promise<number> {
  await api.app.untilFolded()
  const { rows } = await api.db.pool.query(`select count(*)::int as n from ${table}`)
  return rows[0].n
}

test('a page session’s impression is one row, repeated in a call, in a row or all at once', async (t) => {
  const { api, send } = await startOpen(t)
  const session = randomUUID()
  const calls = Array.from({ length: 20 }, () =>
    send(PAGE, { events: [{}, {}, {}], session: session.toUpperCase() }),
  )
  assert.deepEqual(new Set(await Promise.all(calls)), new Set([201]))
  assert.equal(await send(PAGE, { events: [{}], session }), 201)
  assert.equal(await count(api, 'event'), 1)
  assert.equal(await send(PAGE, { events: [{}] }), 201, 'another session')
  assert.equal(await count(api, 'event'), 2)
})

test('one address stores 4 MiB of views an hour; the rest is counted and others go on', async (t) => {
  const { api, pubId, send } = await startOpen(t)
  const sizeOf = async () => {
    const { rows } = await api.db.pool.query('select pg_database_size(current_database()) as n')
    return Number(rows[0].n)
  }
  const before = await sizeOf()
  const events = Array.from({ length: 100 }, () => ({ auction_id: '9007199254740993' }))
  const statuses: number[] = []
  while (statuses.at(-1) !== 429) statuses.push(await send(LINK, { events }))
  assert.ok(statuses.length > 50, `${statuses.length} calls of 100 were taken`)
  await api.app.untilFolded()
  const grown = (await sizeOf()) - before
  assert.ok(grown < 8 * MIB, `the database grew by ${grown} bytes`)
  assert.equal(await send(LINK, { events, address: '198.51.100.2' }), 201)

  await api.app.node.quotas.exchange()
  const { rows } = await api.db.pool.query('select * from stored_bytes where left_out > 0')
  assert.deepEqual(
    rows.map(({ kind, organization_id, left_out }) => [kind, organization_id, left_out]),
    [['views', pubId, '100']],
  )
  const metrics = await api.call('/metrics')
  assert.match(metrics.text, /souk_left_out_rows_total\{kind="views"\} 100/)
})

test('one address stores 5,000 clicks an hour; beyond them readers are still redirected', async (t) => {
  const { api, key } = await startOpen(t)
  const article = { article_name: 'A', article_url: 'https://pub.example/a' }
  const url = 'https://shop.example/p'
  const made = await api.call('/api/v1/smart_links/', { key, body: { ...article, url } })
  const { auction_id } = made.entry<{ auction_id: string }>()
  const click = async (address: string) => {
    const headers = { 'x-forwarded-for': address, 'user-agent': BROWSER }
    const response = await fetch(`${api.url}/${auction_id}`, { headers, redirect: 'manual' })
    assert.deepEqual([response.status, response.headers.get('location')], [302, url])
  }
  for (let sent = 0; sent < 5_100; sent += 100) {
    await Promise.all(Array.from({ length: 100 }, () => click('198.51.100.1')))
  }
  assert.equal(await count(api, 'event'), 5_000)
  await click('198.51.100.2')
  assert.equal(await count(api, 'event'), 5_001)
})

test('links of calls without a key are bounded by bytes of an address, with a key they are not', async (t) => {
  const { api, pubId, key } = await startOpen(t)
  let made = 0
  const ask = async (holder: { key?: string }, tail: string) => {
    made += 1
    const links = Array.from({ length: 400 }, (_, at) => ({
      raw_url: `https://shop.example/${made}/${at}/${tail}`,
    }))
    const body = { article: { name: 'A', url: `https://pub.example/${made}` }, links }
    const path = `/api/v1/publishers/${pubId}/linkmate/smart_links/`
    const answer = await api.call(path, { ...holder, body })
    return answer.entry<{ smart_links: object[] }>().smart_links.length
  }
  const long = 'x'.repeat(1_900)
  const counts = [
    await ask({}, long),
    await ask({}, long),
    await ask({}, long),
    await ask({}, long),
  ]
  const stored = counts.reduce((sum, links) => sum + links, 0)
  assert.ok(stored < (4 * MIB) / 2_500 && stored > 1_200, `${counts}`)
  assert.equal(await ask({ key }, long), 400)
})

test('without rate limits there are no quotas either: for load tests', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMITS: '0' } })
  const wanted = { address: '198.51.100.1', organizationId: 1, rows: 1, bytes: 1_000 * MIB }
  assert.equal(api.app.node.quotas.take('views', wanted), true)
})
