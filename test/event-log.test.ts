/** The contract of the event log, run on every implementation (src/events/event-log.ts). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_TYPE, type LogEvent, newEvent, type StoredEvent } from '../src/events/event.ts'
import { type EventLog, EventRefused } from '../src/events/event-log.ts'
import { openPostgresEventLog } from '../src/events/event-log-postgres.ts'
import { openJetStreamEventLog } from '../src/events/jetstream/event-log-jetstream.ts'
import { makeIdSource } from '../src/platform/ids.ts'
import type { Connection } from '../src/platform/postgres/postgres.ts'
import { identifier, sql } from '../src/platform/postgres/sql.ts'
import { type Scope, testDatabase } from './support/database.ts'
import { startNats } from './support/nats.ts'
import { scopeOf } from './support/scope.ts'

/** Opens any number of logs over one store, like several processes. */
type OpenLogs = (scope: Scope) => Promise<() => Promise<EventLog>>

const implementations: { name: string; openLogs: OpenLogs }[] = [
  { name: 'PostgreSQL', openLogs: openPostgresLogs },
  { name: 'JetStream', openLogs: openJetStreamLogs },
]

/** A database that formats dates for other clients differently from ours. */
async function openForeignDatabase(scope: Scope): Promise<Connection> {
  const db = await testDatabase(scope)
  const name = identifier(String(db.connection.database))
  await db.run(sql`alter database ${name} set datestyle to 'SQL, DMY'`)
  return db.connection
}

async function openPostgresLogs(scope: Scope): Promise<() => Promise<EventLog>> {
  const connection = await openForeignDatabase(scope)
  return async () => {
    const log = openPostgresEventLog(connection)
    scope.after(() => log.close())
    return log
  }
}

async function openJetStreamLogs(scope: Scope): Promise<() => Promise<EventLog>> {
  const connection = await openForeignDatabase(scope)
  const { url } = await startNats(scope)
  return async () => {
    const log = await openJetStreamEventLog({
      natsUrl: url,
      installation: 'one',
      connection,
      isCarrier: true,
      onProblem: () => undefined, // A busy machine's database may answer late; it is asked again.
    })
    scope.after(() => log.close())
    return log
  }
}

const { next } = makeIdSource({ nodeId: 1, now: Date.now })
function makeEvents(count: number, fields: Partial<LogEvent> = {}): LogEvent[] {
  const atMs = Date.now()
  const lane = 0
  const type = EVENT_TYPE.click
  return Array.from({ length: count }, () => newEvent({ id: next(), atMs, lane, type, ...fields }))
}

/** All events of a lane, once there are `count`; some logs show them a little after the append. */
async function readAll(log: EventLog, lane: number, count: number): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  while (true) {
    const events = await log.read({ lane, position: all.at(-1)?.seq ?? '0', limit: 1_000 })
    all.push(...events)
    if (events.length === 0 && all.length >= count) return all
  }
}

for (const { name, openLogs } of implementations) {
  test(`${name}: every field of an event survives a round trip`, async (t) => {
    const log = await (await openLogs(scopeOf(t)))()
    const [event] = makeEvents(1, {
      atMs: Date.UTC(2026, 1, 28, 23, 59, 59, 999),
      type: EVENT_TYPE.click,
      reason: 3,
      pubId: 2_147_483_647,
      sessionKey: Buffer.from('00ff10aa', 'hex'),
      auctionId: '9223372036854775807',
      resultNumber: Buffer.alloc(16, 7),
      merchId: 1,
      campaignId: 9,
      offerId: '9007199254740993',
      model: 1,
      termsAmount: Number.MAX_SAFE_INTEGER,
      sharePpm: 750_000,
      leaseId: '12345678901',
      reservedMicros: 0,
      clickId: Buffer.alloc(16, 1),
      visitorKey: Buffer.alloc(16, 2),
      addressKey: Buffer.alloc(0),
      resultAgeMs: 86_400_001,
      device: 2,
      uaFamily: 'null',
      country: 'GB',
      consent: 1,
      url: 'https://shop.example/?a="b"\\{},🛒',
      urlKey: Buffer.alloc(16, 255),
      referrer: '',
      u1: ' a,b ',
      utmSource: '{}',
      body: '{"lines": [{"name": "A \\"B\\" \\\\ 🛒", "quantity": 1}]}',
    })
    assert(event)
    await log.append([event])

    const [read] = await readAll(log, event.lane, 1)
    assert(read)
    const { seq, day, ...fields } = read
    assert.deepEqual(fields, event)
    assert.equal(day, '2026-02-28')
    assert.match(seq, /^[1-9][0-9]*$/)
  })

  test(`${name}: any millisecond survives a round trip, also before 1970 and after 2038`, async (t) => {
    const log = await (await openLogs(scopeOf(t)))()
    const times = [0, 1, 999, 1_000_001, -1, Date.UTC(2039, 0, 1, 0, 0, 0, 123)]
    for (let n = 0; n < 500; n += 1) times.push(Date.UTC(2026, 0, 1) + n * 86_399_993)
    const events = times.flatMap((atMs) => makeEvents(1, { atMs }))
    await log.append(events)
    assert.deepEqual(
      (await readAll(log, 0, times.length)).map(({ atMs }) => atMs),
      times,
    )
  })

  test(`${name}: text that no database accepts is stored with a replacement character`, async (t) => {
    const log = await (await openLogs(scopeOf(t)))()
    const body = JSON.stringify({ 'k\0': ['\ud800', 'ok\\u0000', 'x\0y'] })
    await log.append(makeEvents(1, { u1: 'a\0b', url: 'half \udc00 pair', body }))
    const [read] = await readAll(log, 0, 1)
    assert.equal(read?.u1, 'a\ufffdb')
    assert.equal(read?.url, 'half \ufffd pair')
    assert.deepEqual(JSON.parse(read?.body ?? ''), {
      'k\ufffd': ['\ufffd', 'ok\\u0000', 'x\ufffdy'],
    })
  })

  test(`${name}: an event that can never be stored is refused, its neighbours are not`, async (t) => {
    const log = await (await openLogs(scopeOf(t)))()
    const good = makeEvents(20)
    const bad = [
      ...makeEvents(1, { pubId: 2 ** 40 }),
      ...makeEvents(1, { auctionId: { a: 1 } as unknown as string }),
    ]
    const appends = [...good, ...bad].map((event) => log.append([event]))
    const results = await Promise.allSettled(appends)
    const refused = results.filter((result) => result.status === 'rejected')
    assert.equal(refused.length, bad.length)
    assert(refused.every(({ reason }) => reason instanceof EventRefused))
    assert.deepEqual(
      (await readAll(log, 0, good.length)).map(({ id }) => id).sort(),
      good.map(({ id }) => id).sort(),
    )
  })

  test(`${name}: an event that is appended again, with any others, is stored once`, async (t) => {
    const open = await openLogs(scopeOf(t))
    const [log, other] = [await open(), await open()]
    const events = makeEvents(30)
    const again = (start: number, end: number) => events.slice(start, end)
    await Promise.all([
      log.append(events),
      log.append(again(0, 10)),
      other.append(events),
      other.append(again(5, 25).reverse()),
    ])
    await log.append([...again(3, 4), ...makeEvents(1), ...again(3, 4)])
    await other.append(makeEvents(1, { u1: 'last' }))
    const seen: StoredEvent[] = []
    while (seen.at(-1)?.u1 !== 'last') seen.push(...(await readAll(log, 0, 32)).slice(seen.length))
    assert.deepEqual(
      seen
        .map(({ id }) => id)
        .filter((id) => events.some((event) => event.id === id))
        .sort(),
      events.map(({ id }) => id).sort(),
    )
    assert.equal(seen.length, events.length + 2)
  })

  test(`${name}: events of one append stay together in their order`, async (t) => {
    const log = await (await openLogs(scopeOf(t)))()
    const groups = Array.from({ length: 50 }, () => makeEvents(7))
    await Promise.all(groups.map((group) => log.append(group)))
    const ids = (await readAll(log, 0, 350)).map(({ id }) => id)
    for (const group of groups) {
      const start = ids.indexOf(group[0]?.id ?? '')
      assert.deepEqual(
        ids.slice(start, start + group.length),
        group.map(({ id }) => id),
      )
    }
  })

  test(`${name}: any number of events may be appended at once`, async (t) => {
    const log = await (await openLogs(scopeOf(t)))()
    const events = makeEvents(3_001)
    await log.append(events)
    assert.deepEqual(
      (await readAll(log, 0, events.length)).map(({ id }) => id),
      events.map(({ id }) => id),
    )
    await log.append([])
  })

  test(`${name}: a reader that stores its position misses nothing while others append`, async (t) => {
    const open = await openLogs(scopeOf(t))
    const lanes = [0, 3, 15]
    const appended = new Map(lanes.map((lane) => [lane, new Set<string>()]))
    let isAppending = true

    const writer = async (log: EventLog) => {
      for (let round = 0; round < 30; round += 1) {
        // Large and small batches mixed: a small one that starts later commits first unless
        // prevented.
        const batches = [200, 1, 1].map((count, index) =>
          lanes.flatMap((lane) => makeEvents(count, { lane: lanes[(lane + index) % 3] ?? 0 })),
        )
        await Promise.all(batches.map((batch) => log.append(batch)))
        for (const { lane, id } of batches.flat()) appended.get(lane)?.add(id)
      }
    }
    const reader = async (log: EventLog, lane: number) => {
      const seen: StoredEvent[] = []
      while (true) {
        const isComplete = !isAppending && seen.length >= (appended.get(lane)?.size ?? 0)
        const events = await log.read({ lane, position: seen.at(-1)?.seq ?? '0', limit: 50 })
        seen.push(...events)
        if (events.length === 0 && isComplete) return seen
      }
    }

    const readerLog = await open()
    const reading = lanes.map((lane) => reader(readerLog, lane))
    await Promise.all(Array.from({ length: 4 }, async () => writer(await open())))
    isAppending = false
    for (const [index, lane] of lanes.entries()) {
      const seen = (await reading[index]) ?? []
      assert.deepEqual(new Set(seen.map(({ id }) => id)), appended.get(lane))
      assert(seen.every((event) => event.lane === lane))
      assert(seen.every(({ seq }, at) => at === 0 || BigInt(seq) > BigInt(seen[at - 1]?.seq ?? 0)))
      assert.deepEqual(
        await readAll(readerLog, lane, seen.length),
        seen,
        'a second reading is the same',
      )
    }
  })

  test(`${name}: readers of this and of other processes are notified of an append`, async (t) => {
    const open = await openLogs(scopeOf(t))
    const [here, elsewhere] = [await open(), await open()]
    const hearOf = (log: EventLog) =>
      new Promise<void>((resolve) => log.onAppended((lane) => lane === 9 && resolve()))
    const hears = [hearOf(here), hearOf(elsewhere)]
    await here.append(makeEvents(1, { lane: 9 }))
    await Promise.all(hears)
  })

  test(`${name}: events appended before closing are stored, later appends are refused`, async (t) => {
    const open = await openLogs(scopeOf(t))
    const log = await open()
    const events = makeEvents(100)
    const appending = Promise.all(events.map((event) => log.append([event])))
    await log.close()
    await appending
    await assert.rejects(log.append(makeEvents(1)))
    assert.equal((await readAll(await open(), 0, events.length)).length, events.length)
  })
}
