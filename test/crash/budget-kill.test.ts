/**
 * Budgets hold across kill -9 of whole nodes on one PostgreSQL: no campaign is charged over its
 * cap, every promised click is paid, and dead nodes' leases return (I6).
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { applyBudgets } from '../../src/budgets/budget-account.ts'
import { MONEY_LANE } from '../../src/events/event.ts'
import { openPostgresEventLog } from '../../src/events/event-log-postgres.ts'
import { FoldLoop } from '../../src/fold/fold-loop.ts'
import { foldMoney } from '../../src/fold/fold-money.ts'
import type { Database } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { utcDay } from '../../src/platform/time/timestamp.ts'
import { databaseUrl, testDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { seededRandom } from '../support/seeded-random.ts'

const SPENDER = join(import.meta.dirname, 'spend-until-killed.ts')
const NODES = 3
const KILLS = 8
const PRICE = 100_000
const CAMPAIGNS = [
  { dailyMicros: 1_000 * PRICE, totalMicros: null },
  { dailyMicros: null, totalMicros: 600 * PRICE },
  { dailyMicros: 700 * PRICE, totalMicros: 500 * PRICE },
]
/** Far longer than it takes, also on a busy machine: only a lost budget exceeds it. */
const SPENT_MS_MAX = 300_000
/** With fewer promises, the kills hit nodes that had nothing to lose. */
const PROMISES_MIN = 1_000

test('nodes killed at random never overspend, pay every promised click, and lose no budget', async (t) => {
  const db = await testDatabase(t)
  const campaignIds = await createCampaigns(db)
  const promised: string[] = []
  const nodes = await Promise.all(
    Array.from({ length: NODES }, () => makeNode(t, { db, campaignIds, promised })),
  )
  await Promise.all(nodes.map((node) => node.start()))
  const random = seededRandom(8)
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(300 + random() * 700)
    const node = nodes[Math.floor(random() * NODES)]
    await node?.kill()
    await assertNothingOver(db)
    // Merchants change budgets meanwhile: the first one is doubled and cut again.
    const daily = (kill % 2 === 0 ? 2 : 1) * 1_000 * PRICE
    await setDailyBudget(db, campaignIds[0] ?? 0, daily)
    await node?.start()
  }
  // The process now on its disk drains every spool, every node sends its last message, and one
  // worker folds the rest.
  await untilSpent(db, campaignIds)
  await Promise.all(nodes.map((node) => node.stop()))
  await foldRest(t, db)

  await assertNothingOver(db)
  assert(promised.length >= PROMISES_MIN, `only ${promised.length} clicks were promised`)
  const rows = await db.rows<{ event_id: string; reason: number }>(sql`
    select event_id, reason from click`)
  const reasons = new Map(rows.map(({ event_id, reason }) => [event_id, reason]))
  assert.deepEqual(
    promised.filter((id) => reasons.get(id) !== 0),
    [],
    'a promised click was not paid',
  )
  for (const account of await accountsOf(db)) {
    assert.equal(
      account.settled_micros,
      account.merchant_cost_micros,
      'settled is not what was paid',
    )
    assert.equal(account.settled_micros, account.owed_micros, 'the ledger says otherwise')
    assert.equal(account.escrow_micros, '0', 'a dead node kept its part of the budget')
  }
  t.diagnostic(`${promised.length} promised clicks, ${rows.length} folded, ${KILLS} kills`)
})

async function createCampaigns(db: Database): Promise<number[]> {
  await db.run(sql`insert into app_user (email, password_hash) values ('a@shop.example', '')`)
  await db.run(sql`insert into publisher (uid, name, slug) values (1, 'paper', 'paper')`)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  const rows = await db.rows<{ campaign_id: number }>(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros, budget_micros)
    select 1, 'cpc', ${PRICE}, daily, total from unnest(
      ${CAMPAIGNS.map(({ dailyMicros }) => dailyMicros)}::bigint[],
      ${CAMPAIGNS.map(({ totalMicros }) => totalMicros)}::bigint[]) as budget (daily, total)
    returning campaign_id`)
  return rows.map(({ campaign_id }) => campaign_id)
}

interface SpendingNode {
  start(): Promise<void>
  kill(): Promise<void>
  stop(): Promise<void>
}

/** A disk, and one process after the other on it. */
async function makeNode(
  t: TestContext,
  on: { db: Database; campaignIds: readonly number[]; promised: string[] },
): Promise<SpendingNode> {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-budget-'))
  let child: ChildProcess | null = null
  const end = async (signal: NodeJS.Signals) => {
    const ending = child
    child = null
    if (ending === null || ending.exitCode !== null) return
    const exited = once(ending, 'exit')
    ending.kill(signal)
    await exited
  }
  t.after(async () => {
    await end('SIGKILL')
    await rm(dataDir, { recursive: true, force: true })
  })
  return {
    async start() {
      const environment = {
        PORT: String(await freePort()),
        SOUK_DATA: dataDir,
        DATABASE_URL: databaseUrl(on.db.connection),
        ROLES: 'edge,worker',
      }
      const args = [SPENDER, JSON.stringify(environment), JSON.stringify(on.campaignIds)]
      const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      child = started
      const lines = createInterface({ input: started.stdout })
      await once(lines, 'line') // It prints that it is ready.
      lines.on('line', (id) => on.promised.push(id))
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

async function setDailyBudget(db: Database, campaignId: number, micros: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`update campaign set daily_budget_micros = ${micros}
      where campaign_id = ${campaignId}`)
    await applyBudgets(tx, campaignId, utcDay(new Date()))
  })
}

interface Account {
  readonly cap_micros: string | null
  readonly settled_micros: string
  readonly escrow_micros: string
  readonly merchant_cost_micros: string
  readonly owed_micros: string
}

/** Each account, the payments for its clicks, and the ledger's debts for them. */
function accountsOf(db: Database): Promise<Account[]> {
  return db.rows<Account>(sql`
    select cap_micros, settled_micros, escrow_micros, coalesce(paid, 0) as merchant_cost_micros,
      coalesce(owed, 0) as owed_micros
    from budget_account
    left join lateral (
      select sum(merchant_cost_micros) as paid, sum(-amount_micros) as owed from click
      left join ledger_transaction
        on idempotency_key = 'click:' || encode(click.click_id, 'hex')
      left join ledger_line using (transaction_id)
      where click.campaign_id = budget_account.campaign_id
        and (budget_account.day is null or click.day = budget_account.day)
        and (account is null or account = 'merchant')
    ) as booked on true`)
}

async function assertNothingOver(db: Database): Promise<void> {
  for (const {
    cap_micros: cap,
    settled_micros: settled,
    escrow_micros: escrow,
  } of await accountsOf(db)) {
    assert(cap === null || Number(settled) + Number(escrow) <= Number(cap), 'over the cap')
  }
}

/** Until every campaign has spent its budget, however many nodes died with leases. */
async function untilSpent(db: Database, campaignIds: readonly number[]): Promise<void> {
  const deadline = Date.now() + SPENT_MS_MAX
  for (;;) {
    const left = await db.rows<{ campaign_id: number; micros: string }>(sql`
      select campaign_id, min(coalesce(pending_cap_micros, cap_micros) - settled_micros) as micros
      from campaign left join budget_account using (campaign_id)
      group by campaign_id
      having coalesce(
        min(coalesce(pending_cap_micros, cap_micros) - settled_micros) >= ${2 * PRICE}, true)`)
    if (left.length === 0) return
    const what = `of ${campaignIds.length} budgets ${JSON.stringify(left)} could not be spent`
    assert(Date.now() < deadline, what)
    await sleep(100)
  }
}

async function foldRest(t: TestContext, db: Database): Promise<void> {
  const log = openPostgresEventLog(db.connection)
  const onError = (error: unknown) => assert.fail(error as Error)
  const loop = new FoldLoop({ database: db, log, lanes: [MONEY_LANE], fold: foldMoney, onError })
  t.after(() => log.close())
  loop.start()
  for (;;) {
    const behind = await db.row(sql`
      select lane from lane where lane = 0
        and position < (select coalesce(max(seq), 0) from event where event.lane = 0)`)
    if (behind === null) break
    await sleep(20)
  }
  await loop.close()
}
