/**
 * What budgets cost: lease traffic of a node with 1,000 campaigns, and a reservation in the path of
 * a click.
 *
 * Two nodes on one embedded PostgreSQL with fsync on, readers on every campaign. Prints statements
 * a node and second (goal: 1) and how long one takes; and nanoseconds for a reservation, beside a
 * loop that only looks the campaign up and subtracts. `node bench/leases.ts [seconds]`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ALWAYS, LeaseBook } from '../src/budgets/lease.ts'
import { LeaseLoop } from '../src/budgets/lease-loop.ts'
import type { Db } from '../src/platform/postgres/postgres.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { openBenchDatabase } from './database.ts'

const CAMPAIGNS = 1_000
const NODES = 2
const PRICE = 350_000
const CLICKS_PER_SECOND = 200 // of a node, over all campaigns
const STATEMENTS_MAX = 1.1 // a node and second; a dry lease may ask before its turn
const RESERVATIONS = 2_000_000
const SECONDS = Number(process.argv[2] ?? 20)

await using stack = new AsyncDisposableStack()
const { database } = await openBenchDatabase(stack)
await database.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
await database.run(sql`
  insert into campaign (merch_id, model, bid_micros, daily_budget_micros, budget_micros)
  select 1, 'cpc', ${PRICE}, 100000000, 1000000000 from generate_series(1, ${CAMPAIGNS}::int)`)
await database.run(sql`
  insert into node (node_id, host, pid, roles)
  select id, 'here', 1, 'edge' from generate_series(1, ${NODES}::int) as id`)
const campaigns = Array.from({ length: CAMPAIGNS }, (_, index) => ({
  ...{ campaignId: index + 1, index, budget: 'leased' as const, priceMaxMicros: PRICE },
  ...{ budgetVersion: '', ...ALWAYS },
}))

/** Counts the lease statements and their time; everything else passes. */
function counting(db: Db, onStatement: (ms: number) => void): Db {
  return {
    ...db,
    rows: async (query) => {
      const start = performance.now()
      const rows = await db.rows(query)
      onStatement(performance.now() - start)
      return rows as never
    },
  }
}

async function runNode(nodeId: number, times: number[]): Promise<number> {
  const book = new LeaseBook()
  book.setCampaigns(campaigns, { budgetOk: new Uint8Array(CAMPAIGNS), nowMs: Date.now() })
  let unfunded = 0
  let reader = 0
  let isCounting = false
  const loop = new LeaseLoop({
    ...{ book, now: Date.now, identity: { nodeId, incarnation: '1' } },
    db: counting(database, (ms) => {
      if (isCounting) times.push(ms)
    }),
    onError: (error) => console.error(error),
  })
  await loop.firstAnswer
  await sleep(1_000)
  isCounting = true
  const end = performance.now() + SECONDS * 1_000
  while (performance.now() < end) {
    await sleep(10)
    for (let click = 0; click < CLICKS_PER_SECOND / 100; click++) {
      const campaignId = 1 + Math.floor(Math.random() * CAMPAIGNS)
      book.recordWin(campaignId, `reader ${reader++}`, Date.now())
      if (book.reserve(campaignId, PRICE, Date.now()) === null) unfunded += 1
    }
  }
  isCounting = false
  await loop.close()
  return unfunded
}

function timeReservations(): { ours: number; bare: number } {
  const book = new LeaseBook()
  const nowMs = Date.now()
  book.setCampaigns(campaigns, { budgetOk: new Uint8Array(CAMPAIGNS), nowMs })
  const requests = book.prepare(1, nowMs)
  const grants = requests.map(({ campaignId, day }) => ({
    ...{ campaignId, day, leaseId: campaignId, grantedMicros: 9e15, fairMicros: 9e15 },
    ...{ refillableMicros: 0, inFlightElsewhereMicros: 0 },
  }))
  book.apply(1, { requests, grants, recalled: [] }, nowMs)
  const left = new Map(campaigns.map(({ campaignId }) => [campaignId, { micros: 9e15 }]))
  const rounds = Array.from({ length: 5 }, () => {
    const start = performance.now()
    for (let n = 0; n < RESERVATIONS; n++) book.reserve(1 + (n % CAMPAIGNS), 1, nowMs)
    const between = performance.now()
    for (let n = 0; n < RESERVATIONS; n++) {
      const held = left.get(1 + (n % CAMPAIGNS))
      if (held !== undefined && held.micros >= 1) held.micros -= 1
    }
    const perCall = 1e6 / RESERVATIONS
    return {
      ours: (between - start) * perCall,
      bare: (performance.now() - between) * perCall,
    }
  })
  return rounds.toSorted((one, other) => one.ours - other.ours)[2] ?? { ours: 0, bare: 0 }
}

const times: number[] = []
const nodes = Array.from({ length: NODES }, (_, index) => runNode(index + 1, times))
const unfunded = (await Promise.all(nodes)).reduce((sum, count) => sum + count, 0)
const perSecond = times.length / NODES / SECONDS
const sorted = times.toSorted((one, other) => one - other)
const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)
const { ours, bare } = timeReservations()
console.log(
  `${CAMPAIGNS} campaigns, ${NODES} nodes, ${CLICKS_PER_SECOND} clicks/s each, ${SECONDS} s`,
)
console.log(
  `lease statements a node and second: ${perSecond.toFixed(2)} (goal: 1), ` +
    `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ${unfunded} clicks unfunded`,
)
console.log(`a reservation: ${ours.toFixed(0)} ns; look up and subtract: ${bare.toFixed(0)} ns`)
if (perSecond > STATEMENTS_MAX) process.exitCode = 1
