/**
 * Tests the dashboard's API calls and its error messages against a service that the test simulates.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { api, faultsOf, isNotLoggedIn, isRefusal } from './api.ts'
import { people } from './people-api.ts'
import { signIn } from './sign-in-api.ts'

interface Asked {
  readonly path: string
  readonly init: RequestInit
}

function serve(t: TestContext, answer: () => Response | Promise<Response>): Asked[] {
  const asked: Asked[] = []
  t.mock.method(globalThis, 'fetch', async (path: string, init: RequestInit) => {
    asked.push({ path, init })
    return answer()
  })
  return asked
}

const refusal = (status: number, error: object = {}, headers: Record<string, string> = {}) =>
  Response.json({ info: {}, error: { message: 'No.', data: null, ...error } }, { status, headers })

const failure = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => assert.fail('was answered'),
    (error) => error,
  )

test('sends days, cursors and words as given, and omits parameters that are not set', async (t) => {
  const asked = serve(t, () => Response.json({ data: [{ rows: [] }] }))
  const range = { from: '2026-03-01', to: '2026-03-02' }
  await api.overview(7, range)
  await api.clicks(7, range, { outcome: 'unpaid', cursor: null })
  await api.orders(7, range, 'a b')
  await api.returns(7, range, null)
  await api.links(7, { search: 'a&b', cursor: null })
  await api.noFill(7, '2026-03-01')
  await api.receipt('1/2')
  const dates = 'date_from=2026-03-01&date_to=2026-03-02'
  assert.deepEqual(
    asked.map(({ path }) => path),
    [
      `/api/v1/publishers/7/overview/?${dates}`,
      `/api/v1/publishers/7/clicks/?${dates}&outcome=unpaid`,
      `/api/v1/publishers/7/orders/?${dates}&cursor=a+b`,
      `/api/v1/publishers/7/returns/?${dates}`,
      '/api/v1/publishers/7/link_search/?search=a%26b',
      '/api/v1/publishers/7/no_fill_sample/?date=2026-03-01',
      '/api/v1/receipts/1%2F2/',
    ],
  )
  for (const { init } of asked) {
    assert.equal(init.method, undefined)
    assert.ok(init.signal instanceof AbortSignal, 'a connection that is gone ends too')
  }
})

test('posts a change as JSON and returns the one entry of the response', async (t) => {
  const asked = serve(t, () => Response.json({ data: [{ token_id: 3 }, 'more'] }))
  const at = { kind: 'publisher', id: 7 } as const
  assert.deepEqual(await people.disableKey(at, 3), [{ token_id: 3 }, 'more'])
  assert.deepEqual(await people.keys(at), [{ token_id: 3 }, 'more'])
  await signIn.logIn({ email: 'a@b.example', password: 'p' })
  const [disable, , logIn] = asked
  assert.deepEqual(
    [disable?.path, disable?.init.method],
    ['/api/v1/publishers/7/keys/3/', 'DELETE'],
  )
  const { method, headers, body } = logIn?.init ?? {}
  const json = { 'content-type': 'application/json' }
  assert.deepEqual(
    [method, headers, body],
    ['POST', json, '{"email":"a@b.example","password":"p"}'],
  )
})

test('a refused call has the service’s message and its faults by field', async (t) => {
  const faults = [{ field: 'url', rule: 'is required' }]
  serve(t, () => refusal(400, { message: 'Bad request', data: faults }))
  const error = await failure(api.me())
  assert.deepEqual([error.message, faultsOf(error)], ['Bad request', faults])
  assert.deepEqual([isRefusal(error), isNotLoggedIn(error)], [true, false])
  assert.deepEqual([faultsOf(new Error('x')), isRefusal(new Error('x'))], [[], false])
})

test('only a permanent failure counts as a refusal, and only status 401 asks to log in', async (t) => {
  for (const [status, isAgain, isOut] of [
    [400, true, false],
    [401, true, true],
    [404, true, false],
    [499, true, false],
    [500, false, false],
    [503, false, false],
  ] as const) {
    serve(t, () => refusal(status))
    const error = await failure(api.me())
    assert.deepEqual([isRefusal(error), isNotLoggedIn(error)], [isAgain, isOut], `${status}`)
    assert.deepEqual(faultsOf(error), [])
    t.mock.reset()
  }
})

test('a rate limit message includes the wait if the service names one', async (t) => {
  for (const [headers, words] of [
    [{ 'retry-after': '1' }, 'Too many requests. Try again in a second.'],
    [{ 'retry-after': '30' }, 'Too many requests. Try again in 30 seconds.'],
    [{ 'retry-after': '3600' }, 'Too many requests. Try again in 60 minutes.'],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 'No.'],
    [{}, 'No.'],
  ] as const) {
    serve(t, () => refusal(429, {}, headers))
    assert.equal((await failure(api.me())).message, words)
    t.mock.reset()
  }
  serve(t, () => refusal(503, {}, { 'retry-after': '30' }))
  assert.equal((await failure(api.me())).message, 'No.')
})

test('reports and retries a call without a response, with half a response, or with a proxy’s page', async (t) => {
  const silence = 'The service does not respond. It may be restarting.'
  for (const [answer, words] of [
    [() => Promise.reject(new TypeError('fetch failed')), silence],
    [() => new Response('{"data":[', { status: 200 }), silence],
    [() => new Response('<html>', { status: 502 }), 'The service responded with status 502'],
  ] as const) {
    serve(t, answer)
    const error = await failure(api.me())
    assert.deepEqual([error.message, isRefusal(error)], [words, false])
    t.mock.reset()
  }
})
