import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { runOpenLoad } from './load.ts'

test('a constant-rate run ends once every request is answered, also for a fractional length', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 2 }).end('ok')
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const load = { port, connections: 2, status: 200, seconds: 0.1 }
  const { answers } = await runOpenLoad({
    ...load,
    rate: 95,
    requests: [{ method: 'GET', path: '/', headers: {} }],
  })
  assert.equal(answers, 10)
})
