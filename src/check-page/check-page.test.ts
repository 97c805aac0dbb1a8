import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../platform/errors/refusal.ts'
import { checkPage } from './check-page.ts'

test('a browser that does not start gives an error that names it', async () => {
  const page = { url: 'https://a.example/', publisher: null, earningsOf: () => null }
  const options = { ...page, baseUrl: 'http://localhost:1' }
  for (const chromium of ['/no/such/browser', process.execPath]) {
    const checked = checkPage({ ...options, chromium })
    await assert.rejects(checked, (error: Error) => {
      assert.ok(error instanceof Refusal)
      assert.ok(error.message.includes(chromium), error.message)
      return !error.message.includes('\n')
    })
  }
})
