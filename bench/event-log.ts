/**
 * Measures durable events per second, against the obvious loop: one insert and one commit per
 * event.
 *
 * Both use one embedded PostgreSQL with fsync on and the real table, in alternating rounds of one
 * run. `node bench/event-log.ts [seconds per round]`.
 */
import { join } from 'node:path'
import pg from 'pg'
import { BEACON_TIMEOUT_MS, DurableAppend } from '../src/events/durable-append.ts'
import { EVENT_TYPE, type LogEvent, newEvent, viewLane } from '../src/events/event.ts'
import { openPostgresEventLog } from '../src/events/event-log-postgres.ts'
import { ensureEventPartitions } from '../src/events/partitions.ts'
import { makeIdSource } from '../src/platform/ids.ts'
import { openSpool } from '../src/platform/spool/spool.ts'
import { openBenchDatabase } from './database.ts'
import { median } from './median.ts'

const ROUNDS = 5
const IN_FLIGHT = [1, 32, 256]
const POOL_CONNECTIONS = 10 // a typical default
const SECONDS = Number(process.argv[2] ?? 1)

const ids = makeIdSource({ nodeId: 1, now: Date.now })
let pubId = 0
/** A page impression as the redirect server writes it. */
function makeEvent(): LogEvent {
  pubId = (pubId + 1) % 50
  return newEvent({
    id: ids.next(),
    atMs: Date.now(),
    lane: viewLane(pubId),
    type: EVENT_TYPE.pageImpression,
    pubId,
    sessionKey: Buffer.alloc(16, pubId),
    device: 1,
    uaFamily: 'Chrome',
    country: 'GB',
    consent: 1,
    url: 'https://news.example/2026/the-best-kettles-of-the-year/',
    urlKey: Buffer.alloc(16, pubId),
    referrer: 'https://search.example/',
  })
}

/** Appends from `inFlight` concurrent callers for one round. Returns events per second. */
async function measure(inFlight: number, append: (event: LogEvent) => Promise<unknown>) {
  const start = performance.now()
  const end = start + SECONDS * 1_000
  let events = 0
  const caller = async () => {
    while (performance.now() < end) {
      await append(makeEvent())
      events += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, caller))
  return events / ((performance.now() - start) / 1_000)
}

const BARE_INSERT = {
  name: 'bare_insert',
  text: `insert into event (day, id, lane, type, at, pub_id, session_key, device, ua_family,
    country, consent, url, url_key, referrer)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
}

function bareValues(event: LogEvent): unknown[] {
  const at = new Date(event.atMs).toISOString()
  const { id, lane, type, sessionKey, device, uaFamily, country, consent } = event
  const { url, urlKey, referrer } = event
  const first = [at.slice(0, 10), id, lane, type, at, event.pubId, sessionKey, device]
  return [...first, uaFamily, country, consent, url, urlKey, referrer]
}

await using stack = new AsyncDisposableStack()
const { dataDir, database } = await openBenchDatabase(stack)
await ensureEventPartitions(database, Date.now())

const pool = new pg.Pool({ ...database.connection, max: POOL_CONNECTIONS })
stack.defer(() => pool.end())
const log = openPostgresEventLog(database.connection)
stack.defer(() => log.close())
const ignore = () => undefined
let spooled = 0
const spool = await openSpool({
  root: join(dataDir, 'spool'),
  bytesMax: 1e9,
  onDamage: ignore,
})
stack.defer(() => spool.close())
const appender = new DurableAppend({
  log,
  spool,
  counters: {
    spooled: (events) => {
      spooled += events
    },
    drained: ignore,
    refused: ignore,
    unavailable: ignore,
  },
  isAccepting: () => true,
  onLogState: ignore,
  onProblem: ignore,
  onAdoptedDrained: async () => undefined,
})
stack.defer(() => appender.close())

const bare = (event: LogEvent) => pool.query({ ...BARE_INSERT, values: bareValues(event) })
const durable = (event: LogEvent) => appender.append([event], { timeoutMs: BEACON_TIMEOUT_MS })
const whole = (value: number) => Math.round(value).toLocaleString('en')

process.stdout.write('durable appends a second (medians of 5 interleaved rounds)\n')
process.stdout.write('in flight   log and spool   bare insert loop   ratio\n')
for (const inFlight of IN_FLIGHT) {
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    theirs.push(await measure(inFlight, bare))
    ours.push(await measure(inFlight, durable))
  }
  const [own, other] = [median(ours), median(theirs)]
  process.stdout.write(
    `${String(inFlight).padStart(9)}   ${whole(own).padStart(13)}   ` +
      `${whole(other).padStart(16)}   ${(own / other).toFixed(1).padStart(4)}×\n`,
  )
}
process.stdout.write(`${whole(spooled)} of them by way of the spool\n`)
