import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type RequestOptions, request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { startServer } from '../../../test/support/local-server.ts'
import { startNameServer } from '../../../test/support/name-server.ts'
import type { GuardOptions } from './fetch-guard.ts'
import { openGuardedProxy } from './guarded-proxy.ts'

async function startProxy(t: TestContext, options: GuardOptions) {
  const proxy = await openGuardedProxy(options)
  t.after(() => proxy[Symbol.asyncDispose]())
  const { hostname: host, port } = new URL(proxy.url)
  const ask = (asked: RequestOptions) => request({ host, port, ...asked })
  return {
    proxy,
    /** As a browser sends a request for http. */
    async get(url: string) {
      const asked = ask({ path: url, headers: { host: new URL(url).host } }).end()
      const [response] = await once(asked, 'response')
      return { status: response.statusCode, headers: response.headers, body: await text(response) }
    },
    /** As a browser asks for a connection: for https and WebSockets. */
    async connect(path: string): Promise<[number, Socket]> {
      const asked = ask({ method: 'CONNECT', path }).end()
      const [response, socket] = await once(asked, 'connect')
      t.after(() => socket.destroy())
      return [response.statusCode, socket]
    },
  }
}

test('a proxy dials no private address, by number, by name, or by a name in the DNS', async (t) => {
  let connections = 0
  const { server, port } = await startServer(t, (_request, response) => response.end())
  server.on('connection', () => connections++)
  const { nameServers } = await startNameServer(t, () => ['127.0.0.1'])
  const { proxy, get, connect } = await startProxy(t, { allowPrivate: false, nameServers })
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', 'shop.example']) {
    await assert.rejects(get(`http://${host}:${port}/`), { code: 'ECONNRESET' }, host)
    assert.equal((await connect(`${host}:${port}`))[0], 502, host)
  }
  assert.equal(connections, 0)
  assert.match(
    proxy.failures.get('shop.example')?.message ?? '',
    /\(127\.0\.0\.1\) is not a public/,
  )
})

test('a proxy passes requests and connections on, and leaves redirects to the browser', async (t) => {
  const { port } = await startServer(t, ({ url, headers }, response) => {
    if (url === '/hop') response.writeHead(302, { location: '/page' }).end()
    else response.end(`${url} of ${headers.host}`)
  })
  const { get, connect } = await startProxy(t, { allowPrivate: true })
  const host = `127.0.0.1:${port}`
  assert.equal((await get(`http://${host}/page?a=1`)).body, `/page?a=1 of ${host}`)
  const hop = await get(`http://${host}/hop`)
  assert.deepEqual([hop.status, hop.headers.location], [302, '/page'])
  const [status, socket] = await connect(host)
  assert.equal(status, 200)
  socket.write(`GET /tunnel HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  assert.match(await text(socket), /\/tunnel of x$/)
})
