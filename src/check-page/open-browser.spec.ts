/** A confined browser on pages that try to reach this machine. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../test/support/certificate.ts'
import { startServer } from '../../test/support/local-server.ts'
import { CHROMIUM, needProgram } from '../../test/support/programs.ts'
import { openGuardedProxy } from '../platform/net/guarded-proxy.ts'
import { openBrowser } from './open-browser.ts'

const PAGE = 'http://daily.example/article'

test('a page in a confined browser reaches nothing of this machine, by any way', async (t) => {
  let reached = 0
  const { server, port } = await startServer(t, (_request, response) => response.end('secret'))
  server.on('connection', () => reached++)
  const datagrams = createSocket('udp4', () => reached++)
  await once(datagrams.bind(port, '127.0.0.1'), 'listening')
  t.after(() => datagrams.close())
  await using proxy = await openGuardedProxy({ allowPrivate: false })
  await using opened = await openBrowser({
    chromium: needProgram(CHROMIUM),
    confinement: { proxyUrl: proxy.url, isSandboxOff: true },
  })
  const context = await opened.browser.newContext()
  const local = `127.0.0.1:${port}`
  await context.route(PAGE, (route) =>
    route.fulfill({ contentType: 'text/html', body: hostile(local) }),
  )
  await context.route(`${PAGE}/moved`, (route) =>
    route.fulfill({ status: 302, headers: { location: `http://${local}/` } }),
  )
  // As a check answers auctions itself, outside of the browser.
  await context.route('**/api/v1/auction/?*', (route) =>
    route.fetch({ maxRedirects: 0 }).then(
      (response) => route.fulfill({ response }),
      () => route.abort(),
    ),
  )
  for (const url of [`http://${local}/`, `http://localhost:${port}/`, `${PAGE}/moved`]) {
    // Each in its own page: the error page may come late, and would end the next navigation.
    await assert.rejects((await context.newPage()).goto(url), /ERR_/, url)
  }
  const page = await context.newPage()
  await page.goto(PAGE)
  assert.deepEqual(await triedAll(page), ['nothing'])
  assert.equal(reached, 0)
  assert.ok(proxy.failures.has('127.0.0.1'))
})

test('a confined browser loads pages through its proxy, with and without TLS', async (t) => {
  const { port } = await startServer(t, (_request, response) => response.end('a page'))
  const certificate = { cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY }
  const secure = createServer(certificate, (_request, response) => response.end('a page'))
  await once(secure.listen(0, '127.0.0.1'), 'listening')
  t.after(() => void secure.close())
  await using proxy = await openGuardedProxy({ allowPrivate: true })
  await using opened = await openBrowser({
    chromium: needProgram(CHROMIUM),
    confinement: { proxyUrl: proxy.url, isSandboxOff: true },
  })
  const page = await opened.browser.newPage({ ignoreHTTPSErrors: true })
  const { port: securePort } = secure.address() as AddressInfo
  for (const url of [`http://localhost:${port}/`, `https://127.0.0.1:${securePort}/`]) {
    await page.goto(url)
    assert.equal(await page.textContent('body'), 'a page', url)
  }
})

const hostile = (local: string) => `<!doctype html>
<link rel="preconnect" href="http://${local}"><img src="http://${local}/i"><iframe src="http://${local}/f"></iframe>
<script>
const ways = [
  fetch('http://${local}/a'),
  fetch('http://${local}/a', { mode: 'no-cors' }),
  fetch('http://localhost:${local.split(':')[1]}/a', { mode: 'no-cors' }),
  fetch('${PAGE}/moved', { mode: 'no-cors' }),
  // Refused by the proxy, which the driver passes on as an answer.
  fetch('http://${local}/api/v1/auction/?a=1').then((answer) => answer.ok || Promise.reject()),
  new Promise((resolve, reject) => {
    const socket = new WebSocket('ws://${local}/')
    socket.onopen = resolve
    socket.onerror = reject
  }),
  new Promise((resolve, reject) => {
    const peer = new RTCPeerConnection({ iceServers: [
      { urls: 'stun:${local}' },
      { urls: 'turn:${local}?transport=udp', username: 'a', credential: 'b' },
      { urls: 'turn:${local}?transport=tcp', username: 'a', credential: 'b' },
    ] })
    peer.createDataChannel('a')
    peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && reject()
    peer.createOffer().then((offer) => peer.setLocalDescription(offer))
  }),
]
window.tried = Promise.all(ways.map((way) => way.then(() => 'something', () => 'nothing')))
</script>`

/** The different ends of all ways. */
async function triedAll(page: Page): Promise<string[]> {
  return [...new Set((await page.evaluate('window.tried')) as string[])]
}
