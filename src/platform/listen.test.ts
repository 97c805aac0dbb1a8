import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '../../test/database.ts'
import { openProxy } from '../../test/proxy.ts'
import { listen } from './listen.ts'
import { sql } from './sql.ts'

const CHANNELS = ['news']
const SOON_MS = 2_000

test('what is notified is heard, again after the connection broke', async (t) => {
  const db = await testDatabase(t)
  const { host, port } = db.connection
  const proxy = await openProxy({ path: `${host}/.s.PGSQL.${port}` }, 'pass')
  const heard: string[] = []
  let listening = Promise.withResolvers<void>()
  const listener = listen({
    connection: { ...db.connection, host: '127.0.0.1', port: proxy.port },
    applicationName: 'souk: test',
    channels: CHANNELS,
    onNotification: (channel, payload) => heard.push(`${channel} ${payload}`),
    onListening: () => listening.resolve(),
  })
  t.after(async () => {
    await listener.close()
    await proxy.close()
  })
  for (const payload of ['one', 'two']) {
    await listening.promise
    listening = Promise.withResolvers()
    await db.run(sql`select pg_notify('news', ${payload})`)
    while (heard.at(-1) !== `news ${payload}`) await sleep(5)
    proxy.setMode('refuse')
    proxy.setMode('pass')
  }
  assert.deepEqual(heard, ['news one', 'news two'])
})

test('a listener closes while its server is silent, away, or has just taken the connection', async (t) => {
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
      const listener = listen({ connection, applicationName, channels: CHANNELS, ...heard })
      await sleep(waitMs)
      const closed = await Promise.race([
        listener.close().then(() => 'closed'),
        sleep(SOON_MS, 'still open', { ref: false }),
      ])
      assert.equal(closed, 'closed', `port ${connection.port}, after ${waitMs} ms`)
    }
  }
})
