/** What an operator sees of requests: `/metrics`, and log lines. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from './support/api.ts'

const api = await startApi({ after })

test('every answer is timed by route and status class, including the hot path', async () => {
  const before = await answers()
  await fetch(`${api.url}/api/v1/auction/?a=17`) // No such link.
  await fetch(`${api.url}/api/v1/tokeninfo/`) // No key.
  await fetch(`${api.url}/no/such/path`)
  await fetch(`${api.url}/api/v1/auction/`, { method: 'OPTIONS' }) // A browser's preflight.
  const now = await answers()
  const added = (labels: string) => (now.get(labels) ?? 0) - (before.get(labels) ?? 0)
  assert.equal(added('route="/api/v1/auction",status="4xx"'), 1)
  assert.equal(added('route="/api/v1/auction",status="2xx"'), 1)
  assert.equal(added('route="/api/v1/tokeninfo/",status="4xx"'), 1)
  assert.equal(added('route="none",status="4xx"'), 1)
})

test('a request is logged with its id, hot ones from level debug on', async (t) => {
  const logLines: string[] = []
  const { url } = await startApi(t, { logLines, env: { LOG_LEVEL: 'debug' } })
  const ask = (path: string, id: string) => fetch(url + path, { headers: { 'x-request-id': id } })
  await ask('/api/v1/auction/?a=17', 'hot-1')
  await ask('/api/v1/tokeninfo/', 'cold-1')
  const requests = logLines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'request')
  const said = (id: string) => requests.find((line) => line.request_id === id)
  assert.deepEqual([said('hot-1')?.route, said('hot-1')?.status], ['/api/v1/auction', 404])
  assert.deepEqual([said('cold-1')?.route, said('cold-1')?.status], ['/api/v1/tokeninfo/', 401])
})

test('probes that run every second are not logged', async (t) => {
  const logLines: string[] = []
  const { url } = await startApi(t, { logLines, env: { LOG_LEVEL: 'info' } })
  for (const path of ['/healthz', '/readyz', '/metrics', '/api/v1/tokeninfo/']) {
    await fetch(url + path)
  }
  const requests = logLines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'request')
  assert.deepEqual(
    requests.map(({ route }) => route),
    ['/api/v1/tokeninfo/'],
  )
})

/** Answers counted so far, by the labels of their histogram. */
async function answers(): Promise<Map<string, number>> {
  const text = await (await fetch(`${api.url}/metrics`)).text()
  const counts = text.matchAll(/^souk_request_seconds_count\{(.+)\} (\d+)$/gm)
  return new Map([...counts].map(([, labels, count]) => [labels ?? '', Number(count)]))
}
