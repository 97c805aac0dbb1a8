/**
 * Connects the hot endpoints of a node to its state: auction, pixel, redirect, smart links,
 * wrappers, events.
 */
import { findPublisher } from '../accounts/publisher-store.ts'
import { isAllowedTarget } from '../auction/allowed-target.ts'
import { ownDestination } from '../auction/auction-result.ts'
import { type AuctionDeps, auctionRoute, pixelRoute } from '../auction/routes.ts'
import type { LogEvent } from '../events/event.ts'
import { eventRoute } from '../events/routes.ts'
import { storedSize } from '../events/stored-size.ts'
import {
  findOrCreateWrapperLink,
  findWrapperLink,
  type WrapperLinkDeps,
} from '../links/wrapper-link.ts'
import type { RateLimitGroup } from '../node/config.ts'
import type { Node } from '../node/node.ts'
import type { HotRequest, HotRoute } from '../platform/http/hot-http.ts'
import { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { addressIndex } from '../platform/net/address-index.ts'
import { addressUnit } from '../platform/net/client-address.ts'
import { trimUrl } from '../platform/net/url.ts'
import { errorLogger } from '../platform/process/log.ts'
import { AddressReservations } from '../redirect/address-reservations.ts'
import { ReservedResults } from '../redirect/reserved-results.ts'
import { type RedirectDeps, redirectRoute, smartLinkRoute } from '../redirect/routes.ts'
import { wrapperRoute } from '../redirect/wrapper-routes.ts'

/** The size of a click's rows in the log and in the figures, without its URLs. */
const CLICK_ROW_BYTES = 1_000
/** The time limit for looking up links of an events call that this node does not have in memory. */
const OWNER_TIMEOUT_MS = 100

/** The hot route of a path without its trailing slash, or null. */
export function edgeRoutes(node: Node): (path: string) => HotRoute | null {
  const { config, edge, sealer, hashKeys, book, fund, now } = node
  const [auctions, redirects] = [makeLimiter(node, 'auction'), makeLimiter(node, 'redirect')]
  const append = node.appender.append
  const nextId = () => node.ids.next()
  const findLink = async (auctionId: string, timeoutMs: number) => {
    const link = await edge.findLink(auctionId, timeoutMs)
    if (link !== null) noteDestination(node, { ...link.link, url: ownDestination(link) })
    return link
  }

  const { brandWords } = config
  const shared = { now, edge, sealer, hashKeys, brandWords, findLink, append, nextId }
  const auctionDeps: AuctionDeps = {
    ...shared,
    brand: config.brand,
    auctionUrl: config.auctionUrl,
    limit: auctions.refuse,
    mayStore: (request, pubId, events) => node.quotas.take('views', rowsOf(request, pubId, events)),
  }
  const redirectDeps: RedirectDeps = {
    ...shared,
    isHttps: isHttps(config.linkUrl),
    isStorageUnreachable: () => node.appender.isLogUnreachable() || !edge.isStorageAnswering(),
    lastDestination: (auctionId) => node.destinations.get(auctionId),
    reservedResults: new ReservedResults(),
    addressReservations: new AddressReservations(),
    book,
    fund,
    isBlocked: addressIndex(config.ipBlocklist),
    mayRecord: ({ address, query, headers }, organizationId) => {
      const bytes = CLICK_ROW_BYTES + query.length + (headers.referer?.length ?? 0)
      return node.quotas.take('clicks', { address, organizationId, rows: 1, bytes })
    },
    isWithinLimit: (request) => redirects.take(request, ''),
    countryOf: (request) => node.geo.countryOf(request),
    onUnrecorded: unrecordedLogger(node),
    onLocalClick: () => node.metrics.localClicks.inc(),
  }
  const events = baseRoutes(node)
  const { edgeDatabase: db, ids } = node
  const mayCreate = makeHourlyLimit(node)
  const wrapperLinkDeps = { db, ids, linkUrl: config.linkUrl, now, mayCreate }
  const fixed = new Map<string, HotRoute>([
    ['/api/v1/auction', auctionRoute(auctionDeps)],
    ['/api/v1/pixel', pixelRoute(auctionDeps)],
    ['/api/v1/redirect', redirectRoute({ ...redirectDeps, isHttps: isHttps(config.auctionUrl) })],
    [
      '/link',
      wrapperRoute({
        ...redirectDeps,
        findOrCreateLink: (link, address) =>
          findOrCreateWrapperLink(wrapperLinkDeps, link, address),
        findExistingLink: (link) => findWrapperLink(wrapperLinkDeps, link),
        onUnattributed: (names) => node.unattributed.count(names),
      }),
    ],
  ])
  const smartLink = smartLinkRoute(redirectDeps)
  return (path) => fixed.get(path) ?? events(path) ?? smartLink(path)
}

/**
 * The hot routes under BASE_URL. The events endpoint is there too, so a process with only `api`
 * serves it.
 */
export function baseRoutes(node: Node): (path: string) => HotRoute | null {
  const { config, edge, now } = node
  const limit = config.rateLimits.events
  return eventRoute({
    brandWords: config.brandWords,
    append: node.appender.append,
    hashKeys: node.hashKeys,
    nextId: () => node.ids.next(),
    now,
    countryOf: (request) => node.geo.countryOf(request),
    // A new publisher is in the next snapshot, but its readers may arrive earlier.
    findPublisher: (pubId) =>
      edge.market.publishers.get(pubId) ?? findPublisher(node.edgeDatabase, pubId),
    ownersOf: (auctionIds) => ownersOf(node, auctionIds),
    requireQuota: (request, pubId, events) =>
      node.quotas.require('views', rowsOf(request, pubId, events)),
    limits: limit === null ? null : new TokenBuckets(limit),
  })
}

function rowsOf({ address }: HotRequest, organizationId: number, events: readonly LogEvent[]) {
  return { address, organizationId, rows: events.length, bytes: storedSize(events) }
}

/** Every error is counted, but logged once per outage. */
function unrecordedLogger({ metrics, log }: Node): (error: unknown) => void {
  const logError = errorLogger(log, 'a click was not recorded')
  return (error) => {
    metrics.unrecordedClicks.inc()
    logError(error)
  }
}

/** Whether cookies of this base URL need the Secure attribute. */
const isHttps = (address: string): boolean => address.startsWith('https:')

/** Notes the destination of a link, unless only the reader's own page could vouch for it. */
export function noteDestination(
  { destinations, edge }: Node,
  link: { auction_id: string; url: string; pub_id: number; is_keyless: boolean },
): void {
  const target = { url: link.url, pubId: link.pub_id }
  if (link.is_keyless && !isAllowedTarget(edge.market, target)) return
  destinations.note(link.auction_id, trimUrl(link.url))
}

async function ownersOf(node: Node, auctionIds: readonly string[]) {
  const owners = new Map<string, number | null | undefined>()
  await Promise.all(
    auctionIds.map(async (id) => {
      try {
        owners.set(id, (await node.edge.findLink(id, OWNER_TIMEOUT_MS))?.link.pub_id ?? null)
      } catch {
        owners.set(id, undefined) // Temporarily unknown; the fold checks on its own.
      }
    }),
  )
  return owners
}

/**
 * Wrappers create at most as many links of a publisher per hour as calls without a key, because
 * anybody can write any number of them. Each node counts separately. A further click leads to its
 * page and is unpaid.
 */
function makeHourlyLimit(node: Node): WrapperLinkDeps['mayCreate'] {
  const { config, now, metrics, quotas } = node
  const { linkmateNewPerHour: perHour } = config
  const buckets = new TokenBuckets({ rate: perHour / 3_600, burst: perHour })
  return (pubId, address, bytes) => {
    const wanted = { address, organizationId: pubId, rows: 1, bytes }
    const isWithin = buckets.take(String(pubId), now()) && quotas.take('links', wanted)
    if (!isWithin) metrics.linksLeftOut.inc()
    return isWithin
  }
}

/** The rate limit of a group of hot endpoints, by client address and publisher or link. */
function makeLimiter({ config, now }: Node, group: RateLimitGroup) {
  const limit = config.rateLimits[group]
  const buckets = limit === null ? null : new TokenBuckets(limit)
  const keyOf = (request: HotRequest, subject: string) =>
    `${addressUnit(request.address)} ${subject}`
  return {
    take: (request: HotRequest, subject: string): boolean =>
      buckets?.take(keyOf(request, subject), now()) ?? true,
    refuse: (request: HotRequest, subject: string): void =>
      buckets?.spend(keyOf(request, subject), now()),
  }
}
