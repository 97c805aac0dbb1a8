/**
 * A fleet of nodes that survives crashes, lost, repeated, late and reordered messages and wrong
 * clocks while it spends many campaigns' budgets: the worlds of
 * src/budgets/budget-simulation.test.ts.
 *
 * It uses the real lease book and the real statements. Readers, time, the network to the database,
 * the event log and its judge are simulated.
 */
import assert from 'node:assert/strict'
import { ALWAYS, LeaseBook } from '../../src/budgets/lease.ts'
import { requestLeases } from '../../src/budgets/lease-store.ts'
import { dayNumberOf, dayText, type LeaseRequest } from '../../src/budgets/lease-terms.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { BudgetLog, type ClickEntry } from './budget-log.ts'
import {
  changeBudgets,
  checkAccounts,
  checkEscrow,
  countReserved,
  createWorlds,
  type World,
  type WorldRange,
} from './budget-world.ts'
import type { Random } from './seeded-random.ts'

const TICK_MS = 4_000
const TICKS = 7
const SKEW_MS = 2_000 // The clock error that the design tolerates.

interface SimNode {
  readonly nodeId: number
  readonly skewMs: number
  incarnation: string
  requestNo: number
  isUp: boolean
  restartTick: number
  books: Map<World, LeaseBook>
  inFlight: ClickEntry[] // Sent to the log, without an answer yet.
  spool: ClickEntry[] // Durable on the node's disk.
  stuck: { requestNo: number; requests: LeaseRequest[] }[] // Statements that run late.
}

export interface FleetTotals {
  readonly worlds: number
  readonly clicks: number
  readonly paidClicks: number
  readonly unfunded: number
  readonly crashes: number
  readonly lateClicks: number
}

export class Fleet {
  readonly #db: Db
  readonly #random: Random
  readonly #options: WorldRange & { startMs: number }
  readonly #log: BudgetLog
  readonly #nodes: SimNode[] = []
  #worlds: World[] = []
  #tick = 0
  #lastEvent = 0
  #clicks = 0
  #unfunded = 0
  #crashes = 0

  constructor(db: Db, random: Random, options: WorldRange & { startMs: number }) {
    this.#db = db
    this.#random = random
    this.#options = options
    this.#log = new BudgetLog(db, random)
  }

  /** Runs the fleet to its end; throws as soon as a rule is broken. */
  async live(): Promise<FleetTotals> {
    this.#worlds = await createWorlds(this.#db, this.#random, this.#options)
    await this.#createNodes(2 + Math.floor(this.#random() * 8))
    const fromDay = dayText(dayNumberOf(this.#options.startMs) - 1)
    for (this.#tick = 0; this.#tick < TICKS; this.#tick++) {
      for (const node of this.#nodes) await this.#liveNode(node)
      if (this.#chance(0.7)) await this.#fold(1 + Math.floor(this.#random() * 400))
      if (this.#chance(0.3)) {
        await changeBudgets(this.#db, this.#random, { worlds: this.#worlds, fromDay })
      }
    }
    await this.#end()
    return {
      worlds: this.#worlds.length,
      clicks: this.#clicks,
      paidClicks: this.#log.paidClicks,
      unfunded: this.#unfunded,
      crashes: this.#crashes,
      lateClicks: this.#log.lateClicks,
    }
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }

  #trueMs(): number {
    return this.#options.startMs + this.#tick * TICK_MS
  }

  async #fold(limit: number): Promise<void> {
    await this.#log.fold(limit)
    await checkAccounts(this.#db, this.#worlds)
  }

  async #createNodes(count: number): Promise<void> {
    const rows = await this.#db.rows<{ node_id: number; incarnation: string }>(sql`
      insert into node (node_id, host, pid, roles)
      select id, 'sim', 1, 'edge' from generate_series(1, ${count}::int) as id
      on conflict (node_id) do update set incarnation = node.incarnation + 1
      returning node_id, incarnation`)
    for (const row of rows) {
      const node: SimNode = {
        nodeId: row.node_id,
        skewMs: Math.round((this.#random() * 2 - 1) * SKEW_MS),
        incarnation: row.incarnation,
        requestNo: 0,
        isUp: true,
        restartTick: 0,
        books: new Map(),
        inFlight: [],
        spool: [],
        stuck: [],
      }
      this.#start(node)
      this.#nodes.push(node)
    }
  }

  #start(node: SimNode): void {
    node.isUp = true
    node.requestNo = 0
    node.stuck = []
    node.books = new Map(
      this.#worlds.map((world) => {
        const book = new LeaseBook()
        const { campaignId, priceMaxMicros } = world
        const leased = { index: 0, budget: 'leased', budgetVersion: '', ...ALWAYS } as const
        book.setCampaigns([{ ...leased, campaignId, priceMaxMicros }], {
          budgetOk: new Uint8Array(1),
          nowMs: this.#trueMs() + node.skewMs,
        })
        return [world, book]
      }),
    )
  }

  async #liveNode(node: SimNode): Promise<void> {
    if (this.#chance(0.5)) await this.#runStuck(node)
    if (!node.isUp) {
      if (this.#tick < node.restartTick) return
      await this.#restart(node)
    }
    await this.#ask(node)
    this.#deliver(node)
    this.#serveReaders(node)
    if (this.#chance(0.1)) this.#crash(node)
  }

  /** One statement for all worlds; each world's part of it succeeds or fails on its own. */
  async #ask(node: SimNode): Promise<void> {
    const nowMs = this.#trueMs() + node.skewMs
    node.requestNo += 1
    const { requestNo } = node
    const sent: LeaseRequest[] = []
    const again: LeaseRequest[] = []
    const heard: { book: LeaseBook; requests: LeaseRequest[] }[] = []
    for (const book of node.books.values()) {
      const requests = book.prepare(requestNo, nowMs)
      if (requests.length === 0) continue
      const fate = this.#random()
      if (fate < 0.1) continue // Lost on the way.
      if (fate < 0.24) again.push(...requests) // Runs late: alone, after the node gave up on it …
      if (fate < 0.17) continue
      sent.push(...requests) // … or a second time.
      if (fate > 0.34) heard.push({ book, requests }) // Otherwise the answer is lost.
    }
    // Most late statements never run, because each one costs a separate statement.
    if (again.length > 0 && this.#chance(0.4)) node.stuck.push({ requestNo, requests: again })
    if (sent.length === 0) return
    const batch = { requestNo, requests: sent, nowMs: this.#trueMs() }
    const answer = await requestLeases(this.#db, node, batch)
    assert(answer !== null, 'a node in good standing was refused')
    const { grants, recalled } = answer
    for (const { leaseId, grantedMicros } of grants) {
      const spent = sent.find((request) => request.leaseId === leaseId)?.spentMicros ?? 0
      assert(grantedMicros >= spent, 'a grant fell below what was spent')
    }
    for (const { book, requests } of heard) {
      book.apply(requestNo, { requests, grants, recalled }, nowMs)
    }
  }

  /** Statements sent earlier that run only now, also after their node crashed. */
  async #runStuck({ nodeId, incarnation, stuck }: SimNode): Promise<void> {
    for (const { requestNo, requests } of stuck.splice(0)) {
      const batch = { requestNo, requests, nowMs: this.#trueMs() }
      await requestLeases(this.#db, { nodeId, incarnation }, batch)
    }
  }

  /** The log answers: events in flight are durable, or must wait in the spool. */
  #deliver(node: SimNode): void {
    for (const click of node.inFlight.splice(0)) {
      const { world, day, leaseId, micros } = click
      const fate = this.#random()
      if (fate < 0.05) {
        // Refused by log and spool: the reader was redirected and nobody is charged.
        node.books.get(world)?.release(world.campaignId, leaseId, micros)
        countReserved(world, day, -micros)
        continue
      }
      // The log accepted it as well and only its answer was lost. Both carry the same id.
      if (fate < 0.25) node.spool.push(click)
      if (fate > 0.15) this.#log.append(click)
    }
    if (this.#chance(0.4)) this.#drain(node)
  }

  #drain({ spool }: SimNode): void {
    for (const click of this.#shuffled(spool.splice(0))) this.#log.append(click)
  }

  #serveReaders(node: SimNode): void {
    for (const [world, book] of node.books) {
      const clicks = Math.floor(world.readersPerTick * 2 * this.#random() + this.#random())
      for (let count = 0; count < clicks; count++) {
        this.#click(node, { world, book, resultNumber: this.#random() })
      }
    }
  }

  #click(node: SimNode, on: { world: World; book: LeaseBook; resultNumber: number }): void {
    const { world, book, resultNumber } = on
    const nowMs = this.#trueMs() + node.skewMs + Math.floor(this.#random() * TICK_MS)
    const micros = Math.max(1, Math.ceil(world.priceMaxMicros * (0.3 + 0.7 * this.#random())))
    this.#clicks += 1
    const leaseId = book.reserve(world.campaignId, micros, nowMs)
    if (leaseId === null) {
      this.#unfunded += 1
      // The click asks for its price and leaves before the answer; the next click finds it.
      book.want(world.campaignId, micros, nowMs)
      return
    }
    const day = dayText(dayNumberOf(nowMs))
    const { nodeId, incarnation } = node
    this.#lastEvent += 1
    const eventId = this.#lastEvent
    const place = { nodeId, incarnation, leaseId, micros, day }
    node.inFlight.push({ kind: 'click', eventId, resultNumber, world, ...place })
    countReserved(world, day, micros)
    // An impatient reader: the same result is reserved again and never paid twice.
    if (this.#chance(0.05)) this.#click(node, on)
  }

  #crash(node: SimNode): void {
    this.#crashes += 1
    node.isUp = false
    node.books = new Map()
    // Some never return, and their leases stay in escrow.
    const downTicks = 1 + Math.floor(this.#random() * 4)
    node.restartTick = this.#chance(0.15) ? Number.POSITIVE_INFINITY : this.#tick + downTicks
  }

  /**
   * The next process on that disk writes the dead one's spool to the log, then its last message.
   */
  async #restart(node: SimNode): Promise<void> {
    const zombies: ClickEntry[] = []
    for (const click of node.inFlight.splice(0)) {
      const fate = this.#random()
      if (fate < 0.4) this.#log.append(click)
      else countReserved(click.world, click.day, -click.micros)
      if (fate > 0.8) zombies.push(click) // Its insert was in flight and commits late.
    }
    this.#drain(node)
    this.#announce(node)
    for (const click of zombies) this.#log.append(click)
    const row = await this.#db.row<{ incarnation: string }>(sql`
      update node set incarnation = incarnation + 1 where node_id = ${node.nodeId}
      returning incarnation`)
    node.incarnation = row?.incarnation ?? ''
    this.#start(node)
  }

  #announce({ nodeId, incarnation }: SimNode): void {
    this.#lastEvent += 1
    this.#log.append({ kind: 'close', eventId: this.#lastEvent, nodeId, incarnation })
  }

  /**
   * Every live node drains its spool and sends its last message; then nothing may be left in
   * escrow.
   */
  async #end(): Promise<void> {
    let isAllClosed = true
    for (const node of this.#nodes) {
      if (!node.isUp && node.restartTick === Number.POSITIVE_INFINITY) {
        isAllClosed = false
        continue
      }
      if (!node.isUp) await this.#restart(node)
      node.spool.push(...node.inFlight.splice(0))
      this.#drain(node)
      this.#announce(node)
    }
    while (!this.#log.isFolded) await this.#fold(1_000)
    await checkEscrow(this.#db, this.#worlds, { isAllClosed })
  }

  #shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, key: this.#random() }))
      .sort((left, right) => left.key - right.key)
      .map(({ item }) => item)
  }
}
