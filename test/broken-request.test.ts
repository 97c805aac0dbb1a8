/** Incomplete requests are the client's fault only. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { startApi } from './support/api.ts'

const logLines: string[] = []
const api = await startApi({ after }, { logLines, env: { LOG_LEVEL: 'info' } })
const { pubId } = await api.account({ is_partner: true })

test('a body that breaks off is not logged as a server error', async () => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
  const path = `/api/v1/publishers/${pubId}/linkmate/smart_links/`
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: cut\r\nContent-Length: 9\r\n\r\n{`,
  )
  const [request] = await once(api.app.http.server, 'request')
  const closed = once(request.socket, 'close')
  socket.destroy()
  await closed
  await api.call('/healthz')
  assert.deepEqual(
    logLines.filter((line) => JSON.parse(line).level >= 50),
    [],
  )
})

// A proxy that receives an answer in the middle of a body may leave the body there and send the
// next reader's request over the same connection (HAProxy 2.6). It would be read as the rest of the
// body.
test('an answer in the middle of a body is the last one of its connection', async () => {
  const length = 100_000
  for (const target of [
    'POST /api/v1/smart_links/', // Without a key.
    'PUT /api/v1/events/impressions/page_impression/',
    'GET /api/v1/auction/',
    'GET /healthz',
    'POST /api/v0/publishers/%ff/amp_config/',
  ]) {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
    socket.write(`${target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n{`)
    let answers = `${(await once(socket, 'data'))[0]}`
    socket.on('data', (chunk) => {
      answers += chunk
    })
    assert.match(answers, /\r\nconnection: close\r\n/i, target)
    socket.write(`${' '.repeat(length - 1)}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`)
    await once(socket, 'end')
    assert.equal(answers.match(/HTTP\/1\.1/g)?.length, 1, target)
    const [head = '', body] = answers.split('\r\n\r\n')
    assert.equal(body?.length, Number(/content-length: (\d+)/i.exec(head)?.[1]), target)
  }
})

test('every answer forbids the browser to guess its type, also at the level of the connection', async () => {
  const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n{`
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const raw = {
    'no HTTP': 'nonsense\r\n\r\n',
    'too long': get(`/${'x'.repeat(20_000)}`),
    'no host': 'GET / HTTP/1.1\r\n\r\n',
    'no such address': get('/%ff'),
    'undecodable address': get('/api/v0/publishers/%ff/amp_config/'),
    'bad JSON': post('/api/v1/events/impressions/page_impression/'),
    'no key': get('/api/v1/tokeninfo/'),
    'unknown auction': get('/api/v1/auction/?a=1'),
    'broken redirect': get('/api/v1/redirect/?a=1'),
    pixel: get('/api/v1/pixel/x'),
    'lost link': get('/1'),
    preflight: 'OPTIONS /api/v1/auction/ HTTP/1.1\r\nHost: x\r\nOrigin: https://x.example\r\n\r\n',
    'wrong method': 'PUT /api/v1/auction/ HTTP/1.1\r\nHost: x\r\n\r\n',
    dashboard: get('/dashboard/'),
    'private route': get('/api/v1/me/'),
    health: get('/healthz'),
    metrics: get('/metrics'),
  }
  for (const [name, request] of Object.entries(raw)) {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
    socket.write(request)
    const [head = ''] = `${(await once(socket, 'data'))[0]}`.split('\r\n\r\n')
    socket.destroy()
    assert.equal(head.match(/^x-content-type-options: nosniff$/gim)?.length, 1, `${name}: ${head}`)
  }
})

// Answers wait in this process's memory, and each connection may have hundreds of them.
test('a client that reads no answer does not hold its connection forever', async (t) => {
  const { server } = api.app.http
  assert.ok(server.timeout > 60_000 && server.timeout < 600_000, `${server.timeout}`)
  const whole = server.timeout
  server.timeout = 200
  t.after(() => {
    server.timeout = whole
  })
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').pause()
  const [taken] = await once(server, 'connection')
  const requests = 200 // Together more than the system's buffers hold.
  socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests))
  await once(taken, 'close', { signal: AbortSignal.timeout(10_000) })
  socket.destroy()
})
