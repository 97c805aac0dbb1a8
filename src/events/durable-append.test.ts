import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scope, testDatabase } from '../../test/support/database.ts'
import { openProxy, type ProxyMode, type TcpProxy } from '../../test/support/proxy.ts'
import { scopeOf } from '../../test/support/scope.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { makeIdSource } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { openSpool, type Spool } from '../platform/spool/spool.ts'
import { BEACON_TIMEOUT_MS, DurableAppend, REDIRECT_TIMEOUT_MS } from './durable-append.ts'
import { EVENT_TYPE, type LogEvent, newEvent } from './event.ts'
import { EventRefused, LogUnavailable } from './event-log.ts'
import { openPostgresEventLog } from './event-log-postgres.ts'

const { next } = makeIdSource({ nodeId: 1, now: Date.now })

/** Long enough for a busy machine: only an answer that never comes exceeds it. */
const LONG_TIMEOUT = { timeoutMs: 60_000 }
/** A call that took this long waited for the log. */
const AT_ONCE_MS = 20_000
/** The time that a supervisor gives a service to stop before it kills it. */
const STOP_MS = 10_000

function makeEvents(count: number, fields: Partial<LogEvent> = {}): LogEvent[] {
  const type = EVENT_TYPE.click
  return Array.from({ length: count }, () =>
    newEvent({ id: next(), atMs: Date.now(), lane: 0, type, ...fields }),
  )
}

interface World {
  readonly database: Database
  readonly proxy: TcpProxy
  readonly spool: Spool
  readonly durable: DurableAppend
  readonly counts: { spooled: number; drained: number; refused: number; unavailable: number }
  readonly accepting: { is: boolean }
  readonly problems: unknown[]
  readonly states: boolean[]
  readonly owners: string[]
}

/** The real log behind a proxy, with the real spool in the test's folder. */
async function makeWorld(
  scope: Scope,
  { mode = 'pass' as ProxyMode, bytesMax = 1_000_000, root = '', doubtMs = 3_600_000 } = {},
): Promise<World> {
  const database = await testDatabase(scope)
  const { host = '', port = 0 } = database.connection
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const proxy = await openProxy(target, mode)
  const log = openPostgresEventLog({
    ...database.connection,
    host: '127.0.0.1',
    port: proxy.port,
  })
  const problems: unknown[] = []
  const spool = await openSpool({
    root: root || (await temporaryFolder(scope, 'spool-')),
    bytesMax,
    onDamage: (problem) => problems.push(problem),
  })
  const counts = { spooled: 0, drained: 0, refused: 0, unavailable: 0 }
  const count = (name: keyof typeof counts) => (events: number) => {
    counts[name] += events
  }
  const accepting = { is: true }
  const states: boolean[] = []
  const owners: string[] = []
  const durable = new DurableAppend({
    log,
    spool,
    counters: {
      spooled: count('spooled'),
      drained: count('drained'),
      refused: count('refused'),
      unavailable: count('unavailable'),
    },
    isAccepting: () => accepting.is,
    onLogState: ({ isUnreachable }) => states.push(isUnreachable),
    onProblem: (problem) => problems.push(problem),
    onAdoptedDrained: async (owner) => {
      owners.push(owner)
    },
    doubtMs,
  })
  const world = { database, proxy, spool, durable, counts, accepting, problems, states, owners }
  scope.after(async () => {
    await stop(world)
    await log.close()
    await proxy.close()
  })
  return world
}

async function stop({ durable, spool }: World, lastWord: LogEvent | null = null): Promise<void> {
  await durable.close(lastWord)
  await spool.close()
}

async function storedIds(database: Database): Promise<string[]> {
  const rows = await database.rows<{ id: string }>(sql`select id from event order by id`)
  return rows.map(({ id }) => id)
}

/** Waits until the drainer has moved everything to the log. */
async function untilDrained({ spool }: World): Promise<void> {
  while (spool.hasWork()) await new Promise((resolve) => setTimeout(resolve, 10))
}

const idsOf = (events: readonly LogEvent[]) => events.map(({ id }) => id).sort()

test('while the log answers, nothing is written to the spool', async (t) => {
  const world = await makeWorld(scopeOf(t))
  const events = makeEvents(50)
  await Promise.all(events.map((event) => world.durable.append([event], LONG_TIMEOUT)))
  assert.equal(world.counts.spooled, 0)
  assert(world.durable.isSpoolEmpty())
  assert.deepEqual(await storedIds(world.database), idsOf(events))
})

test('a slow log delays a redirect by its timeout and stores the event once', async (t) => {
  const world = await makeWorld(scopeOf(t))
  await world.durable.append(makeEvents(1, { lane: 1 }), LONG_TIMEOUT)
  const holder = await world.database.reserve()
  // Another node's unfinished batch: it holds the lane.
  await holder.run(sql`select pg_advisory_lock(${0x534c414e}, 0)`)
  const events = makeEvents(3)
  const start = performance.now()
  await world.durable.append(events, { timeoutMs: REDIRECT_TIMEOUT_MS })
  const tookMs = performance.now() - start
  assert(tookMs >= REDIRECT_TIMEOUT_MS - 1 && tookMs < AT_ONCE_MS, `${tookMs} ms`)
  assert.equal(world.counts.spooled, 3)
  assert(!world.durable.isSpoolEmpty())
  holder.release(new Error('ends the session, and the lock with it'))
  await untilDrained(world)
  const stored = await world.database.rows<{ id: string }>(sql`
    select id from event where lane = 0 order by id`)
  assert.deepEqual(
    stored.map(({ id }) => id),
    idsOf(events),
  )
})

test('a log that is down from the start loses nothing and delays nobody', async (t) => {
  const world = await makeWorld(scopeOf(t), { mode: 'refuse' })
  const events = makeEvents(200)
  const start = performance.now()
  await Promise.all(events.map((event) => world.durable.append([event], LONG_TIMEOUT)))
  assert(performance.now() - start < AT_ONCE_MS, 'they did not wait for the log')
  assert.equal(world.counts.spooled, 200)
  assert(world.durable.isLogUnreachable())
  world.proxy.setMode('pass')
  await untilDrained(world)
  assert.deepEqual(await storedIds(world.database), idsOf(events))
  assert.equal(world.counts.drained, 200)
  assert.deepEqual(world.states, [true, false])
  const later = makeEvents(1)
  await world.durable.append(later, LONG_TIMEOUT)
  assert.equal(world.counts.spooled, 200, 'the log takes events directly again')
})

test('an append gives up a hanging log after its timeout', async (t) => {
  const world = await makeWorld(scopeOf(t))
  const before = makeEvents(1)
  await world.durable.append(before, LONG_TIMEOUT)
  world.proxy.setMode('hang')
  const events = makeEvents(20)
  const start = performance.now()
  for (const event of events) {
    await world.durable.append([event], { timeoutMs: REDIRECT_TIMEOUT_MS })
  }
  assert(performance.now() - start < AT_ONCE_MS)
  world.proxy.setMode('pass')
  await untilDrained(world)
  assert.deepEqual(await storedIds(world.database), idsOf([...before, ...events]))
})

test('repeated connection failures neither lose nor double an event', async (t) => {
  const world = await makeWorld(scopeOf(t))
  const events: LogEvent[] = []
  let isBreaking = true
  const breaking = (async () => {
    while (isBreaking) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      world.proxy.setMode('refuse')
      await new Promise((resolve) => setTimeout(resolve, 5))
      world.proxy.setMode('pass')
    }
  })()
  for (let round = 0; round < 60 || world.counts.spooled === 0; round += 1) {
    const batch = makeEvents(20, { lane: round % 16 })
    await Promise.all(batch.map((event) => world.durable.append([event], { timeoutMs: 25 })))
    events.push(...batch)
  }
  isBreaking = false
  await breaking
  await untilDrained(world)
  assert.deepEqual(await storedIds(world.database), idsOf(events))
})

test('with the log down and the spool full, events are refused as unavailable', async (t) => {
  const world = await makeWorld(scopeOf(t), { mode: 'refuse', bytesMax: 300 })
  const [first, second] = [makeEvents(1), makeEvents(20)]
  await world.durable.append(first, { timeoutMs: BEACON_TIMEOUT_MS })
  await assert.rejects(
    world.durable.append(second, { timeoutMs: REDIRECT_TIMEOUT_MS }),
    LogUnavailable,
  )
  assert.equal(world.counts.unavailable, 20)
  world.proxy.setMode('pass')
  await untilDrained(world)
  await world.durable.append(second, LONG_TIMEOUT)
  assert.deepEqual(await storedIds(world.database), idsOf([...first, ...second]))
})

test('a log that failed while the spool refused as well does not count as down forever', async (t) => {
  const world = await makeWorld(scopeOf(t), { mode: 'refuse', bytesMax: 0, doubtMs: 1 })
  await assert.rejects(world.durable.append(makeEvents(1), LONG_TIMEOUT), LogUnavailable)
  world.proxy.setMode('pass')
  await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(world.durable.isLogUnreachable(), false, 'accepts a caller that asks first')
  const later = makeEvents(1)
  await world.durable.append(later, LONG_TIMEOUT)
  assert.deepEqual(await storedIds(world.database), idsOf(later))
})

test('a spooled event that the log will never accept is set aside once', async (t) => {
  const world = await makeWorld(scopeOf(t))
  const bad = () => makeEvents(1, { auctionId: { a: 1 } as unknown as string })
  await assert.rejects(world.durable.append(bad(), LONG_TIMEOUT), EventRefused)

  world.proxy.setMode('refuse')
  const good = makeEvents(10)
  for (const events of [good.slice(0, 5), bad(), good.slice(5)]) {
    await world.durable.append(events, { timeoutMs: BEACON_TIMEOUT_MS })
  }
  const drain = t.mock.method(world.spool, 'drain')
  while (drain.mock.callCount() < 3) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(world.counts.refused, 0, 'it comes again with the others')
  world.proxy.setMode('pass')
  await untilDrained(world)
  assert.deepEqual(await storedIds(world.database), idsOf(good))
  assert.equal(world.counts.refused, 1)
  assert.equal(world.problems.filter((problem) => problem instanceof EventRefused).length, 1)
})

test('a process whose number was taken over accepts nothing and drains its spool', async (t) => {
  const world = await makeWorld(scopeOf(t), { mode: 'refuse' })
  const events = makeEvents(5)
  await world.durable.append(events, { timeoutMs: BEACON_TIMEOUT_MS })
  world.accepting.is = false
  await assert.rejects(
    world.durable.append(makeEvents(1), { timeoutMs: BEACON_TIMEOUT_MS }),
    LogUnavailable,
  )
  world.proxy.setMode('pass')
  await untilDrained(world)
  assert.deepEqual(await storedIds(world.database), idsOf(events))
})

test("a dead process's spool reaches the log, and its owner is reported", async (t) => {
  const scope = scopeOf(t)
  const root = await temporaryFolder(scope, 'spool-')
  const events = makeEvents(700)
  const first = await makeWorld(scope, { root, mode: 'refuse' })
  await first.spool.recordOwner('node 12')
  await first.durable.append(events, { timeoutMs: BEACON_TIMEOUT_MS })
  await stop(first)

  const second = await makeWorld(scope, { root })
  await untilDrained(second)
  assert.deepEqual(await storedIds(second.database), idsOf(events))
  assert.deepEqual(second.owners, ['node 12'])
})

test('closing drains the spool into the log and refuses new events', async (t) => {
  const world = await makeWorld(scopeOf(t), { mode: 'refuse' })
  const events = makeEvents(30)
  await world.durable.append(events, { timeoutMs: BEACON_TIMEOUT_MS })
  world.proxy.setMode('pass')
  const last = makeEvents(1)
  const appending = world.durable.append(last, { timeoutMs: BEACON_TIMEOUT_MS })
  await world.durable.close()
  await appending
  assert.deepEqual(await storedIds(world.database), idsOf([...events, ...last]))
  await assert.rejects(
    world.durable.append(makeEvents(1), { timeoutMs: BEACON_TIMEOUT_MS }),
    LogUnavailable,
  )
})

test('closing while the log hangs ends within seconds and keeps everything', async (t) => {
  const scope = scopeOf(t)
  const root = await temporaryFolder(scope, 'spool-')
  const first = await makeWorld(scope, { root })
  await first.durable.append(makeEvents(1), LONG_TIMEOUT)
  first.proxy.setMode('hang')
  const events = makeEvents(5)
  await first.durable.append(events, { timeoutMs: REDIRECT_TIMEOUT_MS })
  const start = performance.now()
  await stop(first)
  assert(performance.now() - start < STOP_MS)

  const second = await makeWorld(scope, { root })
  await untilDrained(second)
  assert.deepEqual(await storedIds(second.database), idsOf(events))
})

test('the last message follows all other events, and waits in the spool if the log is down', async (t) => {
  const scope = scopeOf(t)
  const root = await temporaryFolder(scope, 'spool-')
  const first = await makeWorld(scope, { root })
  await first.spool.recordOwner('first')
  const [click, word] = [makeEvents(1), makeEvents(1)]
  await first.durable.append(click, LONG_TIMEOUT)
  await stop(first, word[0])
  assert.deepEqual(await storedIds(first.database), idsOf([...click, ...word]))

  const second = await makeWorld(scope, { root })
  await second.spool.recordOwner('second')
  second.proxy.setMode('refuse')
  await stop(second, makeEvents(1)[0])
  const third = await makeWorld(scope, { root })
  await untilDrained(third)
  assert.deepEqual(third.owners, ['second'], 'the first one has said all it had to say')
})
