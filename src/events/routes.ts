/**
 * The events endpoint for publishers' pages. Hot: validated, appended, answered.
 *
 * The edge records facts. The fold decides whether a page impression is the first of its session,
 * and checks again whether a link is the publisher's own. 201 only after the batch is durable (I2).
 */
import { LRUCache } from 'lru-cache'
import type { PublisherSettings } from '../accounts/publisher.ts'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import { WEB_URL_RULE } from '../platform/http/field-types.ts'
import type { HotReply, HotRequest, HotRoute } from '../platform/http/hot-http.ts'
import { readJson } from '../platform/http/json-body.ts'
import { compileCheck } from '../platform/http/validation.ts'
import type { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { type ArticleAddress, readArticleUrl } from '../platform/net/article-url.ts'
import { referrerName } from '../platform/net/url.ts'
import { chargeCall } from './call-cost.ts'
import { consentOf } from './consent.ts'
import { BEACON_TIMEOUT_MS, type DurableAppend } from './durable-append.ts'
import { EVENT_TYPE, type EventType, type LogEvent, newEvent, viewLane } from './event.ts'
import type { HashKeys } from './hash-keys.ts'
import { REASON } from './reason.ts'
import { EVENTS_BODY_BYTES_MAX, LinkImpressions, PageImpressions } from './schema.ts'
import { readUserAgent } from './user-agent.ts'

export interface EventRoutesDeps {
  readonly brandWords: readonly string[]
  readonly append: DurableAppend['append']
  readonly hashKeys: Pick<HashKeys, 'hash'>
  readonly nextId: () => string
  readonly now: () => number
  readonly countryOf: (request: HotRequest) => string | null
  /** From this node's memory, otherwise from the database; null if there is none. */
  readonly findPublisher: (pubId: number) => Reported | Promise<Reported | null>
  /**
   * The publisher of a link; null if there is no such link, undefined if it is temporarily unknown.
   */
  readonly ownersOf: (
    auctionIds: readonly string[],
  ) => Promise<ReadonlyMap<string, number | null | undefined>>
  /** Throws 429 when this client address or publisher has used up its quota of views. */
  readonly requireQuota: (request: HotRequest, pubId: number, events: readonly LogEvent[]) => void
  /** Calls by origin and publisher; null for no limit. */
  readonly limits: TokenBuckets | null
}

/** The publisher's settings that an event uses. */
type Reported = Pick<PublisherSettings, 'consent_default'>

const { faults: pageFaults } = compileCheck(PageImpressions)
const { faults: linkFaults } = compileCheck(LinkImpressions)

/** The route of `/api/v1/events/<category>/<type>`; null for other paths. */
export function eventRoute(deps: EventRoutesDeps): (path: string) => HotRoute | null {
  const routes = new Map<string, HotRoute>()
  const sessions = new RecordedSessions()
  const add = (name: string, type: EventType): void => {
    const path = `/api/v1/events/impressions/${name}`
    routes.set(path, {
      name: path,
      method: 'POST',
      cors: 'open',
      bodyBytesMax: EVENTS_BODY_BYTES_MAX,
      handle: (request) => record({ ...deps, sessions }, request, type),
    })
  }
  add('page_impression', EVENT_TYPE.pageImpression)
  for (const word of deps.brandWords) {
    add(`${word}_link_impression`, EVENT_TYPE.linkImpression)
    add(`${word}_link_viewable_impression`, EVENT_TYPE.linkViewable)
  }
  return (path) => routes.get(path) ?? (ANY_PAIR.test(path) ? UNKNOWN_PAIR : null)
}

/** Conversions come from merchants, and are not hot. */
const ANY_PAIR = /^\/api\/v1\/events\/(?!conversions\/)\w+\/\w+$/

/** With CORS headers, so that a page can read the error. */
const UNKNOWN_PAIR: HotRoute = {
  name: '/api/v1/events/:event_category/:event_type',
  method: 'POST',
  cors: 'open',
  handle() {
    throw notFound('No such event category and type')
  },
}

async function record(
  deps: EventRoutesDeps & { readonly sessions: RecordedSessions },
  request: HotRequest,
  type: EventType,
): Promise<HotReply> {
  const { address, body: sent } = request
  const call = { address, body: sent ?? Buffer.alloc(0), nowMs: deps.now() }
  const charge = chargeCall(deps.limits, call)
  const { body, article, auctionIds } = await readBatch(request, type)
  const pubId = body.organization_id
  charge(pubId)
  const publisher = await deps.findPublisher(pubId)
  if (publisher === null) throw notFound(`organization_id: no publisher ${pubId}`)
  const { headers } = request
  const atMs = deps.now()
  const agent = readUserAgent(headers['user-agent'])
  const byDefault = publisher.consent_default
  const sessionUuid = body.user.page_session_uuid.toLowerCase()
  const shared = {
    atMs,
    type,
    pubId,
    lane: viewLane(pubId),
    sessionKey: deps.hashKeys.hash('session', sessionUuid, atMs),
    reason: agent.isRobot ? REASON.robot : REASON.ok,
    device: agent.device,
    uaFamily: agent.family,
    country: deps.countryOf(request),
    consent: consentOf(body.user.consent, { headers, byDefault }),
    url: article.url.origin + article.url.pathname,
    urlKey: article.key,
    referrer: referrerName(body.user.previous_url ?? ''),
  }
  const owners = await linkOwners(deps, auctionIds)
  const events = auctionIds.map((auctionId) => {
    if (auctionId === null) return newEvent({ ...shared, id: deps.nextId() })
    const reason = shared.reason || linkReason(owners.get(auctionId), pubId)
    return newEvent({ ...shared, id: deps.nextId(), auctionId, reason })
  })
  const append = () => {
    deps.requireQuota(request, pubId, events)
    return deps.append(events, { timeoutMs: BEACON_TIMEOUT_MS })
  }
  if (type !== EVENT_TYPE.pageImpression) await append()
  else await deps.sessions.record(`${pubId} ${shared.reason} ${sessionUuid}`, append)
  return { status: 201, headers: {}, body: null }
}

interface Batch {
  readonly body: PageImpressions
  readonly article: ArticleAddress
  readonly auctionIds: readonly (string | null)[] // one per event; null for a page impression
}

/** A fault in one of these fields already explains the missing URL. */
const SOURCE_URL_PATH = ['body', 'user', 'user.source_url']

/** The URL in a body that may have faults. */
function readSourceUrl(body: unknown): ArticleAddress | null {
  const text = (body as { user?: { source_url?: unknown } | null } | null)?.user?.source_url
  return typeof text === 'string' ? readArticleUrl(text) : null
}

async function readBatch(request: HotRequest, type: EventType): Promise<Batch> {
  const isOfPage = type === EVENT_TYPE.pageImpression
  const body = await readJson(request, isOfPage ? PageImpressions : LinkImpressions)
  const faults = (isOfPage ? pageFaults : linkFaults)(body)
  const batch = body as PageImpressions | LinkImpressions
  const article = readSourceUrl(body)
  // Not in the schema, which would parse each URL twice.
  if (article === null && !faults.some(({ field }) => SOURCE_URL_PATH.includes(field))) {
    faults.push({ field: 'user.source_url', rule: WEB_URL_RULE })
  }
  if (faults.length > 0 || article === null) throw badRequest(faults)
  // A session's page impression counts once, so several in a call are one row. Decided by type,
  // because a page impression may carry any extra fields.
  const auctionIds = isOfPage
    ? [null]
    : (batch as LinkImpressions).events.map((event) => event.auction_id)
  return { body: batch, article, auctionIds }
}

async function linkOwners(
  deps: EventRoutesDeps,
  auctionIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, number | null | undefined>> {
  const ids = new Set(auctionIds.filter((id) => id !== null))
  return ids.size === 0 ? new Map() : deps.ownersOf([...ids])
}

function linkReason(owner: number | null | undefined, pubId: number): number {
  if (owner === null) return REASON.unknownLink
  return owner !== undefined && owner !== pubId ? REASON.foreignLink : REASON.ok
}

/** Some 20 MB; a page that reloads does so within the last sessions of its node. */
const SESSIONS_MAX = 100_000

/**
 * Page sessions whose impression this node has recorded: a repeat adds no row to the log, where the
 * fold would not count it (docs/spec/limits.md#page-impressions).
 */
class RecordedSessions {
  readonly #recorded = new LRUCache<string, Promise<void>>({ max: SESSIONS_MAX })

  /** Records a session's impression, or waits for the one that is recorded already. */
  async record(key: string, append: () => Promise<void>): Promise<void> {
    const known = this.#recorded.get(key)
    if (known !== undefined) return known
    const appending = append()
    this.#recorded.set(key, appending)
    try {
      await appending
    } catch (error) {
      this.#recorded.delete(key)
      throw error
    }
  }
}
