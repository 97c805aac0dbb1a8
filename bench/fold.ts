/**
 * Measures how many clicks per second one worker validates, books and counts, against the minimum:
 * copying the same rows to another table in equal transactions.
 *
 *   node bench/fold.ts [clicks]
 */
import { randomBytes } from 'node:crypto'
import { EVENT_TYPE, type LogEvent, MODEL, MONEY_LANE, newEvent } from '../src/events/event.ts'
import { openPostgresEventLog, type PostgresEventLog } from '../src/events/event-log-postgres.ts'
import { FoldLoop } from '../src/fold/fold-loop.ts'
import { foldMoney } from '../src/fold/fold-money.ts'
import { type IdSource, makeIdSource } from '../src/platform/ids.ts'
import type { Database } from '../src/platform/postgres/postgres.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { type CpuTime, cpuTime } from './cpu-time.ts'
import { openBenchDatabase } from './database.ts'
import { type BenchNetwork, makeBenchNetwork } from './network.ts'

const LINKS = 20_000
const MERCHANTS = 5
const BATCH = 1_000 // the fold's batch size
const CLICKS = Number(process.argv[2] ?? 100_000)

await using stack = new AsyncDisposableStack()
const { dataDir, database: db } = await openBenchDatabase(stack)
const network = await makeBenchNetwork(db, LINKS)
const log = openPostgresEventLog(db.connection)
stack.defer(() => log.close())
const ids = makeIdSource({ nodeId: 1, now: Date.now })
for (let at = 0; at < CLICKS; at += BATCH) {
  await log.append(Array.from({ length: BATCH }, (_, place) => click(ids, network, at + place)))
}
const bare = await measured(() => copyRows(db))
const ours = await measured(() => fold(db, log))
console.log(
  `${CLICKS.toLocaleString('en')} clicks, ${BATCH} a transaction\n` +
    `  folded ${ours.text}\n  copied ${bare.text}\n  ratio  ${(ours.rate / bare.rate).toFixed(2)}`,
)

/** One worker over all clicks, in the lane for money. */
async function fold(db: Database, log: PostgresEventLog): Promise<void> {
  const done = Promise.withResolvers<void>()
  let folded = 0
  const loop = new FoldLoop({
    ...{ database: db, log, lanes: [MONEY_LANE], fold: foldMoney, onError: done.reject },
    onFolded: (_, events) => {
      folded += events.length
      if (folded >= CLICKS) done.resolve()
    },
  })
  loop.start()
  await done.promise
  await loop.close()
}

async function copyRows(db: Database): Promise<void> {
  await db.run(sql`create table bare_copy (like event)`)
  const first = await db.row<{ seq: string }>(sql`select min(seq) as seq from event`)
  for (let at = 0; at < CLICKS; at += BATCH) {
    const from = Number(first?.seq ?? 0) + at
    await db.run(sql`
      insert into bare_copy select * from event
      where lane = ${MONEY_LANE} and seq >= ${from} and seq < ${from + BATCH}`)
  }
}

async function measured(work: () => Promise<void>): Promise<{ rate: number; text: string }> {
  const before = cpuTime({ pid: process.pid, dataDir })
  const start = performance.now()
  await work()
  const rate = CLICKS / ((performance.now() - start) / 1_000)
  const text = `${Math.round(rate).toLocaleString('en').padStart(8)}/s${cpuSince(before)}`
  return { rate, text }
}

function cpuSince(before: CpuTime | null): string {
  const after = cpuTime({ pid: process.pid, dataDir })
  if (before === null || after === null) return ''
  const micros = (seconds: number) => `${((seconds / CLICKS) * 1e6).toFixed(1)} µs`
  const [node, postgres] = [after.node - before.node, after.postgres - before.postgres]
  return `  (processor: Node ${micros(node)} a click, PostgreSQL ${micros(postgres)})`
}

function click(ids: IdSource, { links, pubId }: BenchNetwork, at: number): LogEvent {
  return newEvent({
    ...{ id: ids.next(), atMs: Date.now(), lane: MONEY_LANE, type: EVENT_TYPE.click, pubId },
    ...{ auctionId: links[at % LINKS] ?? '', merchId: 1 + (at % MERCHANTS), offerId: '5' },
    ...{ campaignId: 1 + (at % MERCHANTS), model: MODEL.cpc, termsAmount: 400_000 },
    ...{ sharePpm: 750_000, reservedMicros: 400_000, resultNumber: randomBytes(16) },
    ...{ clickId: randomBytes(16), visitorKey: randomBytes(16), visitorReturned: 0 },
    ...readerOf(at),
    ...{ addressHourMax: 10, addressDayMax: 50 },
    ...{ resultAgeMs: 5_000, device: 1, uaFamily: 'Chrome', consent: 1 },
    url: 'https://shop1.example/p/17',
  })
}

/** Of each address two readers' first clicks, as behind a household's router. */
function readerOf(at: number): { readonly addressKey: Buffer; readonly agentKey: Buffer } {
  const addressKey = Buffer.alloc(16)
  addressKey.writeUInt32LE(hashOf(at % (CLICKS / 2)))
  const agentKey = Buffer.from(addressKey)
  agentKey[15] = at < CLICKS / 2 ? 1 : 2
  return { addressKey, agentKey }
}

/** One to one, and far apart for neighbours, as the hashes of addresses are. */
function hashOf(number: number): number {
  return Math.imul(number + 1, 2_654_435_761) >>> 0
}
