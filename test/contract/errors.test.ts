/** Errors and paths: docs/spec/interface.md#errors. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { ERRORS } from '../../src/platform/errors/api-errors.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { type CallOptions, startApi } from '../support/api.ts'
import { testDatabase } from '../support/database.ts'
import { openProxy } from '../support/proxy.ts'

const api = await startApi({ after })
const ann = await api.account({ is_partner: true })
const LINKS = '/api/v1/smart_links/'
const LINKMATE = `/api/v1/publishers/${ann.pubId}/linkmate/smart_links/`
const STATS = `/api/v1/publishers/${ann.pubId}/stats_by_article_merchant_daily/`
const MATCH = '/api/v1/product_match/clickmate/exclusive_links/'
const CONFIG = `/api/v0/publishers/${ann.publishers[0]?.slug}/amp_config/`
const TOKENINFO = '/api/v1/tokeninfo/'

const GOOD_LINK = { article_name: 'A', article_url: 'https://daily.example/a' }
const GZIP = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
const GOOD_CALL = { article: { name: 'A', url: 'https://daily.example/a' }, links: [] }

/** Each endpoint with a request that succeeds. */
const ENDPOINTS: readonly { path: string; query?: string; options: CallOptions; allow: string }[] =
  [
    { path: LINKS, options: { key: ann.key, body: GOOD_LINK }, allow: 'POST, OPTIONS' },
    { path: LINKMATE, options: { body: GOOD_CALL }, allow: 'POST, OPTIONS' },
    { path: TOKENINFO, options: { key: ann.key }, allow: 'GET, HEAD, OPTIONS' },
    {
      path: STATS,
      query: 'date_from=2026-03-01&date_to=2026-03-02',
      options: { key: ann.key },
      allow: 'GET, HEAD, OPTIONS',
    },
    {
      path: MATCH,
      query: `publisher_slug=${ann.publishers[0]?.slug}&gtin=1`,
      options: {},
      allow: 'GET, HEAD, OPTIONS',
    },
    { path: CONFIG, options: {}, allow: 'GET, HEAD, OPTIONS' },
  ]

test('every documented error has the status and code of the table', () => {
  const documented: [keyof typeof ERRORS, number, number][] = [
    ['badRequest', 400, 4000],
    ['invalidApiKey', 401, 4302],
    ['notYours', 403, 4303],
    ['notPartner', 403, 4304],
    ['notFound', 404, 4040],
    ['methodNotAllowed', 405, 4050],
    ['idempotencyConflict', 409, 4090],
    ['tooLarge', 413, 4130],
    ['unsupportedMediaType', 415, 4150],
    ['rateLimited', 429, 4290],
    ['internal', 500, 5000],
    ['unavailable', 503, 5030],
  ]
  for (const [name, status, code] of documented) {
    assert.deepEqual([ERRORS[name].status, ERRORS[name].code], [status, code], name)
  }
  assert.equal(ERRORS.invalidApiKey.message, 'Invalid API token')
  const codes = Object.values(ERRORS).map(({ code }) => code)
  assert.equal(new Set(codes).size, codes.length, 'a code means one thing')
})

test("each error that a caller can cause has the table's code, in the whole envelope", async () => {
  const [bob, idle] = [await api.account(), await api.account()]
  const key = ann.key
  const headers = { 'idempotency-key': 'once' }
  await api.call(LINKS, { key, body: GOOD_LINK, headers })
  const outside = `/api/v1/publishers/${idle.pubId}/linkmate/smart_links/`
  const other = { ...GOOD_LINK, article_name: 'B' }
  const caused: [keyof typeof ERRORS, string, CallOptions][] = [
    ['badRequest', LINKS, { key, body: {} }],
    ['invalidApiKey', LINKS, { body: GOOD_LINK }],
    ['notYours', `${STATS}?date_from=2026-03-01&date_to=2026-03-02`, { key: bob.key }],
    ['notPartner', outside, { body: GOOD_CALL }],
    ['notFound', '/api/v1/nothing/', {}],
    ['methodNotAllowed', TOKENINFO, { key, method: 'DELETE' }],
    ['idempotencyConflict', LINKS, { key, body: other, headers }],
    ['tooLarge', LINKS, { key, body: 'x'.repeat(1_048_577) }],
    ['unsupportedMediaType', LINKS, { key, body: '<a/>', headers: { 'content-type': 'a/b' } }],
  ]
  for (const [name, path, options] of caused) {
    const answer = await api.call(path, options)
    const { status, code, message } = ERRORS[name]
    const { error, ...envelope } = answer.json<{ error: Record<string, unknown> }>()
    assert.deepEqual(envelope, { info: { error: true, status }, data: [] }, name)
    assert.deepEqual(Object.keys(error), ['code', 'message', 'data'], name)
    assert.deepEqual([answer.status, error.code], [status, code], name)
    assert.equal(typeof error.message, 'string')
    // If no field is at fault, the message is the table's.
    if (name !== 'badRequest' && name !== 'notFound') {
      assert.deepEqual([error.message, error.data], [message, null], name)
    }
  }
})

test('an internal error says only that, and the log has the reason', async (t) => {
  const logLines: string[] = []
  const broken = await startApi(t, { logLines, env: { LOG_LEVEL: 'error' } })
  const { key } = await broken.account()
  await broken.db.run(sql`alter table article rename to elsewhere`)
  const headers = { 'x-request-id': 'failure-1' }
  const answer = await broken.call(LINKS, { key, body: GOOD_LINK, headers })
  assert.equal(answer.status, 500)
  const { message } = ERRORS.internal
  assert.deepEqual(answer.json(), {
    info: { error: true, status: 500 },
    data: [],
    error: { code: 5000, message, data: null },
  })
  const line = logLines
    .map((text) => JSON.parse(text))
    .find((line) => line.request_id === 'failure-1')
  assert.match(line?.err.message, /article/)
})

test('a path works without its slash and with an empty query, without a redirect', async () => {
  for (const { path, query = '', options } of ENDPOINTS) {
    for (const form of [`${path}?${query}`, `${path.slice(0, -1)}?&&${query}&`]) {
      const answer = await api.call(form, options)
      assert.ok(answer.status === 200 || answer.status === 201, `${form} ${answer.text}`)
    }
  }
})

test('HEAD works wherever GET does, with the same status and no body', async () => {
  for (const { path, query = '', options, allow } of ENDPOINTS) {
    if (!allow.startsWith('GET')) continue
    const get = await api.call(`${path}?${query}`, options)
    const head = await api.call(`${path}?${query}`, { ...options, method: 'HEAD' })
    assert.deepEqual([head.status, head.text], [get.status, ''], path)
    assert.equal(head.headers.get('content-type'), get.headers.get('content-type'))
  }
})

test('a wrong method is 405 with the allowed ones, an unknown path is 404', async () => {
  for (const { path, allow } of ENDPOINTS) {
    for (const method of ['PUT', 'DELETE', 'PATCH', allow.startsWith('GET') ? 'POST' : 'GET']) {
      const answer = await api.call(path, { method })
      assert.deepEqual([answer.status, answer.failure().code], [405, 4050], `${method} ${path}`)
      assert.equal(answer.headers.get('allow'), allow)
    }
    for (const wrong of [`${path}more/`, path.replace('/v1/', '/v2/').replace('/v0/', '/v9/')]) {
      const answer = await api.call(wrong)
      assert.deepEqual([answer.status, answer.failure().code], [404, 4040], wrong)
    }
  }
})

test('another spelling of a hot path is an unknown path', async () => {
  const spellings: [string, string][] = [
    ['POST', '/api/v1/events/impressions/page%5Fimpression/'],
    ['GET', '/api/v1/auctio%6E/?a=9007199254740993'],
    ['GET', '/api/v1/redirec%74/'],
    ['GET', '/lin%6B/?url=http%3A%2F%2Fx.example%2F'],
  ]
  for (const [method, path] of spellings) {
    const answer = await api.call(path, { method })
    assert.deepEqual([answer.status, answer.failure().code], [404, 4040], path)
    for (const other of ['HEAD', 'OPTIONS']) {
      assert.equal((await api.call(path, { method: other })).status, 404, `${other} ${path}`)
    }
  }
})

test('every JSON answer says so in its type, errors as well', async () => {
  for (const { path, query = '', options } of ENDPOINTS) {
    for (const call of [options, { ...options, key: 'souk_unknown' }]) {
      const answer = await api.call(`${path}?${query}`, call)
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', path)
    }
    const faulty = await api.call(`${path}?date_from=2026-03-02&date_to=2026-03-02`, options)
    assert.equal(faulty.headers.get('content-type'), 'application/json; charset=utf-8', path)
  }
})

test('OPTIONS answers preflights: open endpoints to all, account endpoints to known origins', async () => {
  const open = new Set([LINKMATE, CONFIG])
  const preflight = async (path: string, origin: string) => {
    const headers = { origin, 'access-control-request-method': 'GET' }
    const answer = await api.call(path, { method: 'OPTIONS', headers })
    assert.equal(answer.status, 204, path)
    assert.equal(answer.text, '')
    return answer.headers
  }
  for (const { path } of ENDPOINTS) {
    const known = await preflight(path, 'https://tools.example')
    assert.equal(known.get('access-control-allow-origin'), 'https://tools.example', path)
    assert.match(known.get('access-control-allow-headers') ?? '', /content-type/)
    assert.match(known.get('vary') ?? '', /origin/i)
    const stranger = await preflight(path, 'https://anybody.example')
    const allowed = open.has(path) ? 'https://anybody.example' : null
    assert.equal(stranger.get('access-control-allow-origin'), allowed, path)
  }
})

test('a browser of a known origin may also read errors', async () => {
  const answer = await api.call(TOKENINFO, { headers: { origin: 'https://tools.example' } })
  assert.equal(answer.status, 401)
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://tools.example')
})

test("each response carries X-Request-Id, the caller's own if it is a sane value", async () => {
  for (const { path, query = '', options } of ENDPOINTS) {
    const sent = { ...options, headers: { 'x-request-id': 'trace-1.2:3' } }
    const echoed = await api.call(`${path}?${query}`, sent)
    assert.equal(echoed.headers.get('x-request-id'), 'trace-1.2:3', path)
    const wrong = await api.call(path, { headers: { 'x-request-id': '<script>' } })
    assert.match(wrong.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  }
  assert.match(
    (await api.call('/api/nowhere')).headers.get('x-request-id') ?? '',
    /^[0-9a-f-]{36}$/,
  )
})

test('malformed JSON and bad UTF-8 are 400 and name the body', async () => {
  const bodies: (string | Uint8Array)[] = [
    '{',
    '{"a":1}}',
    '',
    'NaN',
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  ]
  for (const body of bodies) {
    const response = await fetch(api.url + LINKMATE, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    const answer = JSON.parse(await response.text())
    assert.equal(response.status, 400, String(body))
    assert.equal(answer.error.code, 4000)
    assert.equal(answer.error.data[0].field, 'body', String(body))
  }
})

test('U+0000 is refused where it would be stored, and only there', async () => {
  const send = (fields: string) => {
    const body = `{"article_name":"A","article_url":"https://daily.example/a",${fields}}`
    return api.call(LINKS, { key: ann.key, body })
  }
  const refused = await send('"article_name":"a\\u0000b"')
  assert.deepEqual(refused.failure().data, [
    { field: 'article_name', rule: 'must not hold U+0000' },
  ])
  // An escaped backslash before "u0000" is no escape: this text has six more plain characters.
  const folder = await send('"article_name":"C:\\\\u0000dir"')
  assert.equal(folder.status, 201, folder.text)
  assert.deepEqual(folder.entry<{ article: { name: string } }>().article.name, 'C:\\u0000dir')
  const unknown = await send('"ignored":"\\u0000","\\u0000":["\\u0000"]')
  assert.equal(unknown.status, 201, unknown.text)
})

test('a body over 1 MiB is 413, one of another type 415', async () => {
  for (const [path, key] of [
    [LINKS, ann.key],
    [LINKMATE, undefined],
  ] as const) {
    const keyed = key === undefined ? {} : { key }
    const large = await api.call(path, { ...keyed, body: JSON.stringify('x'.repeat(1_048_577)) })
    assert.deepEqual([large.status, large.failure().code], [413, 4130], path)
    const most = await api.call(path, { ...keyed, body: JSON.stringify('x'.repeat(1_048_000)) })
    assert.equal(most.status, 400, 'up to the limit it is read')
    for (const type of ['application/xml', 'application/x-www-form-urlencoded', 'image/png', 'x']) {
      const headers = { 'content-type': type }
      const answer = await api.call(path, { ...keyed, body: '{}', headers })
      assert.deepEqual([answer.status, answer.failure().code], [415, 4150], type)
    }
    const packed = await api.call(path, { ...keyed, body: '{}', headers: GZIP })
    assert.deepEqual([packed.status, packed.failure().code], [415, 4150], 'compressed')
    const merge = 'application/merge-patch+json'
    for (const type of ['application/json', 'Text/Plain; charset=UTF-8', merge]) {
      const body = path === LINKS ? GOOD_LINK : GOOD_CALL
      const answer = await api.call(path, { ...keyed, body, headers: { 'content-type': type } })
      assert.ok(answer.status < 300, `${type} ${answer.text}`)
    }
  }
})

test('a body without a type is read as JSON on every endpoint', async () => {
  const page = { page_session_uuid: crypto.randomUUID(), source_url: GOOD_LINK.article_url }
  const event = { organization_type: 'publisher', organization_id: ann.pubId, user: page }
  const bodies: readonly (readonly [string, unknown])[] = [
    [LINKS, GOOD_LINK],
    [LINKMATE, GOOD_CALL],
    ['/api/v1/events/impressions/page_impression/', { ...event, events: [{}] }],
  ]
  // fetch() names a type for text, never for bytes.
  const send = async (path: string, body: string) => {
    const headers = { authorization: `SERVICE-API-KEY ${ann.key}` }
    return fetch(api.url + path, { method: 'POST', headers, body: Buffer.from(body) })
  }
  for (const [path, body] of bodies) {
    const answer = await send(path, JSON.stringify(body))
    assert.ok(answer.status < 300, `${path} ${await answer.text()}`)
    const broken = await send(path, 'a=1&b=2')
    const { error } = (await broken.json()) as { error: { code: number } }
    assert.deepEqual([broken.status, error.code], [400, 4000], path)
  }
})

test('faults of an unused body are not reported, only the wrong path or method', async () => {
  for (const headers of [{ 'content-type': 'application/xml' }, {}]) {
    const unknown = await api.call('/api/v1/nothing/', { body: '<a/>', headers })
    assert.deepEqual([unknown.status, unknown.failure().code], [404, 4040])
    const wrong = await api.call(TOKENINFO, { body: '<a/>', headers })
    assert.deepEqual([wrong.status, wrong.failure().code], [405, 4050])
  }
})

test('__proto__ and constructor are ignored like any unknown field', async () => {
  const body = `{"article_name":"A","article_url":"https://daily.example/proto",
    "__proto__":{"url":"https://evil.example/","pub_id":9999},"constructor":{"prototype":{"x":1}}}`
  const answer = await api.call(LINKS, { key: ann.key, body })
  assert.equal(answer.status, 201, answer.text)
  assert.equal(answer.entry().url, '')
  assert.equal(answer.entry().pub_id, ann.pubId)
})

test('deeply nested JSON gets an answer and does not exhaust the stack', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  for (const body of [
    deep,
    `{"links":${deep}}`,
    `{"article":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    `{"__proto__":${deep}}`,
  ]) {
    const answer = await api.call(LINKMATE, { body })
    assert.equal(answer.status, 400)
    assert.equal(answer.failure().code, 4000)
    assert.ok(!answer.text.includes('UTF-8'), answer.text)
  }
})

test('an absolute request target, and *, never cause a 500', async () => {
  const status = async (line: string) => {
    const answer = await sendRaw(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    return Number(answer.split(' ')[1])
  }
  assert.equal(await status('GET http://x/api/v1/auction/?a=9007199254740993'), 404)
  assert.equal(await status('GET HTTP://x:8080/api/v1/auction?a=x'), 400)
  assert.equal(await status(`GET https://x${TOKENINFO}`), 401)
  assert.equal(await status('GET http://x/healthz'), 200)
  assert.equal(await status('GET http://x?y=1'), await status('GET /?y=1'))
  assert.equal(await status('OPTIONS *'), 404)
})

test('an unreadable request still gets the envelope', async () => {
  const long = `GET ${TOKENINFO}?x=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`
  for (const text of [long, 'GET /api/v1/tokeninfo/ HTTP/1.1\r\nBad Header\r\n\r\n']) {
    const answer = await sendRaw(text)
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.match(answer, /\r\nx-request-id: [0-9a-f-]{36}\r\n/)
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
    assert.equal(body.error.code, 4000)
    assert.equal(body.error.data[0].field, 'request')
  }
  const hostless = await sendRaw(`GET ${TOKENINFO} HTTP/1.1\r\nConnection: close\r\n\r\n`)
  assert.match(hostless, /^HTTP\/1\.1 400 .*\r\nx-request-id: .*"field":"Host"/s)
  // HTTP lets a server ignore the Expect header.
  const headers = 'Host: x\r\nExpect: foo\r\nConnection: close'
  assert.match(await sendRaw(`GET /healthz HTTP/1.1\r\n${headers}\r\n\r\n`), /^HTTP\/1\.1 200 /)
  const undecodable = await api.call('/api/v1/publishers/%zz/linkmate/smart_links/', { body: {} })
  assert.deepEqual([undecodable.status, undecodable.failure().code], [400, 4000])
})

test('with the storage down the answer is 503 with Retry-After, and reveals nothing else', async (t) => {
  const { user, host, port, database } = (await testDatabase(t)).connection
  const proxy = await openProxy({ path: `${host}/.s.PGSQL.${port}` }, 'pass')
  t.after(() => proxy.close())
  const DATABASE_URL = `postgres://${user}@127.0.0.1:${proxy.port}/${database}`
  const lost = await startApi(t, { env: { DATABASE_URL, LOG_LEVEL: 'silent' } })
  const { key } = await lost.account()
  proxy.setMode('refuse')
  const answer = await lost.call(TOKENINFO, { key })
  assert.deepEqual([answer.status, answer.failure().code], [503, 5030])
  assert.ok(Number(answer.headers.get('retry-after')) > 0)
  assert.equal(answer.failure().message, ERRORS.unavailable.message)
  assert.equal(answer.failure().data, null)
  proxy.setMode('pass')
  assert.equal((await lost.call(TOKENINFO, { key })).status, 200)
})

function sendRaw(text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.write(text))
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('close', () => resolve(answer))
  socket.on('error', reject)
  return promise
}
