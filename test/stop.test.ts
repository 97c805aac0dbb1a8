import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { openDatabase } from '../src/platform/postgres/postgres.ts'
import { DRAIN_MS, LAST_REQUESTS_MS, startApp } from '../src/server/app.ts'
import { startTestApp } from './support/app.ts'
import { freePort } from './support/free-port.ts'

/** The clock's error, and the cost of closing on a busy machine besides its waits. */
const [EARLY_MS, LATE_MS] = [100, 30_000]

const { node } = await startTestApp({ after })
/** A second service beside the first, on its own port, to be stopped. */
const startSecond = () =>
  startApp({ ...node, config: { ...node.config, port: 0, roles: new Set(['api', 'edge']) } })

test('a client that never ends its request delays a stop for five seconds, not forever', async () => {
  const app = await startSecond()
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  socket.on('error', () => undefined).resume() // It will be reset.
  await once(socket, 'connect')
  const head = 'POST /api/v1/smart_links/ HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
  socket.write(`${head}content-length: 100\r\n\r\n{`)
  await once(app.http.server, 'request')
  const ended = once(socket, 'close')
  const from = performance.now()
  await app.close()
  await ended
  const tookMs = performance.now() - from
  assert.ok(tookMs >= LAST_REQUESTS_MS - EARLY_MS, `${tookMs} ms: no time for requests under way`)
  assert.ok(tookMs <= LAST_REQUESTS_MS + LATE_MS, `${tookMs} ms`)
})

test('without open requests a stop is immediate', async () => {
  const app = await startSecond()
  await (await fetch(`${app.url}/healthz`)).text() // Leaves an idle connection behind.
  const from = performance.now()
  await app.close()
  assert.ok(performance.now() - from < LAST_REQUESTS_MS, 'it waited for requests')
})

test("a proxy's connection is ended with its next answer, not cut", async () => {
  const app = await startSecond()
  const kept = await Promise.all(
    ['/healthz', '/1', '/api/v1/tokeninfo/'].map(async (path) => {
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
      await once(socket, 'connect')
      const ask = async () => {
        socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nuser-agent: x\r\n\r\n`)
        return String((await once(socket, 'data'))[0])
      }
      assert.match(await ask(), /^connection: keep-alive/im)
      return { ask, ended: once(socket, 'close') }
    }),
  )
  const from = performance.now()
  const closed = app.close()
  for (const answer of await Promise.all(kept.map(({ ask }) => ask()))) {
    assert.match(answer, /^HTTP\/1.1 (200|401|404) /)
    assert.match(answer, /^connection: close/im)
  }
  await Promise.all([closed, ...kept.map(({ ended }) => ended)])
  assert.ok(performance.now() - from < LAST_REQUESTS_MS, 'it waited for requests')
})

test('a connection accepted by the system at the last moment is answered, not reset', async () => {
  const app = await startSecond()
  const [host, port] = ['127.0.0.1', Number(new URL(app.url).port)] as const
  const kept = connect(port, host) // Because of it, the stop drains connections.
  await once(kept, 'connect')
  const late = Promise.withResolvers<string>()
  const getIn = () => {
    const socket = connect(port, host).on('error', late.reject)
    socket.on('data', (data) => late.resolve(String(data)))
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    // Blocks until draining is over: the other connection waits in the accept backlog.
    const from = performance.now()
    while (performance.now() - from < DRAIN_MS);
  }
  const closed = app.close()
  setTimeout(getIn, DRAIN_MS / 2)
  assert.match(await late.promise, /^HTTP\/1.1 200 /)
  kept.destroy()
  await closed
})

test('a start that fails at its schedules leaves nothing running', async (t) => {
  const away = { host: '127.0.0.1', port: 1 }
  const database = openDatabase({ connection: away, applicationName: 'souk: test' })
  t.after(() => database.close())
  const config = { ...node.config, port: await freePort(), roles: new Set(['worker'] as const) }
  await assert.rejects(startApp({ ...node, config, database }), /ECONNREFUSED/)
  await assert.rejects(once(connect(config.port, '127.0.0.1'), 'connect'), /ECONNREFUSED/)
})
