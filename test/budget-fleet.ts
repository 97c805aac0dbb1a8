/**
 * A fleet of nodes that lives through crashes, lost, repeated, late and reordered messages and
 * wrong clocks, while it spends the budgets of many campaigns: the worlds of
 * src/demand/budget-simulation.test.ts.
 *
 * The real lease book, the real statements. Simulated are readers, time, the network between a
 * node and the database, the event log (an array) and the judge (first reserved click of a result
 * is paid, none behind its lease's end).
 */
import assert from 'node:assert/strict'
import { applyBudgets, openAccounts } from '../src/demand/budget-account.ts'
import { LeaseBook } from '../src/demand/lease.ts'
import { requestLeases } from '../src/demand/lease-store.ts'
import { dayNumberOf, dayText, type LeaseRequest } from '../src/demand/lease-terms.ts'
import { closeLeases, leaseCloseBody, settleClicks } from '../src/demand/settle.ts'
import type { Db } from '../src/platform/postgres.ts'
import { sql } from '../src/platform/sql.ts'
import type { Random } from './seeded-random.ts'

const TICK_MS = 4_000
const TICKS = 7
const SKEW_MS = 2_000 // The error that the design allows a clock (economics 2.2).

interface World {
  readonly campaignId: number
  readonly priceMaxMicros: number
  readonly readersPerTick: number
  /** The most that may ever be charged, by account: 'life' or a day. Infinity: no cap. */
  readonly ceilings: Map<string, number>
  dailyCap: number | null
  totalCap: number | null
  /** Reserved for clicks that exist or may still come to exist, by account. */
  readonly reserved: Map<string, number>
  /** Paid by the judge, as far as the log is folded, by account. */
  readonly paid: Map<string, number>
  readonly judgedResults: Set<number>
}

interface Click {
  readonly kind: 'click'
  readonly eventId: number
  readonly resultNumber: number
  readonly world: World
  readonly node: SimNode
  readonly incarnation: string
  readonly leaseId: number
  readonly micros: number
  readonly day: string
}
interface Close {
  readonly kind: 'close'
  readonly eventId: number
  readonly nodeId: number
  readonly incarnation: string
}
type Entry = Click | Close

interface SimNode {
  readonly nodeId: number
  readonly skewMs: number
  incarnation: string
  requestNo: number
  isUp: boolean
  restartTick: number
  books: Map<World, LeaseBook>
  inFlight: Click[] // sent to the log, answer outstanding
  spool: Click[] // durable on the node's disk
  stuck: { requestNo: number; requests: LeaseRequest[] }[] // statements that run late
}

export interface FleetTotals {
  worlds: number
  clicks: number
  paidClicks: number
  unfunded: number
  crashes: number
  lateClicks: number
  chargedMicros: number
}

export class Fleet {
  readonly #db: Db
  readonly #random: Random
  readonly #startMs: number
  readonly #firstCampaign: number // Given, so that one fleet alone replays as it ran among others.
  readonly #nodes: SimNode[] = []
  readonly #worlds: World[] = []
  readonly #log: Entry[] = []
  readonly #seenEvents = new Set<number>()
  readonly #closed = new Set<string>()
  readonly totals: FleetTotals
  #folded = 0
  #tick = 0
  #lastEvent = 0

  constructor(
    db: Db,
    random: Random,
    options: { startMs: number; firstCampaign: number; worlds: number },
  ) {
    this.#db = db
    this.#firstCampaign = options.firstCampaign
    this.#random = random
    this.#startMs = options.startMs
    this.totals = {
      worlds: options.worlds,
      clicks: 0,
      paidClicks: 0,
      unfunded: 0,
      crashes: 0,
      lateClicks: 0,
      chargedMicros: 0,
    }
  }

  /** Lives the whole life of the fleet; throws at the first moment that a rule is broken. */
  async live(): Promise<FleetTotals> {
    await this.#createWorlds()
    await this.#createNodes(2 + Math.floor(this.#random() * 8))
    for (this.#tick = 0; this.#tick < TICKS; this.#tick++) {
      for (const node of this.#nodes) await this.#liveNode(node)
      if (this.#chance(0.7)) await this.#fold()
      if (this.#chance(0.3)) await this.#changeBudgets()
    }
    await this.#end()
    return this.totals
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }

  #trueMs(): number {
    return this.#startMs + this.#tick * TICK_MS
  }

  async #createWorlds(): Promise<void> {
    const caps = Array.from({ length: this.totals.worlds }, () => {
      const price = 10_000 + Math.floor(this.#random() * 500_000)
      const clicks = 1 + Math.floor(this.#random() ** 2 * 80)
      const cap = Math.floor(price * clicks * (1 + this.#random() * 0.3))
      const kind = this.#random()
      return {
        price,
        daily: kind < 0.8 ? cap : null,
        total: kind < 0.3 ? Math.floor(cap * (0.5 + this.#random())) : kind < 0.8 ? null : cap,
      }
    })
    const rows = await this.#db.rows<{ campaign_id: number }>(sql`
      insert into campaign
        (campaign_id, merch_id, model, bid_micros, daily_budget_micros, budget_micros)
      overriding system value
      select ${this.#firstCampaign} + at - 1, 1, 'cpc', price, daily, total from unnest(
        ${caps.map(({ price }) => price)}::bigint[], ${caps.map(({ daily }) => daily)}::bigint[],
        ${caps.map(({ total }) => total)}::bigint[]) with ordinality as cap (price, daily, total, at)
      order by at returning campaign_id`)
    rows.forEach(({ campaign_id }, index) => {
      const { price, daily, total } = caps[index] ?? { price: 1, daily: null, total: null }
      this.#worlds.push({
        campaignId: campaign_id,
        priceMaxMicros: price,
        readersPerTick: this.#random() ** 2 * 2,
        ceilings: new Map(),
        dailyCap: daily,
        totalCap: total,
        reserved: new Map(),
        paid: new Map(),
        judgedResults: new Set(),
      })
    })
    const today = dayNumberOf(this.#startMs)
    const days = [dayText(today - 1), dayText(today), dayText(today + 1)]
    await openAccounts(
      this.#db,
      this.#worlds.flatMap(({ campaignId }) => days.map((day) => ({ campaignId, day }))),
    )
    for (const { ceilings, dailyCap, totalCap } of this.#worlds) {
      ceilings.set('life', totalCap ?? Infinity)
      for (const day of days) ceilings.set(day, dailyCap ?? Infinity)
    }
  }

  async #createNodes(count: number): Promise<void> {
    await this.#db.run(sql`
      insert into node (node_id, host, pid, roles)
      select id, 'sim', 1, 'edge' from generate_series(1, ${count}::int) as id
      on conflict (node_id) do update set incarnation = node.incarnation + 1`)
    const rows = await this.#db.rows<{ node_id: number; incarnation: string }>(sql`
      select node_id, incarnation from node where node_id <= ${count} order by node_id`)
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
    node.books = new Map(
      this.#worlds.map((world) => {
        const book = new LeaseBook()
        const { campaignId, priceMaxMicros } = world
        book.setCampaigns(
          [{ campaignId, priceMaxMicros, index: 0, isCapped: true, budgetVersion: '' }],
          { budgetOk: new Uint8Array(1), nowMs: this.#trueMs() + node.skewMs },
        )
        return [world, book]
      }),
    )
  }

  async #liveNode(node: SimNode): Promise<void> {
    await this.#runStuck(node)
    if (!node.isUp) {
      if (this.#tick >= node.restartTick) await this.#restart(node)
      else return
    }
    await this.#ask(node)
    this.#deliver(node)
    this.#serveReaders(node)
    if (this.#chance(0.1)) this.#crash(node)
  }

  /** One statement for all worlds; each world's part of it has its own fate on the wire. */
  async #ask(node: SimNode): Promise<void> {
    const nowMs = this.#trueMs() + node.skewMs
    node.requestNo += 1
    const { requestNo } = node
    const sent: LeaseRequest[] = []
    const repeated: LeaseRequest[] = []
    const late: LeaseRequest[] = []
    const heard: { book: LeaseBook; requests: LeaseRequest[] }[] = []
    for (const [, book] of node.books) {
      const requests = book.prepare(requestNo, nowMs)
      if (requests.length === 0) continue
      const fate = this.#random()
      if (fate < 0.1) continue // lost on the way
      if (fate < 0.17) {
        late.push(...requests) // stuck; the node gave up on it
        continue
      }
      sent.push(...requests)
      if (fate < 0.24) repeated.push(...requests)
      if (fate > 0.34) heard.push({ book, requests }) // else the answer is lost
    }
    const again = [...late, ...repeated]
    if (again.length > 0) node.stuck.push({ requestNo, requests: again })
    if (sent.length === 0) return
    const grants = await requestLeases(this.#db, node, {
      requestNo,
      requests: sent,
      nowMs: this.#trueMs(),
    })
    assert(grants !== null, 'a node in good standing was refused')
    for (const { book, requests } of heard) book.apply(requestNo, { requests, grants }, nowMs)
  }

  /** Statements that were sent before and run only now, also after their node crashed. */
  async #runStuck(node: SimNode): Promise<void> {
    if (!this.#chance(0.5)) return
    const incarnation = node.incarnation
    for (const { requestNo, requests } of node.stuck.splice(0)) {
      await requestLeases(
        this.#db,
        { nodeId: node.nodeId, incarnation },
        { requestNo, requests, nowMs: this.#trueMs() },
      )
    }
  }

  /** Answers of the log arrive: what was in flight is durable, or must wait in the spool. */
  #deliver(node: SimNode): void {
    for (const click of node.inFlight.splice(0)) {
      const fate = this.#random()
      if (fate < 0.05) {
        // Refused by log and spool alike: the reader was redirected, nobody is charged.
        node.books.get(click.world)?.release(click.world.campaignId, click.leaseId, click.micros)
        this.#count(click, -click.micros)
      } else if (fate < 0.25) node.spool.push(click)
      else this.#append(click)
      // The log took it as well, only its answer was lost: both writes carry one id.
      if (fate > 0.15 && fate < 0.25) this.#append(click)
    }
    if (this.#chance(0.4))
      for (const click of this.#shuffled(node.spool.splice(0))) this.#append(click)
  }

  #serveReaders(node: SimNode): void {
    for (const world of this.#worlds) {
      const book = node.books.get(world)
      if (book === undefined) continue
      const clicks = Math.floor(world.readersPerTick * 2 * this.#random() + this.#random())
      for (let n = 0; n < clicks; n++)
        this.#click(node, { world, book, resultNumber: this.#random() })
    }
  }

  #click(node: SimNode, on: { world: World; book: LeaseBook; resultNumber: number }): void {
    const { world, book, resultNumber } = on
    const nowMs = this.#trueMs() + node.skewMs + Math.floor(this.#random() * TICK_MS)
    const micros = Math.max(1, Math.ceil(world.priceMaxMicros * (0.3 + 0.7 * this.#random())))
    this.totals.clicks += 1
    const leaseId = book.reserve(world.campaignId, micros, nowMs)
    if (leaseId === null) {
      this.totals.unfunded += 1
      return
    }
    const day = dayText(dayNumberOf(nowMs))
    this.#lastEvent += 1
    const { incarnation } = node
    const eventId = this.#lastEvent
    const click = {
      kind: 'click',
      eventId,
      resultNumber,
      world,
      node,
      incarnation,
      leaseId,
    } as const
    node.inFlight.push({ ...click, micros, day })
    this.#count({ ...click, micros, day }, micros)
    // An impatient reader: the same result again, reserved again, never paid twice.
    if (this.#chance(0.05)) this.#click(node, on)
  }

  /** The claim itself: at no instant do the clicks that may be charged exceed a cap. */
  #count({ world, day }: Click, change: number): void {
    for (const account of ['life', day]) {
      const reserved = (world.reserved.get(account) ?? 0) + change
      world.reserved.set(account, reserved)
      const ceiling = world.ceilings.get(account) ?? 0
      assert(reserved <= ceiling, `campaign ${world.campaignId} reserved ${reserved} of ${ceiling}`)
    }
  }

  #append(entry: Entry): void {
    this.#log.push(entry)
    if (this.#chance(0.05)) this.#log.push(entry) // a retry that both times succeeded
  }

  #crash(node: SimNode): void {
    this.totals.crashes += 1
    node.isUp = false
    node.books = new Map()
    // Some never come back, and what they held stays in escrow.
    node.restartTick = this.#chance(0.15)
      ? Infinity
      : this.#tick + 1 + Math.floor(this.#random() * 4)
  }

  /** The next process on that disk: writes the dead one's spool to the log, then its last word. */
  async #restart(node: SimNode): Promise<void> {
    const zombies: Click[] = []
    for (const click of node.inFlight.splice(0)) {
      const fate = this.#random()
      if (fate < 0.4) this.#append(click)
      else if (fate < 0.6) zombies.push(click) // its insert was on the way and commits too late
      if (fate >= 0.4) this.#count(click, -click.micros)
    }
    for (const click of this.#shuffled(node.spool.splice(0))) this.#append(click)
    this.#announce(node)
    for (const click of zombies) this.#append(click)
    const row = await this.#db.row<{ incarnation: string }>(sql`
      update node set incarnation = incarnation + 1 where node_id = ${node.nodeId}
      returning incarnation`)
    node.incarnation = row?.incarnation ?? ''
    node.stuck = []
    this.#start(node)
  }

  #announce({ nodeId, incarnation }: SimNode): void {
    this.#lastEvent += 1
    this.#append({ kind: 'close', eventId: this.#lastEvent, nodeId, incarnation })
  }

  /** Folds some of the log in one transaction, which fails now and then and is done again. */
  async #fold(limit = 1 + Math.floor(this.#random() * 400)): Promise<void> {
    const batch = this.#log.slice(this.#folded, this.#folded + limit)
    const fresh: Entry[] = []
    const ids = new Set(this.#seenEvents)
    for (const entry of batch) {
      if (!ids.has(entry.eventId)) fresh.push(entry)
      ids.add(entry.eventId)
    }
    const verdicts = this.#judge(fresh)
    const work = async (tx: Db, fails: boolean): Promise<void> => {
      for (const run of runs(verdicts)) {
        const closes = run.flatMap(({ entry }) => (entry.kind === 'close' ? [entry] : []))
        if (closes.length > 0) {
          await closeLeases(
            tx,
            closes.map((close) => ({ body: leaseCloseBody(close) })),
          )
        }
        await settleClicks(tx, run.flatMap(settled))
      }
      if (fails) throw new SimulatedCrash()
    }
    if (this.#chance(0.15)) {
      await assert.rejects(
        this.#db.transaction((tx) => work(tx, true)),
        SimulatedCrash,
      )
    }
    await this.#db.transaction((tx) => work(tx, false))
    this.#folded += batch.length
    for (const { eventId } of fresh) this.#seenEvents.add(eventId)
    for (const verdict of verdicts) this.#remember(verdict)
    await this.#checkAccounts()
  }

  /** Pure: looks at what was remembered, changes nothing, so that a fold may fail and repeat. */
  #judge(entries: readonly Entry[]): Verdict[] {
    const closed = new Set(this.#closed)
    const results = new Map<World, Set<number>>()
    return entries.map((entry) => {
      if (entry.kind === 'close') {
        closed.add(`${entry.nodeId} ${entry.incarnation}`)
        return { entry, isLate: false, paid: 0 }
      }
      const { world, resultNumber, micros } = entry
      const judged = results.get(world) ?? new Set()
      results.set(world, judged)
      const isFirst = !world.judgedResults.has(resultNumber) && !judged.has(resultNumber)
      judged.add(resultNumber)
      const isLate = closed.has(`${entry.node.nodeId} ${entry.incarnation}`)
      return { entry, isLate, paid: isFirst && !isLate ? micros : 0 }
    })
  }

  #remember({ entry, isLate, paid }: Verdict): void {
    if (entry.kind === 'close') {
      this.#closed.add(`${entry.nodeId} ${entry.incarnation}`)
      return
    }
    const { world, day, resultNumber, micros } = entry
    world.judgedResults.add(resultNumber)
    if (isLate) this.totals.lateClicks += 1
    if (!isLate && paid === 0) this.#count(entry, -micros)
    if (paid === 0) return
    this.totals.paidClicks += 1
    this.totals.chargedMicros += paid
    for (const account of ['life', day]) {
      world.paid.set(account, (world.paid.get(account) ?? 0) + paid)
    }
  }

  /** B1 and settled = truth, for every account of every world. */
  async #checkAccounts(): Promise<AccountRow[]> {
    const rows = await this.#db.rows<AccountRow>(sql`
      select campaign_id, day, cap_micros, settled_micros, escrow_micros from budget_account
      where campaign_id between ${this.#firstCampaign}::int
        and ${this.#firstCampaign + this.totals.worlds - 1}::int`)
    const worlds = new Map(this.#worlds.map((world) => [world.campaignId, world]))
    for (const row of rows) {
      const world = worlds.get(row.campaign_id)
      const account = row.day ?? 'life'
      assert.equal(
        Number(row.settled_micros),
        world?.paid.get(account) ?? 0,
        'settled is not truth',
      )
      const used = Number(row.settled_micros) + Number(row.escrow_micros)
      assert(used <= (world?.ceilings.get(account) ?? 0), 'B1: settled + escrow exceeds the cap')
    }
    return rows
  }

  /** A merchant raises or lowers its budgets, some below what is spent already. */
  async #changeBudgets(): Promise<void> {
    const rows = await this.#checkAccounts()
    const used = new Map(
      rows.map((row) => [
        `${row.campaign_id} ${row.day ?? 'life'}`,
        Number(row.settled_micros) + Number(row.escrow_micros),
      ]),
    )
    for (const world of this.#worlds) {
      if (!this.#chance(0.1)) continue
      const factor = 0.2 + this.#random() * 1.5
      const scaled = (cap: number | null) => cap && Math.max(1, Math.floor(cap * factor))
      world.dailyCap = scaled(world.dailyCap)
      world.totalCap = scaled(world.totalCap)
      const today = dayText(dayNumberOf(this.#startMs) - 1)
      await this.#db.transaction(async (tx) => {
        await tx.run(sql`update campaign set daily_budget_micros = ${world.dailyCap},
          budget_micros = ${world.totalCap} where campaign_id = ${world.campaignId}`)
        await applyBudgets(tx, world.campaignId, today)
      })
      for (const account of world.ceilings.keys()) {
        const cap = (account === 'life' ? world.totalCap : world.dailyCap) ?? Infinity
        // Leases already out may still be spent; nothing beyond them.
        world.ceilings.set(account, Math.max(cap, used.get(`${world.campaignId} ${account}`) ?? 0))
      }
    }
  }

  /** Every node that lives drains and says its last word; then nothing may be left in escrow. */
  async #end(): Promise<void> {
    const lost = new Set<number>()
    for (const node of this.#nodes) {
      if (!node.isUp && node.restartTick === Infinity) lost.add(node.nodeId)
      else if (!node.isUp) await this.#restart(node)
      if (lost.has(node.nodeId)) continue
      for (const click of [...node.inFlight.splice(0), ...node.spool.splice(0)]) this.#append(click)
      this.#announce(node)
    }
    while (this.#folded < this.#log.length) await this.#fold(1_000)
    const leased = await this.#db.rows<{
      campaign_id: number
      day: string | null
      micros: string
    }>(sql`
      select campaign_id, day, sum(granted_micros - reserved_folded_micros) as micros from lease
      where closed_at is null and campaign_id between ${this.#firstCampaign}::int
        and ${this.#firstCampaign + this.totals.worlds - 1}::int
      group by grouping sets ((campaign_id, day), (campaign_id))`)
    const held = new Map(
      leased.map(({ campaign_id, day, micros }) => [`${campaign_id} ${day}`, micros]),
    )
    for (const row of await this.#checkAccounts()) {
      const expected = held.get(`${row.campaign_id} ${row.day}`) ?? '0'
      assert.equal(row.escrow_micros, expected, 'escrow is not what open leases hold')
      assert(lost.size > 0 || row.escrow_micros === '0', 'money stayed in escrow')
    }
  }

  #shuffled<T>(items: T[]): T[] {
    return items
      .map((item) => ({ item, key: this.#random() }))
      .sort((left, right) => left.key - right.key)
      .map(({ item }) => item)
  }
}

class SimulatedCrash extends Error {}

interface AccountRow {
  readonly campaign_id: number
  readonly day: string | null
  readonly cap_micros: string | null
  readonly settled_micros: string
  readonly escrow_micros: string
}

interface Verdict {
  readonly entry: Entry
  readonly isLate: boolean
  readonly paid: number
}

/** Runs of clicks and of closings, in the order of the log, as the money fold takes them. */
function runs(verdicts: readonly Verdict[]): Verdict[][] {
  const found: Verdict[][] = []
  for (const verdict of verdicts) {
    const run = found.at(-1)
    if (run?.[0]?.entry.kind === verdict.entry.kind) run.push(verdict)
    else found.push([verdict])
  }
  return found
}

function settled({ entry, paid }: Verdict) {
  if (entry.kind === 'close') return []
  const { world, day, leaseId, micros } = entry
  const { campaignId } = world
  return [{ campaignId, day, leaseId: String(leaseId), reservedMicros: micros, paidMicros: paid }]
}
