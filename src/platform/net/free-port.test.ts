import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { freePort } from './free-port.ts'

const HOST = '127.0.0.1'
const isLinux = process.platform === 'linux'

/** Local ports in TIME_WAIT, which the system assigns to nobody. */
function waitingPorts(): number[] {
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  const waiting = lines.map((line) => /^ *\d+: \w+:(\w{4}) \w+:\w{4} 06 /.exec(line)?.[1])
  return waiting.map((port) => Number.parseInt(port ?? '', 16))
}

test('a picked port stays reserved until it is listened on', async (t) => {
  const port = await freePort({ host: HOST, port: 0 })
  if (isLinux) assert.ok(waitingPorts().includes(port), 'the system may pick it again')
  const server = createServer().listen(port, HOST)
  await once(server, 'listening')
  t.after(() => server.close())
  assert.notEqual(await freePort({ host: HOST, port: 0 }), port)
})

test('a port in use is reported', async (t) => {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  await assert.rejects(freePort({ host: HOST, port }), { code: 'EADDRINUSE' })
})
