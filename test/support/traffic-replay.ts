/**
 * Plays a recorded world's traffic into a whole node, in this process and at the recorded times.
 *
 * Everything takes the production path (hot endpoints, intake, log, fold, ledger) except the socket
 * and the clock: neither a request nor a command can set the time, so the node receives a clock.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readConfig } from '../../src/node/config.ts'
import { type Node, openNode } from '../../src/node/node.ts'
import { acceptOrders, acceptReturns } from '../../src/orders/intake.ts'
import { insertRates } from '../../src/orders/rate-store.ts'
import { readOrder, readReturn } from '../../src/orders/read-order.ts'
import type { HotReply, HotRoute } from '../../src/platform/http/hot-http.ts'
import { makeLogger } from '../../src/platform/process/log.ts'
import { DAY_MS, utcDay } from '../../src/platform/time/timestamp.ts'
import { edgeRoutes } from '../../src/server/edge-routes.ts'
import { databaseUrl, type Scope, testDatabase } from './database.ts'
import { openFoldedLog } from './fold-log.ts'
import { makeTrafficWorld, type TrafficWorld, type WorldFile } from './traffic-world.ts'

export interface Action {
  readonly seq: number
  readonly at: string
  readonly type: 'page_view' | 'auction' | 'click' | 'order' | 'return'
  readonly uuid?: string
  readonly visitor?: string
  readonly publisher?: string
  readonly link?: string
  readonly url?: string
  readonly previous_url?: string
  readonly user_agent?: string
  readonly occurrences?: number
  readonly viewable?: boolean
  readonly auction?: number | null
  readonly direct?: boolean
  readonly kind?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly click?: number | null
  readonly order?: number
  readonly order_id?: string
  readonly merchant?: string
  readonly currency?: string
  readonly total_minor?: number
  readonly lines?: readonly {
    readonly product_id: string
    readonly name: string
    readonly quantity: number
    readonly price_minor: number
  }[]
  readonly new_customer?: boolean
  readonly via?: 'postback' | 'pixel' | 'import'
  readonly line?: number
  readonly quantity?: number
}

export interface Replay {
  readonly node: Node
  readonly world: TrafficWorld
  readonly actions: readonly Action[]
  /** The click id (hex) of each click, by its action. */
  readonly clickIds: ReadonlyMap<number, string>
  /** The time at the end. */
  readonly nowMs: number
}

/** Events in flight that nobody waits for; the log combines them into few commits. */
const PENDING_MAX = 200

/** Plays `traffic.jsonl.gz` of a folder to its end, and folds everything. */
export async function replayTraffic(scope: Scope, folder: string): Promise<Replay> {
  const file = JSON.parse(readFileSync(join(folder, 'world.json'), 'utf8')) as WorldFile
  const actions = gunzipSync(readFileSync(join(folder, 'traffic.jsonl.gz')))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Action)
  const dropDatabase: (() => Promise<void>)[] = []
  const db = await testDatabase({ after: (work) => dropDatabase.push(work) })
  const clock = { nowMs: Date.parse(actions[0]?.at ?? '') }
  const world = await makeTrafficWorld(db, file, new Date(clock.nowMs - DAY_MS))
  await insertRates(db, 'test', ratesFrom(clock.nowMs, 120))
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-replay-'))
  const node = await openNode(
    readConfig({
      PORT: '8080',
      SOUK_DATA: dataDir,
      DATABASE_URL: databaseUrl(db.connection),
      RATE_LIMITS: '0',
      LOG_LEVEL: 'error',
    }),
    { log: makeLogger({ level: 'error' }), now: () => clock.nowMs },
  )
  scope.after(async () => {
    await node.close()
    await rm(dataDir, { recursive: true, force: true })
    for (const drop of dropDatabase) await drop()
  })
  const player = new Player(node, world, clock)
  for (const action of actions) await player.play(action)
  await player.flush()
  await openFoldedLog(scope, db).fold()
  return { node, world, actions, clickIds: player.clickIds, nowMs: clock.nowMs }
}

class Player {
  readonly clickIds = new Map<number, string>()
  readonly #node: Node
  readonly #world: TrafficWorld
  readonly #clock: { nowMs: number }
  readonly #match: (path: string) => HotRoute | null
  readonly #pending = new Set<Promise<unknown>>()
  readonly #redirects = new Map<number, string>() // By auction action.
  readonly #cookies = new Map<string, string>() // By visitor.
  readonly #merchantOf = new Map<number, number>() // The merchant of an order, by its action.
  #day = -1

  constructor(node: Node, world: TrafficWorld, clock: { nowMs: number }) {
    this.#node = node
    this.#world = world
    this.#clock = clock
    this.#match = edgeRoutes(node)
  }

  async play(action: Action): Promise<void> {
    const atMs = Date.parse(action.at)
    const day = Math.floor(atMs / DAY_MS)
    if (day !== this.#day) {
      // Pending work belongs to the day it started on, and so do hash keys.
      await this.flush()
      await this.#node.hashKeys.refresh(atMs)
      this.#day = day
    }
    this.#clock.nowMs = atMs
    switch (action.type) {
      case 'page_view':
        return this.#later(this.#event('page_impression', action, [{}]))
      case 'auction':
        return this.#auction(action)
      case 'click':
        return this.#click(action)
      case 'order':
        return this.#order(action)
      case 'return':
        return this.#goodsBack(action)
    }
  }

  async flush(): Promise<void> {
    await Promise.all(this.#pending)
  }

  async #later(work: Promise<HotReply>): Promise<void> {
    const checked = work.then(({ status, body }) => assert.equal(status, 201, String(body)))
    this.#pending.add(checked)
    void checked.finally(() => this.#pending.delete(checked)).catch(() => undefined)
    if (this.#pending.size >= PENDING_MAX) await this.flush()
  }

  async #auction(action: Action): Promise<void> {
    const { auctionId } = this.#world.link(action.link)
    const query = `a=${auctionId}&t=1&uuid=${action.uuid}`
    const reply = await this.#call('/api/v1/auction', action, { query })
    assert.equal(reply.status, 200)
    const { redirect_url } = JSON.parse(String(reply.body)).data[0].auction_result
    this.#redirects.set(action.seq, redirect_url)
    const events = Array.from({ length: action.occurrences ?? 0 }, () => ({
      auction_id: auctionId,
    }))
    if (events.length > 0) await this.#later(this.#event('service_link_impression', action, events))
  }

  async #click(action: Action): Promise<void> {
    const { auctionId } = this.#world.link(action.link)
    const sealed = this.#redirects.get(action.auction ?? 0)
    const target = action.direct || sealed === undefined ? `http://x/${auctionId}` : sealed
    const { pathname, search } = new URL(target)
    const reply = await this.#call(pathname.replace(/\/$/, ''), action, { query: search.slice(1) })
    assert.equal(reply.status, 302, `${action.seq} ${String(reply.body)}`)
    const cookie = [reply.headers['set-cookie'] ?? []].flat()[0]
    if (cookie !== undefined && action.visitor !== undefined) {
      this.#cookies.set(action.visitor, cookie.split(';')[0] ?? '')
    }
    const cid = new URL(String(reply.headers.location)).searchParams.get('cid')
    if (cid !== null) this.clickIds.set(action.seq, cid)
  }

  #intake() {
    const { appender, database: db, ids } = this.#node
    const now = () => this.#clock.nowMs
    return { db, append: appender.append, nextId: () => ids.next(), now }
  }

  /** An order is reported by the merchant whose page the click led to. */
  async #order(action: Action): Promise<void> {
    const { currency = '', total_minor = 0, lines = [] } = action
    const money = (minor: number) => (minor / 100).toFixed(2)
    const clickId = this.clickIds.get(action.click ?? 0)
    const merchant = this.#world.merchant(action.merchant)
    const order = {
      id: action.order_id ?? '',
      value: money(total_minor),
      currency,
      click_ids: clickId === undefined ? [] : [clickId],
      is_new_customer: action.new_customer ?? null,
    }
    const products = lines.map(({ product_id: id, name, quantity, price_minor }) => ({
      id,
      name,
      quantity,
      price: money(price_minor),
    }))
    const source = { postback: 's2s', pixel: 'pixel', import: 'import' } as const
    const context = { source: source[action.via ?? 'postback'], nowMs: this.#clock.nowMs }
    const read = [readOrder({ order, products }, context)]
    this.#merchantOf.set(action.seq, merchant.merch_id)
    await acceptOrders(this.#intake(), merchant, { orders: read, listName: 'orders' })
  }

  async #goodsBack(action: Action): Promise<void> {
    const merchant = this.#world.merchant(action.merchant)
    const entry = {
      id: `back ${action.seq}`,
      order_id: action.order_id ?? '',
      line: action.line ?? 0,
      quantity: action.quantity ?? 1,
    }
    const read = [readReturn(entry, this.#clock.nowMs)]
    await acceptReturns(this.#intake(), merchant, read)
  }

  #event(type: string, action: Action, events: readonly object[]): Promise<HotReply> {
    const body = {
      organization_type: 'publisher',
      organization_id: this.#world.publisher(action.publisher).pub_id,
      user: {
        page_session_uuid: action.uuid,
        source_url: action.url ?? 'https://www.publisher-1.example/',
        previous_url: action.previous_url ?? '',
      },
      events,
    }
    return this.#call(`/api/v1/events/impressions/${type}`, action, { body: JSON.stringify(body) })
  }

  async #call(
    path: string,
    action: Action,
    sent: { readonly query?: string; readonly body?: string },
  ): Promise<HotReply> {
    const route = this.#match(path)
    assert.ok(route, `no route ${path}`)
    const cookie = this.#cookies.get(action.visitor ?? '')
    return route.handle({
      isHead: false,
      path,
      query: sent.query ?? '',
      headers: {
        'user-agent': action.user_agent ?? '',
        'content-type': 'application/json',
        ...(cookie === undefined ? {} : { cookie }),
        ...action.headers,
      },
      address: '203.0.113.1',
      body: sent.body === undefined ? null : Buffer.from(sent.body),
      requestId: randomUUID(),
    })
  }
}

/** A rate for every day, invented and different each day. */
function ratesFrom(fromMs: number, days: number) {
  return Array.from({ length: days }, (_, index) => {
    const day = utcDay(fromMs + (index - 1) * DAY_MS)
    const usdPerBase = (1.1 + (index % 7) / 1000).toFixed(4)
    return [
      { day, currency: 'EUR', usdPerBase, currencyPerBase: '1' },
      { day, currency: 'GBP', usdPerBase, currencyPerBase: (0.86 + (index % 5) / 1000).toFixed(5) },
    ]
  }).flat()
}
