/** API keys: where they come from, and what they open. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { OPENAPI_FILE } from '../../scripts/write-openapi.ts'
import { csrfToken } from '../../src/accounts/session.ts'
import { BASE_URL, type CallOptions, startApi } from '../support/api.ts'

const api = await startApi({ after }, { env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
const ann = await api.account()
const TOKENINFO = '/api/v1/tokeninfo/'
const withHeader = (authorization: string) => api.call(TOKENINFO, { headers: { authorization } })

interface Operation {
  readonly security?: readonly Readonly<Record<string, unknown>>[]
}

/** Every operation that needs a key according to the description, with its parameters filled in. */
const KEYED = Object.entries<Record<string, Operation>>(
  JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')).paths,
).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, { security = [] }]) => security.length === 1 && 'apiKey' in (security[0] ?? {}))
    .map(([method]): [string, CallOptions] => [
      path.replaceAll(/\{\w+\}/g, String(ann.pubId)),
      { method: method.toUpperCase(), ...(method === 'post' ? { body: {} } : {}) },
    ]),
)

test('the scheme is the brand word or any alias, in any case', async () => {
  for (const scheme of ['SERVICE-API-KEY', 'service-api-key', 'Souk-Api-Key', 'HOWL-API-KEY']) {
    assert.equal((await withHeader(`${scheme} ${ann.key}`)).status, 200, scheme)
  }
  for (const word of ['nrtv', 'bamx', 'bam']) {
    assert.equal((await withHeader(`${word}-API-KEY ${ann.key}`)).status, 200, word)
  }
})

test('without a valid key there is one answer for all: 401, code 4302', async () => {
  const disabled = await api.account()
  await disableKey(disabled)
  const changed = ann.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
  const headers = [
    undefined,
    ann.key,
    'SERVICE-API-KEY',
    `SERVICE-API-KEY ${changed}`,
    `SERVICE-API-KEY ${disabled.key}`,
    `SERVICE-API-KEY ${ann.key.slice(0, -1)}`,
    `Bearer ${ann.key}`,
    `OTHER-API-KEY ${ann.key}`,
    `SERVICE-API-KEY ${'x'.repeat(10_000)}`,
  ]
  const bodies = new Set<string>()
  const known = new Set(KEYED.map(([path]) => path))
  assert.ok(['/api/v1/smart_links/', TOKENINFO].every((path) => known.has(path)))
  for (const [path, options] of KEYED) {
    for (const authorization of headers) {
      const given = authorization === undefined ? {} : { authorization }
      const answer = await api.call(path, { ...options, headers: given })
      assert.equal(answer.status, 401, `${options.method} ${path} ${authorization}`)
      assert.equal(answer.headers.get('www-authenticate'), 'SERVICE-API-KEY')
      bodies.add(answer.text)
    }
  }
  assert.deepEqual(
    [...bodies].map((text) => JSON.parse(text)),
    [
      {
        info: { error: true, status: 401 },
        data: [],
        error: { code: 4302, message: 'Invalid API token', data: null },
      },
    ],
  )
})

test('a caller without a key does not learn what is wrong with a request', async () => {
  const answer = await api.call('/api/v1/smart_links/', { body: '{"broken' })
  assert.equal(answer.status, 401)
})

test("another user's key does not open a publisher: 403, code 4303", async () => {
  const bob = await api.account()
  const path = `/api/v1/publishers/${ann.pubId}/stats_by_article_merchant_daily/`
  const query = '?date_from=2026-03-01&date_to=2026-03-02'
  assert.equal((await api.call(path + query, { key: ann.key })).status, 200)
  const answer = await api.call(path + query, { key: bob.key })
  assert.deepEqual([answer.status, answer.failure().code], [403, 4303])
})

test('expired keys are refused', async (t) => {
  const clock = { nowMs: Date.parse('2026-03-02T10:00:00Z') }
  const dated = await startApi(t, { now: () => clock.nowMs })
  const account = await dated.account()
  const session = await logIn(account, dated)
  const made = await dated.call(keysOf(account), {
    body: { description: 'an hour', datetime_expires: '2026-03-02T11:00:00Z' },
    headers: changing(session),
  })
  const { key, datetime_expires } = made.entry<{ key: string; datetime_expires: string }>()
  assert.equal(datetime_expires, '2026-03-02T11:00:00Z')
  clock.nowMs += 3_599_000
  assert.equal((await dated.call(TOKENINFO, { key })).status, 200)
  clock.nowMs += 1_000
  assert.deepEqual((await dated.call(TOKENINFO, { key })).failure().code, 4302)
})

test('a user creates, lists and disables keys on the developer options page', async () => {
  const carl = await api.account()
  const cookie = await logIn(carl)
  const headers = changing(cookie)
  const made = await api.call(keysOf(carl), { body: { description: 'my script' }, headers })
  assert.equal(made.status, 201)
  const { key, token_id } = made.entry<{ key: string; token_id: number }>()
  assert.match(key, /^souk_[0-9A-Za-z]{49}$/)
  assert.equal((await api.call(TOKENINFO, { key })).entry().description, 'my script')
  for (const datetime_expires of ['', 'tomorrow']) {
    const body = { description: 'never made', datetime_expires }
    const wrong = await api.call(keysOf(carl), { body, headers })
    assert.deepEqual([wrong.status, wrong.failure().fields], [400, ['datetime_expires']])
  }

  const list = await api.call(keysOf(carl), { headers: { cookie } })
  assert.equal(list.json<{ data: unknown[] }>().data.length, 2)
  assert.ok(!list.text.includes('souk_'))

  const path = `${keysOf(carl)}${token_id}/`
  const stranger = changing(await logIn(ann))
  const theirs = await api.call(path, { method: 'DELETE', headers: stranger })
  assert.equal(theirs.status, 403, 'nobody disables another one’s key')
  const disabled = await api.call(path, { method: 'DELETE', headers })
  assert.equal(disabled.entry().is_enabled_by_user, false)
  assert.equal((await api.call(TOKENINFO, { key })).status, 401, 'at once')
  assert.equal((await api.call(TOKENINFO, { key: carl.key })).status, 200)
})

test('the dashboard shows a user and their publishers until they sign out', async () => {
  const cookie = await logIn(ann)
  const me = await api.call('/api/v1/me/', { headers: { cookie } })
  const { uid, email, base_url, brand, csrf_token } = me.entry()
  assert.deepEqual({ uid, email }, { uid: ann.uid, email: ann.email })
  assert.deepEqual({ base_url, brand }, { base_url: BASE_URL, brand: 'service' })
  assert.equal(me.headers.get('cache-control'), 'no-store')
  const { memberships } = me.entry<{ memberships: { organization: object; role: string }[] }>()
  assert.deepEqual(
    memberships.map(({ organization, role }) => [organization, role]),
    [[{ kind: 'publisher', id: ann.pubId }, 'owner']],
  )
  const signOut = (headers: Record<string, string>) =>
    api.call('/api/v1/session/', { method: 'DELETE', headers: { cookie, ...headers } })
  assert.equal((await signOut({})).failure().code, 4309, 'a change needs the CSRF token')
  const left = await signOut({ 'x-souk-csrf': String(csrf_token) })
  // With the same name, path and flags; otherwise a browser does not drop the cookie.
  const dropped =
    /^__Host-souk_session=; Max-Age=0; Path=\/; .*; HttpOnly; Secure; SameSite=Strict$/
  assert.match(left.headers.get('set-cookie') ?? '', dropped)
  const gone = await api.call('/api/v1/me/', { headers: { cookie } })
  assert.deepEqual([gone.status, gone.failure().code], [401, 4301])
})

test('signing in again leaves one session, the new one', async (t) => {
  const service = await startApi(t)
  const dora = await service.account()
  const before = await logIn(dora, service)
  const { email, password } = dora
  const again = await service.call('/api/v1/session/', {
    body: { email, password },
    headers: { cookie: before },
  })
  const [cookie = ''] = (again.headers.get('set-cookie') ?? '').split(';', 1)
  assert.notEqual(cookie, before)
  const statusOf = async (sent: string) =>
    (await service.call('/api/v1/me/', { headers: { cookie: sent } })).status
  assert.deepEqual([await statusOf(before), await statusOf(cookie)], [401, 200])
})

test('a wrong password and an unknown user get the same answer, and guessing is slow', async () => {
  const attempt = (email: string, password: string, from = '203.0.113.1') => {
    const headers = { 'x-forwarded-for': from }
    return api.call('/api/v1/session/', { body: { email, password }, headers })
  }
  const wrong = await attempt(ann.email, 'not the password')
  const unknown = await attempt('nobody@pub.example', 'not the password')
  assert.equal(wrong.status, 401)
  assert.equal(wrong.text, unknown.text)
  assert.equal(wrong.headers.get('set-cookie'), null)
  // Concurrent, because sequential attempts on a busy machine could stay within the limit.
  const guesses = Array.from({ length: 25 }, () => attempt('nobody@pub.example', ''))
  const refused = (await Promise.all(guesses)).filter(({ status }) => status === 429)
  assert.ok(refused.length > 0)
  for (const { headers } of refused) assert.ok(Number(headers.get('retry-after')) > 0)
  const elsewhere = await attempt('nobody@pub.example', '', '203.0.113.2')
  assert.equal(elsewhere.status, 401, 'another address is not held up')
})

test('other sites cannot use a session: a change needs its CSRF token', async (t) => {
  const service = await startApi(t) // Its sign-in limit is unused.
  const eve = await service.account()
  const cookie = await logIn(eve, service)
  assert.match(cookie, /^__Host-souk_session=/, 'BASE_URL is https')
  const body = { description: 'forged' }
  for (const headers of [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { 'content-type': 'text/plain' },
    { 'x-souk-csrf': 'guessed' },
  ]) {
    const answer = await service.call(keysOf(eve), { body, headers: { cookie, ...headers } })
    assert.deepEqual([answer.status, answer.failure().code], [403, 4309], JSON.stringify(headers))
    assert.equal(answer.headers.get('access-control-allow-origin'), null)
  }
  const made = await service.call(keysOf(eve), { body, headers: changing(cookie) })
  assert.equal(made.status, 201)
  const preflight = await service.call('/api/v1/session/', {
    method: 'OPTIONS',
    headers: { origin: 'https://tools.example', 'access-control-request-method': 'POST' },
  })
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
  const origin = 'https://tools.example'
  for (const method of ['PATCH', 'PUT']) {
    const wrong = await service.call('/api/v1/session/', { method, headers: { origin } })
    assert.equal(wrong.status, 405)
    assert.equal(wrong.headers.get('access-control-allow-origin'), null, method)
  }
})

async function disableKey(account: typeof ann): Promise<void> {
  const cookie = await logIn(account)
  const path = `${keysOf(account)}${account.tokenId}/`
  const disabled = await api.call(path, { method: 'DELETE', headers: changing(cookie) })
  assert.equal(disabled.status, 200)
}

const keysOf = ({ pubId }: typeof ann) => `/api/v1/publishers/${pubId}/keys/`

/** The headers of a change in a session. */
function changing(cookie: string): Record<string, string> {
  return { cookie, 'x-souk-csrf': csrfToken(cookie.slice(cookie.indexOf('=') + 1)) }
}

/** The session's cookie, as a browser sends it back. */
async function logIn({ email, password }: typeof ann, service = api): Promise<string> {
  const answer = await service.call('/api/v1/session/', { body: { email, password } })
  assert.equal(answer.status, 200, answer.text)
  const set = answer.headers.get('set-cookie') ?? ''
  assert.match(set, /; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
  return set.split(';', 1)[0] ?? ''
}
