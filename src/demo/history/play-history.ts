/** Plays the days of a history in order: visits, purchases, and what people did. */
import { sumOpenClicks } from '../../budgets/open-click-store.ts'
import { learnTraffic } from '../../budgets/traffic-store.ts'
import type { LogEvent } from '../../events/event.ts'
import { retrieveLinks } from '../../links/retrieve-links.ts'
import type { IntakeDeps } from '../../orders/intake.ts'
import { Signals } from '../../orders/signals.ts'
import { guardedAgent } from '../../platform/net/fetch-guard.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/time/timestamp.ts'
import { fitNightly } from '../../prediction/learn-store.ts'
import type { OrderDecision } from '../../reports/decide-order.ts'
import { watchLinks } from '../../stats/watch-links.ts'
import { deliverWebhooks } from '../../webhooks/deliver-webhooks.ts'
import { makeNotices } from '../../webhooks/make-notices.ts'
import { type DemoDeps, type DemoState, importDemoFeed, linkKey, siteUrl } from '../load.ts'
import { ARTICLES, type DemoArticle, pickedOffer } from '../network.ts'
import { Agenda } from './agenda.ts'
import { dateImport } from './history-store.ts'
import { type PastNode, receiptsFromMs } from './past-node.ts'
import { changedFeeds, pastOffers } from './past-offers.ts'
import { type Landing, type LinksOf, VisitPlayer } from './play-visits.ts'
import type { Random } from './random.ts'
import type { Reader } from './readers.ts'
import { reportRefusals } from './refusals.ts'
import {
  capCampaigns,
  decide,
  hasScene,
  playScenes,
  type Stage,
  WEBHOOKS_DAYS_AGO,
} from './scenes.ts'
import { followUpOf, purchaseOf, type ShopMoment, Shops } from './shops.ts'
import {
  HISTORY_DAYS,
  type PlannedClick,
  type PlannedMoment,
  type PlannedPurchase,
  planDay,
} from './visits.ts'

/** The predictions are renewed and the links looked at every few days. */
const REFRESH_DAYS = 4
const MODEL_DAYS = 12
/** Before the first link stops to earn, nothing is to be seen at links. */
const WATCHED_DAYS = 16
/** The last minute belongs to the visitor who has just started the demo. */
const QUIET_MS = MINUTE_MS

/** Held orders: what the operator decides about each; null: nothing so far. */
const BULK_ORDERS: readonly {
  readonly daysAgo: number
  readonly decision: OrderDecision | null
}[] = [
  { daysAgo: 24, decision: { kind: 'approve' } },
  { daysAgo: 16, decision: { kind: 'reject', reason: 'The company never ordered' } },
  { daysAgo: 3, decision: null },
  { daysAgo: 1, decision: null },
]
const REJECTED: OrderDecision = { kind: 'reject', reason: 'Paid with a stolen card' }
const BULK_PURCHASE: PlannedPurchase = {
  ...{ afterMs: 25 * MINUTE_MS, quantity: 1, fate: 'kept', fateAfterMs: 0 },
}
const BULK_CENTS = 1_050_000 // Above the limit of every unconfirmed order.
const DECIDED_AFTER_MS = 8 * HOUR_MS

/** What the operator decides about an order on the first morning after a time. */
interface Decision {
  readonly atMs: number
  readonly order: ShopMoment
  readonly decision: OrderDecision
}

type Moment = PlannedMoment | ShopMoment

export interface HistoryParts {
  readonly deps: DemoDeps
  readonly state: DemoState
  readonly random: Random
  readonly nowMs: number
  /** Of the usual number of visits; tests play fewer. */
  readonly traffic: number
}

export class HistoryPlayer {
  readonly #past: PastNode
  readonly #parts: HistoryParts
  readonly #endMs: number
  readonly #agenda = new Agenda<Moment>()
  readonly #recentReaders: Reader[] = []
  readonly #links = new Map<DemoArticle, readonly string[]>()
  readonly #intake: IntakeDeps
  readonly #visits: VisitPlayer
  readonly #shops: Shops
  readonly #bulkOrders = [...BULK_ORDERS]
  #decisions: readonly Decision[] = []
  readonly #signals: Signals
  #clicked = new Set<string>()
  #daysAgo = HISTORY_DAYS

  constructor(past: PastNode, parts: HistoryParts) {
    this.#past = past
    this.#parts = parts
    this.#endMs = parts.nowMs - QUIET_MS
    const { database: db, log } = past.node
    const append = async (events: readonly LogEvent[]) => {
      await past.append(events)
      // Only then do later reports about the same order find it.
      await past.flush()
    }
    const now = () => past.clock.nowMs
    this.#intake = { db, append, nextId: () => past.node.ids.next(), now }
    this.#signals = new Signals(db, (error) => log.error({ err: error }, 'signals of the demo'))
    const linksOf: LinksOf = (article) => this.#links.get(article) ?? []
    this.#visits = new VisitPlayer(past, parts.state, linksOf)
    this.#shops = new Shops(this.#intake, {
      state: parts.state,
      onReport: (merchId, signal) => this.#signals.note(merchId, signal, now()),
    })
  }

  async play(): Promise<void> {
    const { clock } = this.#past
    await this.#findLinks()
    const today = Math.floor(this.#parts.nowMs / DAY_MS) * DAY_MS
    for (let daysAgo = HISTORY_DAYS; daysAgo >= 0; daysAgo--) {
      const dayMs = today - daysAgo * DAY_MS
      clock.nowMs = Math.min(dayMs, this.#endMs)
      this.#daysAgo = daysAgo
      await this.#morning(dayMs)
      this.#planDay(dayMs)
      const untilMs = Math.min(dayMs + DAY_MS, this.#endMs)
      for (;;) {
        const moment = this.#agenda.takeBefore(untilMs)
        if (moment === null) break
        clock.nowMs = Math.max(clock.nowMs, Math.floor(moment.atMs))
        await this.#play(moment)
      }
    }
    clock.nowMs = this.#endMs
    await this.#end()
  }

  /** What people and nightly jobs do; then the market is read again. */
  async #morning(dayMs: number): Promise<void> {
    const daysAgo = this.#daysAgo
    const { node, clock } = this.#past
    const due = this.#decisions.filter(({ atMs }) => atMs <= clock.nowMs)
    const isScene = hasScene(daysAgo, dayMs)
    const isQuiet = daysAgo % REFRESH_DAYS !== 0 && daysAgo > WEBHOOKS_DAYS_AGO
    if (isQuiet && !isScene && due.length === 0 && changedFeeds(daysAgo).length === 0) return
    await this.#past.untilFolded()
    if (isScene) await playScenes(this.#stage(), daysAgo)
    for (const { order, decision } of due) await decide(this.#stage(), order, decision)
    this.#decisions = this.#decisions.filter((one) => !due.includes(one))
    await this.#importFeeds()
    if (daysAgo % MODEL_DAYS === 0) await fitNightly(node.database, clock.nowMs)
    if (daysAgo <= WATCHED_DAYS) await watchLinks(node.database, new Date(clock.nowMs))
    if (daysAgo < WEBHOOKS_DAYS_AGO) await this.#sendWebhooks()
    await this.#past.refresh([...this.#links.values()].flat())
  }

  #planDay(dayMs: number): void {
    const { random, traffic } = this.#parts
    const planned = planDay(random, { dayMs, daysAgo: this.#daysAgo, traffic }, this.#recentReaders)
    this.#clicked = new Set(
      planned.flatMap((one) => (one.kind === 'click' ? [`${one.session} ${one.pick}`] : [])),
    )
    this.#agenda.add(planned)
  }

  async #play(moment: Moment): Promise<void> {
    switch (moment.kind) {
      case 'view': {
        const { session, atMs } = moment
        this.#past.storesReceipts = atMs >= receiptsFromMs(this.#past.node, this.#parts.nowMs)
        return this.#visits.view(moment, (pick) => this.#clicked.has(`${session} ${pick}`))
      }
      case 'click': {
        const landing = await this.#visits.click(moment)
        if (landing !== null) this.#plan(moment, landing)
        return
      }
      default: {
        await this.#shops.report(moment)
        const followUp = followUpOf(moment)
        if (followUp !== null) this.#agenda.addOne(followUp)
        const isFraud = moment.kind === 'order' && moment.fate === 'rejected'
        if (isFraud) this.#decideLater(moment, REJECTED, moment.fateAfterMs)
      }
    }
  }

  #decideLater(order: ShopMoment, decision: OrderDecision, afterMs: number): void {
    this.#decisions = [...this.#decisions, { atMs: order.atMs + afterMs, order, decision }]
  }

  /** What follows a click. */
  #plan(click: PlannedClick, landing: Landing): void {
    const { nowMs } = this.#parts
    const purchase = purchaseOf(click, landing, nowMs)
    const isBulkDue = this.#bulkOrders.some(({ daysAgo }) => this.#daysAgo <= daysAgo)
    if (isBulkDue && click.manner === 'plain') {
      const order = purchaseOf({ ...click, purchase: BULK_PURCHASE }, landing, nowMs)
      if (order !== null && !Shops.isByServer(order)) this.#planBulk(order)
    }
    if (purchase !== null) this.#agenda.addOne(purchase)
  }

  /** Somebody orders more than a browser alone may report, so the order is held. */
  #planBulk(small: ShopMoment): void {
    const quantity = Math.ceil(BULK_CENTS / small.offer.priceCents)
    const order: ShopMoment = { ...small, quantity }
    this.#agenda.addOne(order)
    const decision = this.#bulkOrders.shift()?.decision ?? null
    if (decision !== null) this.#decideLater(order, decision, DECIDED_AFTER_MS)
  }

  #stage(): Stage {
    const linksOf: LinksOf = (article) => this.#links.get(article) ?? []
    return { past: this.#past, state: this.#parts.state, linksOf, intake: this.#intake }
  }

  /** Created links, and those that LinkMate makes of a partner's raw links. */
  async #findLinks(): Promise<void> {
    const { state } = this.#parts
    for (const article of ARTICLES) {
      const known = article.picks.flatMap((pick) => state.links[linkKey(article.slug, pick)] ?? [])
      const ids = known.length > 0 ? known : await this.#retrieveLinks(article)
      this.#links.set(article, ids)
    }
  }

  async #retrieveLinks(article: DemoArticle): Promise<string[]> {
    const { state } = this.#parts
    const { node, clock } = this.#past
    const urls = article.picks.map((pick) => {
      const { merchant, sku } = pickedOffer(pick)
      const lock = pick.isExclusive ? '#locklink' : ''
      return `${siteUrl(merchant.slug, state.sitePort)}/p/${sku}${lock}`
    })
    const found = await retrieveLinks(
      {
        ...{ db: node.database, bases: node.config, nextId: () => node.ids.next() },
        ...{ now: () => new Date(clock.nowMs), newPerHour: urls.length },
        ...{ onLeftOut: () => undefined, mayStore: () => true, onLinks: () => undefined },
      },
      {
        ...{ pubId: state.publishers[article.publisher] ?? 0, holder: null, address: '' },
        body: {
          article: {
            name: article.title,
            url: `${siteUrl(article.publisher, state.sitePort)}/${article.slug}`,
          },
          links: urls.map((raw_url) => ({ raw_url })),
        },
      },
    )
    const byUrl = new Map(found.map((link) => [link.url, link.auction_id]))
    return urls.flatMap((url) => byUrl.get(url) ?? [])
  }

  async #importFeeds(): Promise<void> {
    const { deps, state } = this.#parts
    const { clock, node } = this.#past
    for (const merchant of changedFeeds(this.#daysAgo)) {
      const offers = pastOffers(merchant, this.#daysAgo)
      const importId = await importDemoFeed(deps, state, { merchant, offers })
      if (importId !== null) await dateImport(node.database, importId, new Date(clock.nowMs))
    }
  }

  async #sendWebhooks(): Promise<void> {
    const { node, clock } = this.#past
    const db = node.database
    const now = () => new Date(clock.nowMs)
    await makeNotices(db, now())
    // The demo's own site receives them.
    const agent = guardedAgent({ allowPrivate: true })
    await deliverWebhooks({ db, agent, now, onDisabled: () => undefined })
    await agent.close()
  }

  /** Everything that a night job would have left behind by now. */
  async #end(): Promise<void> {
    const { node, clock } = this.#past
    await reportRefusals(this.#intake, { state: this.#parts.state, quotas: node.quotas })
    await this.#past.untilFolded()
    await capCampaigns(this.#stage())
    await learnTraffic(node.database, clock.nowMs)
    await sumOpenClicks(node.database, clock.nowMs)
    await this.#sendWebhooks()
    await watchLinks(node.database, new Date(clock.nowMs))
  }
}
