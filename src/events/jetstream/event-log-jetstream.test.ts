import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { LOOPBACK_CERTIFICATE } from '../../../test/support/certificate.ts'
import { type Scope, testDatabase } from '../../../test/support/database.ts'
import { type Nats, startNats } from '../../../test/support/nats.ts'
import { ownMs } from '../../../test/support/process-time.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { formatError } from '../../platform/errors/format-error.ts'
import { makeIdSource } from '../../platform/ids.ts'
import type { Database } from '../../platform/postgres/postgres.ts'
import { sql } from '../../platform/postgres/sql.ts'
import { EVENT_TYPE, type LogEvent, newEvent } from '../event.ts'
import type { EventLog } from '../event-log.ts'
import { openJetStreamEventLog } from './event-log-jetstream.ts'
import { EventStream, readStreamFacts } from './event-stream.ts'

const { next } = makeIdSource({ nodeId: 1, now: Date.now })
const makeEvents = (count: number): LogEvent[] =>
  Array.from({ length: count }, () =>
    newEvent({ id: next(), atMs: Date.now(), lane: 0, type: EVENT_TYPE.click }),
  )

interface World {
  readonly database: Database
  readonly nats: Nats
  readonly problems: unknown[]
  open(options?: { isCarrier?: boolean; installation?: string }): Promise<EventLog>
}

async function makeWorld(scope: Scope): Promise<World> {
  const database = await testDatabase(scope)
  const nats = await startNats(scope)
  const problems: unknown[] = []
  return {
    database,
    nats,
    problems,
    async open({ isCarrier = true, installation = 'one' } = {}) {
      const log = await openJetStreamEventLog({
        natsUrl: nats.url,
        installation,
        connection: database.connection,
        isCarrier,
        onProblem: (problem) => problems.push(problem),
      })
      scope.after(() => log.close())
      return log
    },
  }
}

async function storedIds(database: Database): Promise<string[]> {
  const rows = await database.rows<{ id: string }>(sql`select id from event order by id`)
  return rows.map(({ id }) => id)
}

async function untilStored(database: Database, events: readonly LogEvent[]): Promise<void> {
  while ((await storedIds(database)).length < events.length) await sleep(20)
  assert.deepEqual(await storedIds(database), events.map(({ id }) => id).sort())
}

/** Like a spool: repeats the same event until it is stored. */
async function insist(log: EventLog, event: LogEvent): Promise<void> {
  while (true) {
    const isStored = await log.append([event]).then(
      () => true,
      () => false,
    )
    if (isStored) return
    await sleep(20)
  }
}

test('a JetStream that is killed repeatedly neither loses nor doubles an event', async (t) => {
  const { database, nats, open } = await makeWorld(scopeOf(t))
  const logs = [await open(), await open()]
  const events: LogEvent[] = []
  let isKilling = true
  const appendMany = async (log: EventLog) => {
    while (isKilling) {
      const batch = makeEvents(8)
      events.push(...batch)
      await Promise.all(batch.map((event) => insist(log, event)))
    }
  }
  const appending = logs.map(appendMany)
  for (let kill = 0; kill < 3; kill += 1) {
    const before = events.length
    while (events.length < before + 400) await sleep(10)
    await nats.kill()
    await sleep(50)
    await nats.restart()
  }
  isKilling = false
  await Promise.all(appending)
  await untilStored(database, events)
})

test('a JetStream that is down at the start is reported, rejects appends and accepts them later', async (t) => {
  const { database, nats, problems, open } = await makeWorld(scopeOf(t))
  await nats.kill()
  const log = await open()
  assert.match(String(problems), /^Refusal: NATS_URL: JetStream is away \(.*ECONNREFUSED.*\)$/)
  assert.equal((problems[0] as Error).cause, undefined, 'the log would report it twice')
  const events = makeEvents(3)
  const start = ownMs()
  await assert.rejects(log.append(events), /JetStream is away/)
  assert(ownMs() - start < 1_000)
  assert.equal(log.isUnreachable(), true, 'notified before anything is appended')
  assert.deepEqual(await log.read({ lane: 0, position: '0', limit: 10 }), [])
  await nats.restart()
  for (const event of events) await insist(log, event)
  assert.equal(log.isUnreachable(), false)
  await untilStored(database, events)
})

test('a JetStream that went down is not reported as one that never existed', async (t) => {
  const { nats, open } = await makeWorld(scopeOf(t))
  const log = await open()
  await nats.kill()
  while (!log.isUnreachable()) await sleep(10)
  const message = 'NATS_URL: JetStream is away (the connection was lost)'
  await assert.rejects(log.append(makeEvents(1)), { message })
})

test('a stop during a connection attempt closes the connection once it exists', async (t) => {
  const { nats } = await makeWorld(scopeOf(t))
  const opened = Promise.withResolvers<void>()
  let asked = 0
  const gate = createServer(async (near) => {
    asked += 1
    near.on('error', () => undefined)
    await opened.promise
    const far = connect(Number(new URL(nats.url).port), '127.0.0.1')
    near.pipe(far).pipe(near)
    far.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  t.after(() => gate.close())
  await once(gate, 'listening')
  const { port } = gate.address() as AddressInfo
  const stream = await EventStream.open({
    natsUrl: `nats://127.0.0.1:${port}`,
    streamName: 'GATE',
    installation: 'one',
  })
  const before = asked
  while (asked === before) await sleep(5)
  const closed = stream.close()
  opened.resolve()
  await closed
})

test('a hanging server is retried without leaking connections', async (t) => {
  let asked = 0
  const server = createServer((socket) => {
    asked += 1
    socket.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const natsUrl = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stream = await EventStream.open({ natsUrl, streamName: 'SOUK', installation: 'one' })
  while (asked < 3) await sleep(10)
  const count = () => promisify(server.getConnections).call(server)
  assert.equal(await count(), 1)
  await stream.close()
  while ((await count()) > 0) await sleep(10)
})

test('any server of a cluster that answers will do, and errors of all are reported', async (t) => {
  const scope = scopeOf(t)
  const nats = await startNats(scope)
  const dead = ['nats://127.0.0.1:1', 'ws://127.0.0.1:2']
  const facts = (servers: readonly string[]) =>
    readStreamFacts(
      { natsUrl: servers.join(','), streamName: 'ANY', installation: 'one' },
      async () => 0,
    )
  assert.equal(await facts([...dead, nats.url]), null, 'it answers that there is no stream')
  const fault = await facts(dead).catch(formatError)
  assert.equal(fault, 'connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.1:2')
})

test('a server named by its address is verified by a certificate for that address', async (t) => {
  const nats = await startNats(scopeOf(t), { hasTls: true })
  const trusted = getCACertificates()
  setDefaultCACertificates([...trusted, LOOPBACK_CERTIFICATE])
  t.after(() => setDefaultCACertificates(trusted))
  const facts = (natsUrl: string) =>
    readStreamFacts({ natsUrl, streamName: 'ANY', installation: 'one' }, async () => 0)
  assert.equal(await facts(nats.url), null, 'it answers that there is no stream')
  await assert.rejects(facts(nats.url.replace('127.0.0.1', 'localhost')), /not match certificate/)
})

test('the nearest server, which has lost its cluster, keeps no node from the others', async (t) => {
  const scope = scopeOf(t)
  const lost = await startNats(scope, { hasJetStream: false })
  const port = Number(new URL((await startNats(scope)).url).port)
  const far = createServer(async (client) => {
    const server = connect(port, '127.0.0.1').on('error', () => client.destroy())
    client.on('error', () => server.destroy()).pipe(server)
    await sleep(20)
    server.pipe(client)
  }).listen(0, '127.0.0.1')
  scope.after(async () => void far.close())
  await once(far, 'listening')
  const natsUrl = `${lost.url},nats://127.0.0.1:${(far.address() as AddressInfo).port}`
  const stream = await EventStream.open({ natsUrl, streamName: 'SOUK', installation: 'one' })
  scope.after(() => stream.close())
  for (let tries = 0; tries < 500 && stream.isUnreachable(); tries += 1) await sleep(20)
  assert.equal(stream.isUnreachable(), false)
})

test('a server without JetStream is retried without leaking connections', async (t) => {
  const scope = scopeOf(t)
  const nats = await startNats(scope, { hasJetStream: false })
  const listening = t.mock.method(AbortSignal.prototype, 'addEventListener')
  const stream = await EventStream.open({
    natsUrl: nats.url,
    streamName: 'SOUK',
    installation: 'one',
  })
  scope.after(() => stream.close())
  while (listening.mock.callCount() < 20) await sleep(20)
  const signals = new Set(listening.mock.calls.map((call) => call.this as AbortSignal))
  const listeners = [...signals].map((signal) => getEventListeners(signal, 'abort').length)
  assert.ok(Math.max(...listeners) <= 2, `${listeners} listeners`)
  assert.equal(stream.isUnreachable(), true)
})

test('when the carrier ends, another process continues', async (t) => {
  const { database, open } = await makeWorld(scopeOf(t))
  const [first, second] = [await open(), await open()]
  const events = makeEvents(4)
  await first.append(events.slice(0, 2))
  await untilStored(database, events.slice(0, 2))
  await first.close()
  await second.append(events.slice(2))
  await untilStored(database, events)
})

test('events appended before closing are copied before the end', async (t) => {
  const { database, open } = await makeWorld(scopeOf(t))
  const log = await open()
  const events = makeEvents(3)
  await log.append(events.slice(0, 1))
  await untilStored(database, events.slice(0, 1))
  await log.append(events.slice(1))
  await log.close()
  assert.deepEqual(await storedIds(database), events.map(({ id }) => id).sort())
})

test("a database restored from a backup gets the stream's events again, once", async (t) => {
  const { database, open } = await makeWorld(scopeOf(t))
  const log = await open()
  const events = makeEvents(10)
  for (const event of events) await log.append([event])
  await untilStored(database, events)
  await log.close()
  await database.run(sql`delete from event where id >= ${events[7]?.id}`)
  await database.run(sql`update stream_position set position = 2`)
  await open()
  await untilStored(database, events)
})

test('a recreated stream is copied from its beginning', async (t) => {
  const { database, nats, open } = await makeWorld(scopeOf(t))
  const events = makeEvents(6)
  const first = await open()
  for (const event of events.slice(0, 4)) await first.append([event])
  await untilStored(database, events.slice(0, 4))
  await first.close()
  await nats.forget()
  const second = await open()
  await second.append(events.slice(4))
  await untilStored(database, events)
})

test('a stream that is deleted under its log is recreated', async (t) => {
  const { database, nats, open } = await makeWorld(scopeOf(t))
  const log = await open()
  const events = makeEvents(6)
  for (const event of events.slice(0, 3)) await log.append([event])
  await untilStored(database, events.slice(0, 3))
  await nats.deleteStreams()
  for (const event of events.slice(3)) await insist(log, event)
  await untilStored(database, events)
})

test('a stream that another process recreates is copied from its beginning', async (t) => {
  const { database, nats, open } = await makeWorld(scopeOf(t))
  await open() // It appends nothing, so it gets no notice that nobody stores its events.
  const edge = await open({ isCarrier: false })
  const events = makeEvents(9)
  for (const event of events.slice(0, 4)) await edge.append([event])
  await untilStored(database, events.slice(0, 4))
  await nats.deleteStreams()
  for (const event of events.slice(4)) await insist(edge, event)
  await untilStored(database, events)
})

test('a stream that lost its newest messages is copied from its present state', async (t) => {
  const { database, nats, open } = await makeWorld(scopeOf(t))
  const log = await open()
  const events = makeEvents(9)
  for (const event of events.slice(0, 2)) await log.append([event])
  await untilStored(database, events.slice(0, 2))
  await nats.backUp()
  for (const event of events.slice(2, 6)) await insist(log, event)
  await untilStored(database, events.slice(0, 6))
  await nats.setBack()
  for (const event of events.slice(6)) await insist(log, event)
  await untilStored(database, events)
})

test("the same holds if new messages got the lost ones' numbers first", async (t) => {
  const { database, nats, problems, open } = await makeWorld(scopeOf(t))
  const first = await open()
  const events = makeEvents(11)
  for (const event of events.slice(0, 2)) await first.append([event])
  await untilStored(database, events.slice(0, 2))
  await nats.backUp()
  for (const event of events.slice(2, 6)) await insist(first, event)
  await untilStored(database, events.slice(0, 6))
  await first.close()
  await nats.setBack()
  const edge = await open({ isCarrier: false })
  for (const event of events.slice(6)) await edge.append([event])
  assert.equal(problems.length, 0)
  await open()
  await untilStored(database, events)
  assert.match(String(problems), /stream SOUK lost messages/)
})

test("another installation's stream is neither copied nor written to", async (t) => {
  const { database, nats, problems, open } = await makeWorld(scopeOf(t))
  const events = makeEvents(2)
  const [theirs, ours] = events
  assert(theirs && ours)
  await (await open({ isCarrier: false, installation: 'other' })).append([theirs])
  await nats.unmarkStreams()
  await (await open({ isCarrier: false, installation: 'other' })).close()
  const log = await open()
  await assert.rejects(log.append([ours]), /the stream SOUK of NATS_URL holds events of another/)
  assert.match(String(problems), /the stream SOUK of NATS_URL holds events of another/)
  await open({ installation: 'other' })
  await untilStored(database, [theirs])
})

test('an event that cannot be stored is set aside, and the stream continues', async (t) => {
  const scope = scopeOf(t)
  const { database, nats, problems, open } = await makeWorld(scope)
  const stream = await EventStream.open({
    natsUrl: nats.url,
    streamName: 'SOUK',
    installation: 'one',
  })
  scope.after(() => stream.close())
  const [before, after] = makeEvents(2)
  assert(before && after)
  const tooLarge = JSON.stringify({ ...makeEvents(1)[0], pubId: 2 ** 40 })
  const texts = [JSON.stringify(before), 'no event', tooLarge]
  await stream.publish(0, Buffer.from(texts.join('\n')), 'one')
  await stream.publish(0, Buffer.from(JSON.stringify(after)), 'two')
  await open()
  await untilStored(database, [before, after])
  const refused = await database.rows<{ event: string }>(sql`select event from refused_event`)
  assert.deepEqual(
    refused.map(({ event }) => event.includes(String(2 ** 40)) || event),
    ['no event', true],
  )
  assert.equal(problems.length, 2)
})

test('messages are deleted a week after they were copied, and not before', async (t) => {
  const { database, nats, open } = await makeWorld(scopeOf(t))
  const first = await open()
  const events = makeEvents(6)
  for (const event of events.slice(0, 5)) await first.append([event])
  await untilStored(database, events.slice(0, 5))
  await first.close()
  assert.equal(await nats.countMessages(), 5)

  const days = await database.run(sql`
    update stream_day set day = current_date - 7, position = 3`)
  assert.equal(days, 1)
  const second = await open()
  await second.append(events.slice(5))
  while ((await nats.countMessages()) !== 3) await sleep(20)
  assert.deepEqual(await storedIds(database), events.map(({ id }) => id).sort())
})
