import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Scope, testDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/market.ts'
import { startNats } from '../../../test/support/nats.ts'
import { openProxy } from '../../../test/support/proxy.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { makeIdSource } from '../../platform/ids.ts'
import type { Connection, Database } from '../../platform/postgres/postgres.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { EVENT_TYPE, newEvent } from '../event.ts'
import { eventToJson } from '../event-json.ts'
import { EventLogCarrier } from './event-log-carrier.ts'
import { EventStream, type StreamMessage } from './event-stream.ts'

test('the last message is carried at once, even if nothing follows', async (t) => {
  const db = await testDatabase(t)
  const { sent } = carry(t, db, { payloads: makePayloads(5) })
  await until(async () => (await carried(db)) === sent)
})

test('after a break the stream is read from the stored position, and each event is stored once', async (t) => {
  const db = await testDatabase(t)
  const { sent, problems } = carry(t, db, { payloads: makePayloads(7), breaksOnceAfter: 3 })
  await until(async () => (await carried(db)) === sent)
  assert.ok(problems.map(String).includes('Error: the stream broke'))
})

test('a copy of the stream with different numbering is read from its beginning', async (t) => {
  const db = await testDatabase(t)
  const [one, two, three, lacked] = makePayloads(4)
  assert(one && two && three && lacked)
  const first = carry(t, db, { payloads: [one, two, three] })
  await until(async () => (await carried(db)) === 3)
  await first.close()
  // Another server of the cluster, which was separated from the first one.
  const { problems } = carry(t, db, { payloads: [one, lacked, two, three] })
  await until(async () => (await carried(db)) === 4)
  assert.deepEqual(problems.map(String), ['Error: stream test lost messages: it is read again'])
})

test('a database that vanishes is given up, and its missing events are read again', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const proxy = await openProxy(socketOf(db), 'pass')
  scope.after(() => proxy.close())
  const connection = { ...db.connection, host: '127.0.0.1', port: proxy.port }
  const { sent, problems } = carry(scope, db, {
    payloads: makePayloads(4),
    connection,
    beforeMessage: (place) => {
      if (place === 2 && problems.length === 0) proxy.setMode('hang')
    },
  })
  while (problems.length === 0) await sleep(20)
  assert.match(String(problems[0]), /timeout/)
  proxy.setMode('pass')
  await until(async () => (await carried(db)) === sent)
})

test('a frozen carrier does not keep another process from carrying', async (t) => {
  const db = await testDatabase(t)
  const stands = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<void>()
  t.after(() => goesOn.resolve())
  const payloads = makePayloads(3)
  const { problems } = carry(t, db, {
    ...{ payloads, silenceMsMax: 100 },
    beforeReading: () => {
      stands.resolve()
      return goesOn.promise
    },
  })
  await stands.promise
  carry(t, db, { payloads })
  await until(async () => (await carried(db)) === 3)
  goesOn.resolve()
  await until(async () => problems.length > 0)
  assert.equal(await carried(db), 3)
})

test('a carrier that vanishes in the middle of a batch does not block others', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const proxy = await openProxy(socketOf(db), 'pass')
  scope.after(() => proxy.close())
  const connection = { ...db.connection, host: '127.0.0.1', port: proxy.port }
  const payloads = makePayloads(3)
  const vanished = proxy.hangAt('append_events')
  const { problems } = carry(scope, db, { payloads, connection, silenceMsMax: 100 })
  await vanished
  carry(scope, db, { payloads })
  await until(async () => (await carried(db)) === 3)
  assert.deepEqual(problems, []) // The server ended the session long before it gave up the server.
})

test('a carrier without work stays the carrier', async (t) => {
  const db = await testDatabase(t)
  const { sent, problems } = carry(t, db, {
    // A silence longer than a busy machine suspends this process.
    ...{ payloads: makePayloads(2), silenceMsMax: 2_000 },
    beforeMessage: (place) => (place === 1 ? sleep(4_000) : undefined),
  })
  await until(async () => (await carried(db)) === 1)
  const before = problems.length // The database of a busy machine may have accepted it late.
  await until(async () => (await carried(db)) === sent)
  assert.deepEqual(problems.slice(before), [])
})

const { next } = makeIdSource({ nodeId: 1, now: Date.now })

const makePayloads = (count: number): Buffer[] =>
  Array.from({ length: count }, () =>
    Buffer.from(
      eventToJson(newEvent({ id: next(), atMs: Date.now(), lane: 0, type: EVENT_TYPE.click })),
    ),
  )

/** A carrier over a stream that yields these messages and then neither ends nor continues. */
function carry(
  scope: Scope,
  db: Database,
  script: {
    readonly payloads: readonly Buffer[]
    readonly breaksOnceAfter?: number
    readonly connection?: Connection
    readonly silenceMsMax?: number
    readonly beforeReading?: () => Promise<void>
    readonly beforeMessage?: (place: number) => unknown
  },
) {
  const { payloads } = script
  let isBroken = script.breaksOnceAfter === undefined
  async function* read(after: number, until: AbortSignal): AsyncGenerator<StreamMessage> {
    for (const [place, payload] of payloads.entries()) {
      if (place + 1 <= after) continue
      if (!isBroken && place === script.breaksOnceAfter) {
        isBroken = true
        await sleep(50) // The earlier messages are stored by now.
        throw new Error('the stream broke')
      }
      await script.beforeMessage?.(place)
      yield { sequence: place + 1, payload }
    }
    await new Promise((resolve) => until.addEventListener('abort', resolve, { once: true }))
  }
  const problems: unknown[] = []
  const stream = {
    isUnreachable: () => false,
    created: async () => 'once',
    read,
    lastSequence: async () => {
      await script.beforeReading?.()
      return payloads.length
    },
    cut: async () => undefined,
  }
  const carrier = new EventLogCarrier({
    stream,
    streamName: 'test',
    connection: script.connection ?? db.connection,
    ...(script.silenceMsMax === undefined ? {} : { silenceMsMax: script.silenceMsMax }),
    onCarried: () => undefined,
    onProblem: (error) => problems.push(error),
  })
  scope.after(() => carrier.close())
  const close = () => carrier.close()
  return { sent: payloads.length, problems: problems as readonly unknown[], close }
}

function socketOf({ connection: { host, port } }: Database) {
  return { path: `${host}/.s.PGSQL.${port}` }
}

async function carried(db: Database): Promise<number> {
  const row = await db.row<{ events: number }>(sql`select count(*)::int as events from event`)
  return row?.events ?? 0
}

test('a user without permission to read the stream gets the same message each time', async (t) => {
  const { url: natsUrl } = await startNats(t, { denied: '$JS.API.CONSUMER.>' })
  const stream = await EventStream.open({ natsUrl, streamName: 'SOUK', installation: 'one' })
  t.after(() => stream.close())
  for (let n = 0; n < 2; n += 1) {
    const reading = stream.read(0, t.signal).next()
    await assert.rejects(reading, /^Refusal: NATS_URL: its user may not make consumers/)
  }
})
