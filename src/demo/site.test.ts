import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { freePort } from '../../test/free-port.ts'
import { Refusal } from '../platform/refusal.ts'
import type { DemoState } from './load.ts'
import { startDemoSite } from './site.ts'

const names = { email: '', password: '', apiKey: '', merchants: {}, publishers: {}, links: {} }

test('an address that is none is not found, and the demo lives on', async (t) => {
  const sitePort = await freePort()
  const state: DemoState = { sitePort, ...names }
  const site = await startDemoSite({ state, host: '127.0.0.1', baseUrl: 'http://localhost:1' })
  t.after(() => site.close())
  for (const path of ['//', '/']) {
    const headers = { host: 'pictures.localhost' }
    const asked = get({ host: '127.0.0.1', port: sitePort, path, headers })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    assert.equal(answer.statusCode, 404)
  }
})

test('a port that something else has is a refusal that says what to do, not a fault of ours', async (t) => {
  const sitePort = await freePort()
  const state: DemoState = { sitePort, ...names }
  const options = { state, host: '127.0.0.1', baseUrl: 'http://localhost:1' }
  const site = await startDemoSite(options)
  t.after(() => site.close())
  await assert.rejects(startDemoSite(options), (error: Error) => {
    assert.ok(error instanceof Refusal)
    return error.message.includes(`port ${sitePort} is taken`)
  })
})
