import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import type { DemoState } from './load.ts'
import { startDemoSite } from './site.ts'

const own = { host: '127.0.0.1', baseUrl: 'http://localhost:1', linkUrl: 'http://localhost:1' }
const names = { email: '', password: '', apiKey: '', merchants: {}, publishers: {}, links: {} }

test('reloading the thanks page reports the order only once', async (t) => {
  const sitePort = await freePort()
  const state: DemoState = { sitePort, ...names }
  const site = await startDemoSite({ state, ...own })
  t.after(() => site.close())
  const load = async (path: string) => {
    const headers = { host: 'kettlework.localhost' }
    const asked = get({ host: '127.0.0.1', port: sitePort, path, headers })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return { location: answer.headers.location, text: (await answer.toArray()).join('') }
  }
  const product = await load('/p/KET-00000001')
  const form = /<form action="([^"]+)".*name="sku" value="([^"]+)"/.exec(product.text)
  const path = `${form?.[1]}?sku=${form?.[2]}`
  const buy = async () => (await load(path)).location ?? path
  const thanks = await buy()
  const first = await load(thanks)
  assert.match(first.text, /SOUK_ORDER={"order":{"id":"KET-00000001-/)
  await sleep(2) // An order's id contains the time.
  assert.equal((await load(thanks)).text, first.text)
  assert.notEqual(await buy(), thanks)
})

test('an invalid URL is a 404, and the demo keeps running', async (t) => {
  const sitePort = await freePort()
  const state: DemoState = { sitePort, ...names }
  const site = await startDemoSite({ state, ...own })
  t.after(() => site.close())
  for (const path of ['//', '/']) {
    const headers = { host: 'pictures.localhost' }
    const asked = get({ host: '127.0.0.1', port: sitePort, path, headers })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    assert.equal(answer.statusCode, 404)
  }
})

test('a port in use gives an error that says what to do', async (t) => {
  const sitePort = await freePort()
  const state: DemoState = { sitePort, ...names }
  const options = { state, ...own }
  const site = await startDemoSite(options)
  t.after(() => site.close())
  await assert.rejects(startDemoSite(options), (error: Error) => {
    assert.ok(error instanceof Refusal)
    return error.message.includes(`port ${sitePort} is taken`)
  })
})

test("the demo's links lead to the port of this start, whichever port it was created on", async (t) => {
  const sitePort = await freePort()
  const links = { 'pour-over-kettles/Best overall': '384110249193246720' }
  const site = await startDemoSite({ state: { sitePort, ...names, links }, ...own })
  t.after(() => site.close())
  const headers = { host: 'hearthside.localhost' }
  const asked = get({ host: '127.0.0.1', port: sitePort, path: '/pour-over-kettles', headers })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const text = (await answer.toArray()).join('')
  const shown = [...text.matchAll(/class="buy" href="(http:\/\/localhost[^"]*)"/g)]
  assert.deepEqual(
    shown.map(([, link]) => link),
    ['http://localhost:1/384110249193246720'],
  )
})
