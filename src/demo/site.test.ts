import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePort } from '../../test/free-port.ts'
import { Refusal } from '../platform/refusal.ts'
import type { DemoState } from './load.ts'
import { startDemoSite } from './site.ts'

test('a port that something else has is a refusal that says what to do, not a fault of ours', async (t) => {
  const sitePort = await freePort()
  const names = { email: '', password: '', apiKey: '', merchants: {}, publishers: {}, links: {} }
  const state: DemoState = { sitePort, ...names }
  const options = { state, host: '127.0.0.1', baseUrl: 'http://localhost:1' }
  const site = await startDemoSite(options)
  t.after(() => site.close())
  await assert.rejects(startDemoSite(options), (error: Error) => {
    assert.ok(error instanceof Refusal)
    return error.message.includes(`port ${sitePort} is taken`)
  })
})
