/** Each limit, at its value and one above. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { readConfig } from '../../src/node/config.ts'
import { startApi } from '../support/api.ts'

const api = await startApi({ after })
const ann = await api.account({ is_partner: true })
const slug = ann.publishers[0]?.slug ?? ''
const MATCH = '/api/v1/product_match/clickmate/exclusive_links/'
const BASE = 'https://x.example/'
const letters = (count: number) => 'x'.repeat(count)
const url = (length: number) => BASE + letters(length - BASE.length)
const article = { article_url: url(50), article_name: 'A' }

async function match(query: Record<string, string>) {
  const answer = await api.call(
    `${MATCH}?${new URLSearchParams({ publisher_slug: slug, ...query })}`,
  )
  return answer.status === 200 ? 'answered' : answer.failure().fields.join()
}

test('product matching accepts each length at its limit and refuses one above', async () => {
  const unknown = await api.call(`${MATCH}?publisher_slug=${letters(64)}&gtin=1`)
  assert.equal(unknown.status, 404, '64 characters are a slug, if nobody’s')
  assert.equal(await match({ publisher_slug: letters(65), gtin: '1' }), 'publisher_slug')
  assert.equal(await match({ gtin: letters(50) }), 'answered')
  assert.equal(await match({ gtin: letters(51) }), 'gtin')
  assert.equal(await match({ sku: letters(50) }), 'answered')
  assert.equal(await match({ sku: letters(51) }), 'sku')
  assert.equal(await match({ ...article, sku: letters(255) }), 'answered')
  assert.equal(await match({ ...article, sku: letters(256) }), 'sku')
  assert.equal(await match({ product_url: url(2048) }), 'answered')
  assert.equal(await match({ product_url: url(2049) }), 'product_url')
  assert.equal(await match({ gtin: '1', article_url: url(2048) }), 'answered')
  assert.equal(await match({ gtin: '1', article_url: url(2049) }), 'article_url')
  assert.equal(await match({ gtin: '1', article_name: letters(100) }), 'answered')
  assert.equal(await match({ gtin: '1', article_name: letters(101) }), 'article_name')
})

test('a gtin has at most 14 characters in variant B, at most 50 in variant A', async () => {
  const bob = await api.account({})
  const publisher_slug = bob.publishers[0]?.slug ?? ''
  const status = async (gtin: string) => {
    const query = new URLSearchParams({ publisher_slug, gtin, ...article })
    return (await api.call(`${MATCH}?${query}`)).status
  }
  assert.equal(await status(letters(14)), 200)
  assert.equal(await status(letters(15)), 403, 'variant A, which is for members')
  assert.equal(await status(letters(51)), 400)
})

test('lengths are counted in characters, not in bytes', async () => {
  assert.equal(await match({ gtin: '1', article_name: 'ü'.repeat(100) }), 'answered')
  assert.equal(await match({ gtin: '1', article_name: '日'.repeat(101) }), 'article_name')
})

test('an events call has 1 to 100 events', async () => {
  const send = (events: number) =>
    api.call('/api/v1/events/impressions/page_impression/', {
      body: {
        organization_type: 'publisher',
        organization_id: ann.pubId,
        user: { page_session_uuid: randomUUID(), source_url: BASE },
        events: Array.from({ length: events }, () => ({})),
      },
    })
  assert.equal((await send(1)).status, 201)
  assert.equal((await send(100)).status, 201)
  assert.deepEqual((await send(0)).failure().fields, ['events'])
  assert.deepEqual((await send(101)).failure().fields, ['events'])
})

test('a body over the limit gets its 413 at once, and also if it is sent to its end', async () => {
  const [links, authorization] = ['/api/v1/smart_links/', `SERVICE-API-KEY ${ann.key}`]
  const linkmate = `/api/v1/publishers/${ann.pubId}/linkmate/smart_links/`
  const body = Buffer.alloc(32 * 1_048_576, 'x') // More than the system buffers.
  const whole = { authorization, 'content-length': String(body.length) }
  const inPieces = { authorization, 'transfer-encoding': 'chunked', connection: 'close' }
  const size = Buffer.from(`${body.length.toString(16)}\r\n`)
  const pieces = Buffer.concat([size, body, Buffer.from('\r\n0\r\n\r\n')])
  for (const path of [links, linkmate, '/api/v1/events/impressions/page_impression/']) {
    const answers = [
      await exchange(path, { headers: whole, body, readsAfter: body.length }),
      await exchange(path, { headers: inPieces, body: pieces, readsAfter: pieces.length }),
      await exchange(path, { headers: whole, body, readsAfter: 0 }),
      await exchange(path, { headers: inPieces, body: pieces, readsAfter: 2 * 1_048_576 }),
    ]
    for (const answer of answers) {
      assert.match(answer, /^HTTP\/1.1 413 /, path)
      assert.match(answer, /"code":4130/, path)
    }
  }
})

test('each route accepts bodies up to its own limit: sign-in 4 KiB, events 256 KiB', async () => {
  const padded = (bytes: number) => `{"x":"${'a'.repeat(bytes - 8)}"}`
  const refused = async (path: string, bytes: number) => {
    const headers = { origin: 'https://souk.example' }
    const answer = await api.call(path, { body: padded(bytes), headers })
    return answer.status === 413 ? answer.failure().message : 'read'
  }
  const limits: [path: string, bytes: number, size: string][] = [
    ['/api/v1/session/', 4_096, '4 KiB'],
    ['/api/v1/events/impressions/page_impression/', 262_144, '256 KiB'],
    ['/api/v1/events/conversions/page_view/', 262_144, '256 KiB'],
    ['/api/v1/events/conversions/checkout/', 1_048_576, '1 MiB'],
    [`/api/v1/publishers/${ann.pubId}/linkmate/smart_links/`, 1_048_576, '1 MiB'],
  ]
  for (const [path, bytes, size] of limits) {
    assert.equal(await refused(path, bytes), 'read', path)
    assert.equal(await refused(path, bytes + 1), `The body is over the limit of ${size}`, path)
  }
})

/** A client that reads nothing until it has sent this much, and sends the rest after an answer. */
async function exchange(
  path: string,
  { headers, body, readsAfter }: { headers: object; body: Buffer; readsAfter: number },
): Promise<string> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').pause()
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  socket.on('error', reject)
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`)
  socket.write(body.subarray(0, readsAfter), () => {
    let answer = ''
    socket.once('data', () => socket.write(body.subarray(readsAfter)))
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('end', () => resolve(answer)).resume()
  })
  return promise
}

test('limits are on by default, with the documented rates', () => {
  assert.deepEqual(readConfig({}).rateLimits, {
    auction: { rate: 2000, burst: 10_000 },
    events: { rate: 1000, burst: 5000 },
    linkmate: { rate: 20, burst: 100 },
    key: { rate: 50, burst: 200 },
    redirect: { rate: 50, burst: 200 },
  })
  assert.equal(readConfig({ RATE_LIMITS: 'key=0' }).rateLimits.key, null)
  assert.ok(Object.values(readConfig({ RATE_LIMITS: '0' }).rateLimits).every((x) => x === null))
})

test('a key that calls too often gets 429 with the rate limit headers', async (t) => {
  const clock = { nowMs: Date.parse('2026-03-02T10:00:00Z') }
  const limited = await startApi(t, { env: { RATE_LIMITS: 'key=2:3' }, now: () => clock.nowMs })
  const [one, two] = [await limited.account(), await limited.account()]
  const ask = (key: string) => limited.call('/api/v1/tokeninfo/', { key })
  for (let call = 0; call < 3; call += 1) assert.equal((await ask(one.key)).status, 200)
  const refused = await ask(one.key)
  assert.deepEqual([refused.status, refused.failure().code], [429, 4290])
  const header = (name: string) => refused.headers.get(name)
  assert.deepEqual(
    [header('retry-after'), header('ratelimit-limit'), header('ratelimit-remaining')],
    ['1', '3', '0'],
  )
  assert.equal(header('ratelimit-reset'), '1')
  assert.equal((await ask(two.key)).status, 200, 'each key has its own')
  clock.nowMs += 500
  assert.equal((await ask(one.key)).status, 200, 'two a second are refilled')
  assert.equal((await ask(one.key)).status, 429)
})

test('an events call costs its events and bytes, whatever else is wrong with it', async (t) => {
  const clock = Date.parse('2026-03-02T10:00:00Z')
  const limited = await startApi(t, { env: { RATE_LIMITS: 'events=1:150' }, now: () => clock })
  const { publishers } = await limited.account({}, {})
  const send = async (at: number, { events = 1, more = '' } = {}) => {
    const body = {
      organization_type: 'publisher',
      organization_id: publishers[at]?.pub_id,
      user: { page_session_uuid: randomUUID(), source_url: BASE },
      events: Array.from({ length: events }, () => ({})),
      more,
    }
    const path = '/api/v1/events/impressions/page_impression/'
    return (await limited.call(path, { body })).status
  }
  assert.equal(await send(0, { events: 100 }), 201)
  assert.equal(await send(0, { events: 100 }), 429, '50 are left')
  assert.equal(await send(0, { more: letters(60_000) }), 429, 'counted as 59')
  assert.equal(await send(0, { events: 50 }), 201)
  assert.equal(await send(0), 429)
  assert.equal(await send(1, { events: 101 }), 400, 'another publisher')
  assert.equal(await send(1, { events: 51 }), 429, 'the refused one has counted')
})

test('a limited call is not recorded', async (t) => {
  const limited = await startApi(t, { env: { RATE_LIMITS: 'events=1:1,auction=1:1' } })
  const { pubId } = await limited.account()
  const send = () =>
    limited.call('/api/v1/events/impressions/page_impression/', {
      body: {
        organization_type: 'publisher',
        organization_id: pubId,
        user: { page_session_uuid: randomUUID(), source_url: BASE },
        events: [{}],
      },
    })
  assert.equal((await send()).status, 201)
  const refused = await send()
  assert.deepEqual([refused.status, refused.failure().code], [429, 4290])
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  const auctions = await Promise.all(
    [1, 2].map(() => limited.call('/api/v1/auction/?a=9007199254740993')),
  )
  assert.deepEqual(auctions.map(({ status }) => status).toSorted(), [404, 429])
  await limited.app.untilFolded()
  const { rows } = await limited.db.pool.query('select count(*) as n from event')
  assert.equal(rows[0].n, '1')
})

test('auctions are limited by link, and by the network of one IPv6 subscriber', async (t) => {
  const env = { RATE_LIMITS: 'auction=1:1', TRUSTED_PROXIES: '127.0.0.0/8' }
  const limited = await startApi(t, { env, now: () => Date.parse('2026-03-02T10:00:00Z') })
  const ask = async (link: string, address: string) => {
    const headers = { 'x-forwarded-for': address }
    return (await limited.call(`/api/v1/auction/?a=${link}`, { headers })).status
  }
  const [one, other] = ['9007199254740993', '9007199254740994']
  assert.equal(await ask(one, '2001:db8:1:2::1'), 404)
  assert.equal(await ask(one, '2001:db8:1:2:ffff::9'), 429, 'the same /64')
  assert.equal(await ask(other, '2001:db8:1:2::1'), 404, 'another link')
  assert.equal(await ask(one, '2001:db8:1:3::1'), 404, 'another /64')
})

test('only a trusted proxy can name another client address', async (t) => {
  const body = { article: { name: 'A', url: BASE }, links: [] }
  const statuses = async (trusted: string) => {
    const env = { RATE_LIMITS: 'linkmate=1:1', TRUSTED_PROXIES: trusted }
    const limited = await startApi(t, { env })
    const { pubId } = await limited.account({ is_partner: true })
    const path = `/api/v1/publishers/${pubId}/linkmate/smart_links/`
    const ask = async (address: string) => {
      const headers = { 'x-forwarded-for': address }
      return (await limited.call(path, { body, headers })).status
    }
    return [await ask('203.0.113.1'), await ask('203.0.113.2'), await ask('203.0.113.2')]
  }
  assert.deepEqual(await statuses(''), [200, 429, 429])
  assert.deepEqual(await statuses('127.0.0.0/8'), [200, 200, 429])
})
