/**
 * Budgets of a few clicks over several nodes: how much of them is used, and how many clicks find
 * nothing left (UNFUNDED; goal: under 0.1 %).
 *
 * Simulated readers on the real lease book and the real statements: pages on a random node, 3 of
 * 100 results clicked after a minute on average, twice the demand that the budget can pay. "same"
 * clicks arrive where their auction was held, "any" clicks wherever a load balancer sends them.
 * Exits 1 above the goal. `node bench/small-budgets.ts [hours]`; seed printed.
 */

import { type BookedClick, bookSpend } from '../src/budgets/book-spend.ts'
import { openAccounts } from '../src/budgets/budget-account.ts'
import { ALWAYS, LeaseBook } from '../src/budgets/lease.ts'
import { requestLeases } from '../src/budgets/lease-store.ts'
import { dayNumberOf, dayText } from '../src/budgets/lease-terms.ts'
import type { Db } from '../src/platform/postgres/postgres.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { DAY_MS } from '../src/platform/time/timestamp.ts'
import { poisson, type Random, seededRandom } from '../test/support/seeded-random.ts'
import { openBenchDatabase } from './database.ts'

const SEED = 20_260_413
const PRICE = 350_000
const TICK_MS = 10_000
const HOURS = Number(process.argv[2] ?? 1)
const TICKS = (HOURS * 3_600_000) / TICK_MS
const CLICK_RATE = 0.03
const CLICK_DELAY_MS = 60_000
const DEMAND = 2
/** Campaigns of a cell; budgets of fewer clicks need more of them to say as much. */
const CAMPAIGNS = 15
const BUDGETS = [5, 10, 20, 50, 200]
const ROWS = [
  { count: 1, isAnywhere: false },
  { count: 2, isAnywhere: false },
  { count: 2, isAnywhere: true },
  { count: 4, isAnywhere: true },
]
const UNFUNDED_MAX = 0.001 // Of clicks, over all cells of a row.
const START_MS = Date.parse('2100-01-04T06:00:00Z')

interface World {
  readonly campaignId: number
  readonly index: number
  readonly clicks: number // that the budget pays
  used: number
  unfunded: number
}

interface Click {
  readonly world: World
  readonly node: number
  readonly wonAtMs: number
  readonly atMs: number
}

interface Node {
  readonly nodeId: number
  readonly book: LeaseBook
  readonly budgetOk: Uint8Array
  requestNo: number
}

async function makeWorlds(db: Db, day: string): Promise<World[]> {
  const rows = await db.rows<{ campaign_id: number; clicks: string }>(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros)
    select 1, 'cpc', ${PRICE}, clicks::bigint * ${PRICE}::bigint
    from unnest(${BUDGETS}::int[]) as clicks, generate_series(1, ${CAMPAIGNS}::int)
    returning campaign_id, daily_budget_micros / ${PRICE}::bigint as clicks`)
  await openAccounts(
    db,
    rows.map((row) => ({ campaignId: row.campaign_id, day })),
  )
  return rows.map((row, index) => ({
    campaignId: row.campaign_id,
    index,
    clicks: Number(row.clicks),
    used: 0,
    unfunded: 0,
  }))
}

async function makeNodes(db: Db, count: number, worlds: readonly World[]): Promise<Node[]> {
  const rows = await db.rows<{ node_id: number }>(sql`
    insert into node (node_id, host, pid, roles)
    select coalesce(max(node_id), 0) + n, 'here', 1, 'edge'
    from node right join generate_series(1, ${count}::int) as n on true group by n
    returning node_id`)
  return rows.map(({ node_id: nodeId }) => {
    const book = new LeaseBook()
    const budgetOk = new Uint8Array(worlds.length)
    const campaigns = worlds.map(({ campaignId, index }) => ({
      ...{ campaignId, index, budget: 'leased' as const, priceMaxMicros: PRICE },
      ...{ budgetVersion: '', ...ALWAYS },
    }))
    book.setCampaigns(campaigns, { budgetOk, nowMs: START_MS })
    return { nodeId, book, budgetOk, requestNo: 0 }
  })
}

async function ask(db: Db, node: Node, nowMs: number): Promise<void> {
  node.requestNo += 1
  const { requestNo, nodeId, book } = node
  const requests = book.prepare(requestNo, nowMs)
  if (requests.length === 0) return
  const answer = await requestLeases(
    db,
    { nodeId, incarnation: '1' },
    { requestNo, requests, nowMs },
  )
  if (answer === null) throw new Error('a node in good standing was refused')
  book.apply(requestNo, { requests, ...answer }, nowMs)
}

async function run(
  db: Db,
  random: Random,
  { count, isAnywhere, startMs }: { count: number; isAnywhere: boolean; startMs: number },
) {
  const day = dayText(dayNumberOf(startMs))
  const worlds = await makeWorlds(db, day)
  const nodes = await makeNodes(db, count, worlds)
  let coming: Click[] = []
  let reader = 0
  for (let tick = 0; tick < TICKS; tick++) {
    const nowMs = startMs + tick * TICK_MS
    await db.run(sql`
      update node set heartbeat_at = ${new Date(nowMs)}
      where node_id = any(${nodes.map(({ nodeId }) => nodeId)}::int[])`)
    for (const node of nodes) await ask(db, node, nowMs)
    const settled: BookedClick[] = []
    const due = coming.filter(({ atMs }) => atMs <= nowMs)
    coming = coming.filter(({ atMs }) => atMs > nowMs)
    for (const { world, node, wonAtMs } of due) {
      const at = nodes[isAnywhere ? Math.floor(random() * count) : node]
      if (at === undefined) continue
      const { campaignId } = world
      at.book.recordClick(campaignId, {
        nowMs,
        ageMs: nowMs - wonAtMs,
        priceMicros: PRICE,
        address: `${reader++}`,
      })
      let leaseId = at.book.reserve(campaignId, PRICE, nowMs)
      if (leaseId === null && at.book.want(campaignId, PRICE, nowMs)) {
        await ask(db, at, nowMs)
        leaseId = at.book.reserve(campaignId, PRICE, nowMs)
      }
      if (leaseId === null) world.unfunded += 1
      else {
        world.used += 1
        settled.push({
          campaignId: world.campaignId,
          day,
          leaseId: String(leaseId),
          reservedMicros: PRICE,
          merchantCostMicros: PRICE,
        })
      }
    }
    await db.transaction((tx) => bookSpend(tx, settled))
    for (const world of worlds) {
      const views = (DEMAND * world.clicks) / CLICK_RATE / TICKS
      for (let view = poisson(random, views); view > 0; view--) {
        const at = Math.floor(random() * count)
        const node = nodes[at]
        if (node === undefined || node.budgetOk[world.index] !== 1) continue
        node.book.recordWin(world.campaignId, `reader ${reader++}`, nowMs)
        if (random() >= CLICK_RATE) continue
        const delayMs = -Math.log(1 - random()) * CLICK_DELAY_MS
        coming.push({ world, node: at, wonAtMs: nowMs, atMs: nowMs + delayMs })
      }
    }
  }
  return worlds
}

await using stack = new AsyncDisposableStack()
const { database } = await openBenchDatabase(stack)
await database.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
// What need not survive a crash of the machine waits for no disk; later connections see it.
await database.run(sql`alter role current_user set synchronous_commit = off`)
await database.run(sql`alter table lease set unlogged`)
await database.run(sql`alter table budget_account set unlogged`)

console.log(`seed ${SEED}, ${HOURS} h, ${CAMPAIGNS} campaigns a cell: budget used, clicks unfunded`)
console.log(`nodes  click at  ${BUDGETS.map((clicks) => `${clicks} clicks`.padStart(15)).join('')}`)
let startMs = START_MS
for (const { count, isAnywhere } of ROWS) {
  const random = seededRandom(SEED + count)
  const worlds = await run(database, random, { count, isAnywhere, startMs })
  startMs += DAY_MS
  const cells = BUDGETS.map((clicks) => {
    const of = worlds.filter((world) => world.clicks === clicks)
    const used = of.reduce((sum, world) => sum + world.used, 0)
    const unfunded = of.reduce((sum, world) => sum + world.unfunded, 0)
    const share = (100 * used) / (clicks * of.length)
    return `${share.toFixed(0)} % ${((100 * unfunded) / (used + unfunded)).toFixed(2)} %`
  })
  const [paid, unfunded] = (['used', 'unfunded'] as const).map((name) =>
    worlds.reduce((sum, world) => sum + world[name], 0),
  )
  const missed = (unfunded ?? 0) / ((paid ?? 0) + (unfunded ?? 0))
  if (missed > UNFUNDED_MAX) process.exitCode = 1
  const where = isAnywhere ? 'any' : 'same'
  const row = cells.map((cell) => cell.padStart(15)).join('')
  console.log(`${String(count).padEnd(5)}  ${where.padEnd(8)}  ${row}`)
}
