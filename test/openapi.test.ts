import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { OPENAPI_FILE, openapiText } from '../scripts/write-openapi.ts'
import { startTestApp } from './app.ts'

test('openapi.json is the description of the routes that are served', async (t) => {
  const { http } = await startTestApp(t)
  const file = await readFile(OPENAPI_FILE, 'utf8')
  assert.equal(file, openapiText(http), 'run `npm run openapi` and commit what it writes')
})

test('the description of a creation names the header that makes a retry safe', async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'))
  const { parameters = [] } = paths['/api/v1/smart_links/'].post
  assert.deepEqual(
    parameters.map(({ in: place, name }: { in: string; name: string }) => `${place} ${name}`),
    ['header idempotency-key'],
  )
})
