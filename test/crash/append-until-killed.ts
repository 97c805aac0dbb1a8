/**
 * Appends events until it is killed and prints which ones are promised. Run by
 * event-log-crash.test.ts with the database, the spool and a node number.
 */
import { DurableAppend, REDIRECT_TIMEOUT_MS } from '../../src/events/durable-append.ts'
import { EVENT_TYPE, newEvent } from '../../src/events/event.ts'
import { openPostgresEventLog } from '../../src/events/event-log-postgres.ts'
import { makeIdSource } from '../../src/platform/ids.ts'
import type { Connection } from '../../src/platform/postgres/postgres.ts'
import { openSpool } from '../../src/platform/spool/spool.ts'

const IN_FLIGHT = 16

const [connection = '{}', root = '', nodeId = '1'] = process.argv.slice(2)
const fail = (problem: unknown): never => {
  throw problem instanceof Error ? problem : new Error(String(problem))
}
const spool = await openSpool({ root, bytesMax: 100_000_000, onDamage: fail })
await spool.recordOwner(nodeId)
const none = () => undefined
const durable = new DurableAppend({
  log: openPostgresEventLog(JSON.parse(connection) as Connection),
  spool,
  counters: { spooled: none, drained: none, refused: fail, unavailable: none },
  isAccepting: () => true,
  onLogState: none,
  onProblem: fail,
  onAdoptedDrained: async (owner) => {
    process.stdout.write(`drained ${owner}\n`)
  },
})
const ids = makeIdSource({ nodeId: Number(nodeId), now: Date.now })

async function appendForever(): Promise<void> {
  while (true) {
    const id = ids.next()
    const event = newEvent({ id, atMs: Date.now(), lane: 0, type: EVENT_TYPE.click })
    await durable.append([event], { timeoutMs: REDIRECT_TIMEOUT_MS })
    process.stdout.write(`${id}\n`)
  }
}
await Promise.all(Array.from({ length: IN_FLIGHT }, appendForever))
