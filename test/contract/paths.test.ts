/** Unknown paths and ids are 404, in every spelling. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { startApi } from '../support/api.ts'

const api = await startApi({ after })
const { key, pubId, publishers } = await api.account({ is_partner: true })
const slug = publishers[0]?.slug
const DAYS = 'date_from=2026-03-01&date_to=2026-03-02'

test('an impossible publisher or merchant number is a 404 like an unknown one', async () => {
  const ids = ['0', '-1', '2000000000', '2147483648', '99999999999999999999', '']
  const body = { article: { name: 'A', url: 'https://daily.example/a' }, links: [] }
  for (const id of ids) {
    for (const path of [
      `stats_by_article_merchant_daily/?${DAYS}`,
      'stats_by_article_merchant_daily/changes/?since=2026-03-01',
      `reports/clicks/?${DAYS}`,
      'orders/9007199254740993/',
      'statements/',
      'payments/',
      'product_feeds/',
      'no_fill/?date=2026-03-01',
    ]) {
      const answer = await api.call(`/api/v1/publishers/${id}/${path}`, { key })
      assert.deepEqual([answer.status, answer.failure().code], [404, 4040], `${id}: ${path}`)
    }
    const links = await api.call(`/api/v1/publishers/${id}/linkmate/smart_links/`, { body })
    assert.deepEqual([links.status, links.failure().code], [404, 4040], `${id}: linkmate`)
    const merchant = await api.call(`/api/v1/merchants/${id}/ledger/?${DAYS}`, { key })
    assert.deepEqual([merchant.status, merchant.failure().code], [404, 4040], `${id}: merchant`)
  }
})

test('a method that a path does not support is 405 with the allowed ones, with or without a body', async () => {
  for (const method of ['QUERY', 'PROPFIND', 'SEARCH', 'LOCK', 'MKCOL', 'DELETE']) {
    for (const headers of [{}, { 'content-type': 'application/xml' }]) {
      const answer = await api.call('/api/v1/tokeninfo/', { method, key, headers })
      assert.deepEqual([answer.status, answer.failure().code], [405, 4050], method)
      assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS', method)
      const nowhere = await api.call('/api/v1/nothing/', { method, headers })
      assert.deepEqual([nowhere.status, nowhere.failure().code], [404, 4040], method)
    }
  }
})

test('an undecodable URL is refused with a readable answer, to pages of any origin', async () => {
  const origin = 'https://daily.example'
  for (const slug of ['p%00', '%ff', '%zz']) {
    const answer = await api.call(`/api/v0/publishers/${slug}/amp_config/`, { headers: { origin } })
    assert.deepEqual([answer.status, answer.failure().code], [400, 4000], slug)
    assert.equal(answer.headers.get('access-control-allow-origin'), origin, slug)
  }
})

test('an empty body counts as none, whatever its content type', async () => {
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'image/png']) {
    const headers = { 'content-type': type }
    const webhook = `/api/v1/publishers/${pubId}/webhooks/9/`
    for (const [method, path] of [
      ['DELETE', webhook],
      ['POST', `${webhook}enable/`],
    ] as const) {
      for (const body of [undefined, '']) {
        const answer = await api.call(path, { method, key, headers, body })
        assert.deepEqual([answer.status, answer.failure().code], [404, 4040], `${method} ${type}`)
      }
    }
    const lacking = await api.call('/api/v1/smart_links/', { key, headers, body: '' })
    assert.deepEqual([lacking.status, lacking.failure().fields[0]], [400, 'body'], type)
  }
})

test('a repeated parameter is refused, and an empty one beside it is ignored', async () => {
  const path = `/api/v1/publishers/${pubId}/stats_by_article_merchant_daily/?${DAYS}`
  for (const name of ['date_from', 'limit', 'order_by', 'out_of_network']) {
    const answer = await api.call(`${path}&${name}=1&${name}=1`, { key })
    assert.equal(answer.status, 400, name)
    assert.match(answer.text, new RegExp(`"message":"${name}: must be given once"`))
  }
  for (const query of ['limit=&limit=1&limit=', 'other=1&other=2']) {
    assert.equal((await api.call(`${path}&${query}`, { key })).status, 200, query)
  }
})

test('a browser at an unknown URL gets a page, a program the envelope', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const numbers = ['/123456789', '/92233720368547758070', '/9223372036854%']
  for (const path of [...numbers, '/7mUqA', '/7mUqAbcDe%20', '/7mUqAbcDe%E2%8', '/a/b']) {
    const page = await api.call(path, { headers: browser })
    assert.equal(page.status, 404)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(page.text, /<h1>Link not found<\/h1>/)
    assert.equal(page.headers.get('cache-control'), 'no-store')
    const head = await api.call(path, { method: 'HEAD', headers: browser })
    assert.deepEqual([head.status, head.text], [404, ''])
  }
  for (const [path, options] of [
    ['/123456789', {}],
    ['/123456789', { headers: { accept: '*/*' } }],
    ['/123456789', { method: 'POST', headers: browser }],
    ['/api/v1/nowhere/', { headers: browser }],
    ['/9223372036854%', {}],
    ['/api/v1/nowhere/%', { headers: browser }],
  ] as const) {
    const { error } = (await api.call(path, options)).json<{ error: { code: number } }>()
    assert.equal(error.code, path.endsWith('%') ? 4000 : 4040, path)
  }
})

test('no cache stores an error, because a missing thing may appear', async () => {
  for (const [path, status] of [
    [`/api/v1/tokeninfo/?x=${'x'.repeat(20_000)}`, 400],
    ['/api/v1/auction/?a=9007199254740993', 404],
    ['/api/v1/events/impressions/page_impression/', 405],
    ['/api/v0/publishers/nobody/amp_config/', 404],
    ['/api/v0/publishers/%zz/amp_config/', 400],
    ['/api/v1/tokeninfo/', 401],
    ['/nowhere', 404],
  ] as const) {
    const answer = await api.call(path)
    assert.deepEqual([answer.status, answer.headers.get('cache-control')], [status, 'no-store'])
  }
})

test('no cache stores an API or health response', async () => {
  for (const path of [
    '/api/v1/tokeninfo/',
    `/api/v1/publishers/${pubId}/stats_by_article_merchant_daily/?${DAYS}`,
    `/api/v1/publishers/${pubId}/reports/clicks/?${DAYS}&format=csv`,
    `/api/v1/product_match/clickmate/exclusive_links/?publisher_slug=${slug}&sku=1`,
    `/api/v0/publishers/${slug}/amp_config/`,
    '/healthz',
    '/readyz',
    '/metrics',
  ]) {
    const answer = await api.call(path, { key })
    assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'no-store'], path)
  }
})

test('a connection that times out is closed without an answer', async () => {
  const { server } = api.app.http
  const client = connect(Number(new URL(api.url).port), '127.0.0.1')
  let answer = ''
  client.on('data', (chunk) => {
    answer += chunk
  })
  const [socket] = await once(server, 'connection')
  // The event that Node emits for a connection that a browser opened in advance.
  server.emit(
    'clientError',
    Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
    socket,
  )
  await once(client, 'close')
  assert.equal(answer, '')
})

test('a client that closes its side after the request still gets the answer', async () => {
  const port = Number(new URL(api.url).port)
  for (const path of ['/api/v1/auction/?a=9007199254740993', '/api/v1/nothing/']) {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let answer = ''
    client.on('data', (chunk) => {
      answer += chunk
    })
    client.end(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await once(client, 'close')
    assert.match(answer, /^HTTP\/1\.1 404 /, path)
  }
})
