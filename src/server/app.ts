/**
 * Composes a process: every route, worker and schedule, by role.
 *
 * `api` serves BASE_URL: accounts, creation, matching, statistics, dashboard, events. `edge` serves
 * readers' browsers: auction, redirects, and events too. `worker` runs the fold and the schedules.
 * One process has all three roles unless ROLES says otherwise.
 */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { invitationRoutes } from '../accounts/invitation-routes.ts'
import type { Operation } from '../accounts/operation.ts'
import { operationRoutes } from '../accounts/operation-routes.ts'
import { peopleOperations } from '../accounts/people-operations.ts'
import { type KeyGuard, makeKeyGuard } from '../accounts/require-key.ts'
import { accountRoutes } from '../accounts/routes.ts'
import { dayRunRoutes } from '../auction/day-run-routes.ts'
import { isOwnPage as isOnOwnDomain } from '../auction/market.ts'
import { resultRoutes } from '../auction/result-routes.ts'
import { screenshotRoute } from '../check-page/tag-check-routes.ts'
import { LogUnavailable } from '../events/event-log.ts'
import { startFold } from '../fold/start-fold.ts'
import { startSchedules } from '../jobs/run-schedules.ts'
import { createLinkRoute, type PageLinkDeps, pageLinkRoutes } from '../links/routes.ts'
import type { SmartLinkRecord } from '../links/schema.ts'
import { unattributedRoute } from '../links/unattributed-routes.ts'
import { feedRoutes } from '../matching/feed-routes.ts'
import { matchRoutes } from '../matching/routes.ts'
import type { IsOwnPage } from '../matching/store.ts'
import type { RateLimit } from '../node/config.ts'
import type { Node } from '../node/node.ts'
import { networkOperations } from '../operator/operations.ts'
import { checkoutRoutes } from '../orders/checkout-routes.ts'
import type { IntakeDeps } from '../orders/intake.ts'
import { intakeRoutes } from '../orders/routes.ts'
import { shopViewRoutes } from '../orders/shop-view-routes.ts'
import type { Signal } from '../orders/signal-store.ts'
import { Signals } from '../orders/signals.ts'
import { UsualValues } from '../orders/usual-value.ts'
import { createHttp, type Http } from '../platform/http/http-server.ts'
import { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { addressIndex } from '../platform/net/address-index.ts'
import { errorLogger } from '../platform/process/log.ts'
import { lostPage, tooLongPage } from '../redirect/pages.ts'
import { merchantRoutes } from '../reports/merchant-routes.ts'
import { readMerchantPerformance } from '../reports/performance-operations.ts'
import { reportRoutes } from '../reports/routes.ts'
import { findResultOfClick, listClicksOfResult } from '../stats/click-store.ts'
import { reversalRoutes } from '../stats/reversal-routes.ts'
import { statsRoutes } from '../stats/routes.ts'
import { unsubscribeRoutes } from '../webhooks/unsubscribe-routes.ts'
import { webhookOperations } from '../webhooks/webhook-operations.ts'
import { edgeDocs } from './edge-docs.ts'
import { noteDestination } from './edge-routes.ts'
import { figureRoutes } from './figure-routes.ts'
import { healthRoutes } from './health-routes.ts'
import { hotRoutes } from './hot-paths.ts'
import { noteKeyPlace } from './key-notices.ts'
import { listenProblem, reachableUrl } from './listen-problem.ts'
import { operationsForMerchants } from './operations-for-merchants.ts'
import { operationsForPublishers } from './operations-for-publishers.ts'
import { mailQueue, signInRoutes } from './sign-in-routes.ts'
import { pageRoutes, staticRoutes } from './static-routes.ts'

export interface App {
  readonly url: string
  readonly http: Http
  close(): Promise<void>
}

/**
 * How long open requests may take after the stop signal. The log's last appends, the leases' final
 * reports and PostgreSQL need the rest of the ten seconds, so a client that never ends its request
 * must not use them up.
 */
export const LAST_REQUESTS_MS = 5_000
/** A connection in use gets its next request within this time. */
export const DRAIN_MS = 500
/**
 * The accept backlog; Linux allows as many. A flood overflows Node's default of 511, and further
 * clients retry after seconds or are cut off.
 */
const BACKLOG = 4_096
/** Under a flood, connections arrive in every turn of the event loop. */
const LAST_TURNS_MAX = 100

/** Serves a node's roles. Resolves when requests are answered. */
export async function startApp(node: Node): Promise<App> {
  const http = await buildHttp(node)
  const { host, port: wanted } = node.config
  await http.listen({ port: wanted, host, backlog: BACKLOG }).catch((error) => {
    throw listenProblem(node.config, error)
  })
  // After opening the port, so that a failing start leaves nothing running.
  const workers = await startWorkers(node).catch(async (error) => {
    await http.close()
    throw error
  })
  const { port } = http.server.address() as AddressInfo
  return {
    url: reachableUrl(host, port),
    http,
    close: async () => {
      const cut = setTimeout(() => http.server.closeAllConnections(), LAST_REQUESTS_MS)
      await drainConnections(http.server)
      await closePort(http.server)
      await http.close()
      clearTimeout(cut)
      await Promise.all(workers.map((worker) => worker.close()))
    },
  }
}

/**
 * Drains connections before closing. Proxies reuse open connections, and cutting one may lose a
 * response, so each first gets the chance to close with its next response.
 */
async function drainConnections(server: Server): Promise<void> {
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
  const connections = await promisify(server.getConnections.bind(server))()
  if (connections > 0) await sleep(DRAIN_MS)
}

/**
 * Closing the listener resets connections in the accept backlog. So it closes directly after a turn
 * of the event loop without new connections, before Fastify closes anything else.
 */
async function closePort(server: Server): Promise<void> {
  let came = 1
  server.on('connection', () => {
    came += 1
  })
  for (let turn = 0; turn < LAST_TURNS_MAX && came > 0; turn += 1) {
    came = 0
    await nextTurn()
  }
  server.close()
}

/** All routes of the node's roles, not yet listening. */
async function buildHttp(node: Node): Promise<Http> {
  const { config, log, database: db } = node
  const [isApi, isEdge] = [config.roles.has('api'), config.roles.has('edge')]
  const http = await createHttp({
    log,
    corsOrigins: config.corsOrigins,
    isTrustedProxy: addressIndex(config.trustedProxies),
    matchHot: hotRoutes(node),
    lostPage,
    tooLongPage,
    onAnswer: node.metrics.answered,
    isUnavailable: (error) => error instanceof LogUnavailable,
  })
  const now = () => new Date(node.now())
  const keys = keyGuard(node)
  const nextId = () => node.ids.next()
  const intake = intakeDeps(node, nextId)

  await http.register(healthRoutes(node))
  await http.register(staticRoutes(config))
  if (isApi) {
    await http.register(pageRoutes(config))
    await http.register(accountRoutes({ keys }))
    await http.register(operationRoutes({ db, keys, now }, operationsOf(node, intake)))
    await http.register(signInRoutes(node, { keys, now }))
    const { baseUrl, linkUrl } = config
    const isPasswordOff = config.oidc?.isRequired === true
    await http.register(invitationRoutes({ db, keys, baseUrl, isPasswordOff, now }))
    const onLink = ({ auction_id, pub_id, url, article }: SmartLinkRecord) =>
      noteDestination(node, { auction_id, pub_id, url: url || article.url, is_keyless: false })
    await http.register(figureRoutes(node, { keys, now }))
    const { estimates, book } = node
    await http.register(createLinkRoute({ db, keys, bases: config, nextId, now, onLink }))
    await http.register(unattributedRoute({ db, keys, now }))
    const isOwnPage: IsOwnPage = (listing) => isOnOwnDomain(node.edge.market, listing)
    await http.register(matchRoutes({ db, keys, linkUrl, estimates, book, isOwnPage, now }))
    await http.register(feedRoutes({ db, keys, baseUrl, linkUrl, isOwnPage }))
    await http.register(statsRoutes({ db, keys }))
    await http.register(resultRoutes({ db, keys, ...CLICKS }))
    await http.register(dayRunRoutes({ db, keys, baseUrl, now, onError: onDayError(log) }))
    for (const routes of [reportRoutes, merchantRoutes]) {
      await http.register(routes({ db, keys, now }))
    }
    await http.register(screenshotRoute({ db, keys }))
    await http.register(unsubscribeRoutes({ db }))
    await http.register(reversalRoutes({ ...intake, keys }))
    await http.register(intakeRoutes(intake)) // orders and returns, server to server
  }
  // Describes what edgeRoutes serves: auction, events, redirect, wrapper.
  if (isEdge) await http.register(edgeDocs(config))
  if (isApi || isEdge) {
    const limits = buckets(config.rateLimits.events)
    await http.register(checkoutRoutes({ ...intake, usualValues: new UsualValues(db), limits }))
    await http.register(shopViewRoutes({ ...intake, limits }))
    await http.register(pageLinkRoutes(pageLinkDeps(node, { keys, now }))) // LinkMate, page tag
  }
  return http
}

const CLICKS = { clicksOf: listClicksOfResult, resultOfClick: findResultOfClick }

/** Who calls is found out the same way for every route. */
function keyGuard(node: Node): KeyGuard {
  const { config, log, database: db, now } = node
  return makeKeyGuard({
    db,
    baseUrl: config.baseUrl,
    brandWords: config.brandWords,
    limits: buckets(config.rateLimits.key),
    now: () => new Date(now()),
    onUsed: noteKeyPlace(node),
    onUseLost: errorLogger(log, 'the use of a key was not written down'),
  })
}

/** Every operation of the management API (docs/spec/management.md). */
function operationsOf(node: Node, intake: IntakeDeps): Operation[] {
  const { config, now } = node
  const queueMail = mailQueue({ config, now: () => new Date(now()) })
  return [
    ...operationsForMerchants(node, intake),
    readMerchantPerformance,
    ...operationsForPublishers(node),
    ...webhookOperations(),
    ...networkOperations(node, intake),
    ...peopleOperations({ baseUrl: node.config.baseUrl, queueMail }),
  ]
}

/** The dependencies of the intake of orders and returns. */
function intakeDeps(node: Node, nextId: () => string) {
  const { database: db, quotas, metrics, now } = node
  const onWarned = (merch_id: number, kind: string) => metrics.orderWarnings.inc({ merch_id, kind })
  const signals = new Signals(db, errorLogger(node.log, 'a merchant’s report was not noted'))
  const onReport = (merchId: number, kind: Signal) => signals.note(merchId, kind, now())
  return { db, append: node.appender.append, nextId, now, quotas, onWarned, onReport }
}

const onDayError = (log: Node['log']) => errorLogger(log, 'a day was not run again')

function pageLinkDeps(node: Node, shared: Pick<PageLinkDeps, 'keys' | 'now'>): PageLinkDeps {
  const { config, database: db } = node
  return {
    ...shared,
    db,
    bases: config,
    brand: config.brand,
    nextId: () => node.ids.next(),
    newPerHour: config.linkmateNewPerHour,
    limits: buckets(config.rateLimits.linkmate),
    heldPublisher: (slug) => node.edge.market.publishersBySlug.get(slug),
    merchantsVersion: () => node.edge.market.merchantsVersion,
    onLeftOut: (links) => node.metrics.linksLeftOut.inc(links),
    mayStore: (organizationId, address, bytes) =>
      node.quotas.take('links', { address, organizationId, rows: 1, bytes }),
    onLinks: (links) => {
      for (const link of links) noteDestination(node, link)
    },
  }
}

function buckets(limit: RateLimit | null): TokenBuckets | null {
  return limit === null ? null : new TokenBuckets(limit)
}

interface Worker {
  close(): Promise<void>
}

async function startWorkers(node: Node): Promise<Worker[]> {
  const { config, database, log, metrics, now } = node
  if (!config.roles.has('worker')) return []
  const schedules = await startSchedules(node)
  // Last, so that there is no fold to close if the schedules fail to start.
  const fold = startFold({
    connection: database.connection,
    onFolded: (lane, count, atMs) => {
      metrics.folded.inc({ lane }, count)
      metrics.foldLag.set({ lane }, (now() - atMs) / 1000)
    },
    onError: errorLogger(log, 'the fold failed; trying again'),
  })
  return [fold, schedules]
}
