import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from './listen.ts'

/** A listener that waits for its server would wait forever. */
const SOON_MS = 30_000

test('a listener closes while its server is silent, down, or has just accepted the connection', async (t) => {
  const server = createServer((socket) => socket.on('error', () => undefined))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  for (const connection of [
    { user: 'x', database: 'x', host: '127.0.0.1', port, ssl: false },
    { user: 'x', database: 'x', host: '127.0.0.1', port: 1, ssl: false },
  ]) {
    for (const waitMs of [0, 1, 20]) {
      const heard = { onNotification: () => undefined, onListening: () => undefined }
      const applicationName = 'souk: test'
      const listener = listen({ connection, applicationName, channel: 'news', ...heard })
      await sleep(waitMs)
      const closed = await Promise.race([
        listener.close().then(() => 'closed'),
        sleep(SOON_MS, 'still open', { ref: false }),
      ])
      assert.equal(closed, 'closed', `port ${connection.port}, after ${waitMs} ms`)
    }
  }
})
