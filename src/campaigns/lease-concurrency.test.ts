/**
 * Nodes, the fold and merchants change the same budgets at the same time, on one PostgreSQL: no
 * deadlock, no failed check, and every micro-dollar is accounted for.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { listAccounts } from '../../test/support/budget-accounts.ts'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import { type Random, seededRandom } from '../../test/support/seeded-random.ts'
import { type BookedClick, bookSpend, closeLeases, leaseCloseBody } from '../budgets/book-spend.ts'
import { openAccounts } from '../budgets/budget-account.ts'
import { ALWAYS, LeaseBook } from '../budgets/lease.ts'
import { requestLeases } from '../budgets/lease-store.ts'
import { type Micros, micros } from '../platform/money/money.ts'
import type { Database, Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { updateCampaign } from './campaign-store.ts'

const DAY = '2026-04-13'
const NOON = Date.parse(`${DAY}T12:00:00Z`)
const PRICE = 20_000
const NODES = 6
const CAMPAIGNS = 20
const CAP = 60 * PRICE
/** Short runs, as where clicks and orders alternate in the log. */
const RUN_CLICKS = 15

type Entry = { readonly click: BookedClick } | { readonly close: Member }

interface Member {
  readonly nodeId: number
  readonly incarnation: string
}

class Node {
  readonly #random: Random
  readonly #db: Database
  readonly #log: Entry[]
  readonly spent: Map<number, number>
  member: Member
  #book = new LeaseBook()
  #requestNo = 0

  constructor(nodeId: number, on: { db: Database; log: Entry[]; spent: Map<number, number> }) {
    this.member = { nodeId, incarnation: '1' }
    this.#db = on.db
    this.#log = on.log
    this.spent = on.spent
    this.#random = seededRandom(nodeId)
    this.#takeCampaigns()
  }

  #takeCampaigns(): void {
    const campaigns = Array.from({ length: CAMPAIGNS }, (_, index) => ({
      ...{ campaignId: index + 1, index, budget: 'leased' as const, priceMaxMicros: PRICE },
      ...{ budgetVersion: '', ...ALWAYS },
    }))
    this.#book.setCampaigns(campaigns, { budgetOk: new Uint8Array(CAMPAIGNS), nowMs: NOON })
  }

  /** A second: one statement, then readers. */
  async exchange(nowMs: number): Promise<void> {
    await this.#ask(nowMs)
    for (let clicks = 0; clicks < 30; clicks++) {
      const campaignId = 1 + Math.floor(this.#random() * CAMPAIGNS)
      const amount = Math.ceil(this.#random() * PRICE)
      const leaseId = await this.#reserve(campaignId, amount, nowMs)
      if (leaseId === null) continue
      this.spent.set(campaignId, (this.spent.get(campaignId) ?? 0) + amount)
      const amounts = { reservedMicros: amount, merchantCostMicros: amount }
      this.#log.push({ click: { campaignId, day: DAY, leaseId: String(leaseId), ...amounts } })
    }
  }

  /** Like a click: from the lease, else by its own request. */
  async #reserve(campaignId: number, amount: number, nowMs: number): Promise<number | null> {
    const leaseId = this.#book.reserve(campaignId, amount, nowMs)
    if (leaseId !== null || !this.#book.want(campaignId, amount, nowMs)) return leaseId
    await this.#ask(nowMs)
    return this.#book.reserve(campaignId, amount, nowMs)
  }

  async #ask(nowMs: number): Promise<void> {
    this.#requestNo += 1
    const requestNo = this.#requestNo
    const requests = this.#book.prepare(requestNo, nowMs)
    const answer = await requestLeases(this.#db, this.member, { requestNo, requests, nowMs })
    assert(answer !== null)
    this.#book.apply(requestNo, { requests, ...answer }, nowMs)
  }

  /** Dies with nothing unwritten; the next process takes its number. */
  async restart(): Promise<void> {
    this.#log.push({ close: this.member })
    const incarnation = String(Number(this.member.incarnation) + 1)
    this.member = { nodeId: this.member.nodeId, incarnation }
    await this.#db.run(sql`
      update node set incarnation = ${incarnation} where node_id = ${this.member.nodeId}`)
    this.#book = new LeaseBook()
    this.#requestNo = 0
    this.#takeCampaigns()
  }
}

async function makeFleet(t: TestContext) {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros, budget_micros)
    select 1, 'cpc', ${PRICE}, ${CAP}, ${2 * CAP} from generate_series(1, ${CAMPAIGNS}::int)`)
  await db.run(sql`
    insert into node (node_id, host, pid, roles, heartbeat_at)
    select id, 'here', 1, 'edge', '-infinity' from generate_series(1, ${NODES}::int) as id`)
  await openAccounts(
    db,
    Array.from({ length: CAMPAIGNS }, (_, index) => ({ campaignId: index + 1, day: DAY })),
  )
  const log: Entry[] = []
  const spent = new Map<number, number>()
  const nodes = Array.from({ length: NODES }, (_, index) => new Node(index + 1, { db, log, spent }))
  return { db, log, spent, nodes }
}

/** Folds everything in one transaction of many statements, in the order of the log. */
async function fold(db: Database, log: Entry[]): Promise<void> {
  const batch = log.splice(0, 150)
  await db.transaction(async (tx) => {
    let run: BookedClick[] = []
    const book = async () => {
      await bookSpend(tx, run)
      run = []
    }
    for (const entry of batch) {
      if ('click' in entry) {
        run.push(entry.click)
        if (run.length >= RUN_CLICKS) await book()
      } else {
        await book()
        await closeLeases(tx, [{ body: leaseCloseBody(entry.close) }])
      }
    }
    await book()
  })
}

async function assertBooked(db: Database, spent: ReadonlyMap<number, number>): Promise<void> {
  for (let campaignId = 1; campaignId <= CAMPAIGNS; campaignId++) {
    const leased = await db.row<{ micros: string }>(sql`
      select coalesce(sum(granted_micros - reserved_folded_micros), 0) as micros
      from lease where campaign_id = ${campaignId} and closed_at is null`)
    for (const account of await listAccounts(db, campaignId)) {
      assert.equal(Number(account.settled_micros), spent.get(campaignId))
      assert.equal(account.escrow_micros, leased?.micros)
    }
  }
}

test('many nodes and the fold spend each budget to its end, and book every cent', async (t) => {
  const { db, log, spent, nodes } = await makeFleet(t)
  for (let second = 1; second <= 40; second++) {
    await Promise.all([...nodes.map((node) => node.exchange(NOON + second * 1_000)), fold(db, log)])
  }
  while (log.length > 0) await fold(db, log)
  await assertBooked(db, spent)
  for (const [campaignId, total] of spent) {
    // Enough readers came: at most a click or two remain that the last node could not sell.
    assert(total <= CAP && total > CAP - 3 * PRICE, `campaign ${campaignId}: ${total} of ${CAP}`)
  }
})

test('ended nodes and concurrent budget changes lose no money', async (t) => {
  const { db, log, spent, nodes } = await makeFleet(t)
  const random = seededRandom(5)
  const world = { now: new Date(NOON), knowsCountries: true }
  const change = (second: number) => {
    const daily: Micros = micros(Math.floor(CAP * (0.5 + random())))
    const campaignId = 1 + (second % CAMPAIGNS)
    return updateCampaign(db, { campaignId, changes: { daily_budget_micros: daily }, world })
  }
  for (let second = 1; second <= 30; second++) {
    const exchanges = nodes.map((node) => node.exchange(NOON + second * 1_000))
    await Promise.all([...exchanges, fold(db, log), change(second)])
    const ending = random() < 0.3 ? nodes[Math.floor(random() * NODES)] : undefined
    await ending?.restart()
  }
  while (log.length > 0) await fold(db, log)
  await assertBooked(db, spent)
})

test('accounts opened while their budget changes have the new cap', async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros, budget_micros)
    select 1, 'cpc', ${PRICE}, ${CAP}, ${CAP} from generate_series(1, 2)`)
  const open = (on: Db, campaignId: number) => openAccounts(on, [{ campaignId, day: DAY }])
  const lower = (on: Db, campaignId: number) =>
    updateCampaign(on, {
      campaignId,
      changes: { daily_budget_micros: micros(PRICE), budget_micros: micros(PRICE) },
      world: { now: new Date(NOON), knowsCountries: false },
    })
  type Work = (on: Db, campaignId: number) => Promise<unknown>
  const inOrder = async (first: Work, then: Work, campaignId: number) => {
    let after: Promise<unknown> = Promise.resolve()
    await db.transaction(async (tx) => {
      await first(tx, campaignId)
      after = then(db, campaignId)
      await untilWaiting(db, after)
    })
    await after
  }
  await inOrder(open, lower, 1)
  await inOrder(lower, open, 2)
  for (const campaignId of [1, 2]) {
    const accounts = await listAccounts(db, campaignId)
    assert.deepEqual(
      accounts.map((account) => account.cap_micros),
      [`${PRICE}`, `${PRICE}`],
    )
  }
})
