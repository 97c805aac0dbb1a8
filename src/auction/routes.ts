/**
 * The auction that a page runs for each of its smart links, and the placement pixel.
 *
 * Neither reads nor sets a cookie: other sites call it, and a stable id would follow readers
 * around.
 */
import { randomUUID } from 'node:crypto'
import { CONSENT, CONSENT_WORDS, consentNow, isConsentSaid } from '../events/consent.ts'
import { BEACON_TIMEOUT_MS, type DurableAppend } from '../events/durable-append.ts'
import { EVENT_TYPE, type LogEvent, newEvent, viewLane } from '../events/event.ts'
import type { HashKeys } from '../events/hash-keys.ts'
import { REASON } from '../events/reason.ts'
import { readUserAgent } from '../events/user-agent.ts'
import { drawRandomBytes } from '../platform/crypto/random-bytes.ts'
import { badRequest, type Fault, notFound } from '../platform/errors/api-errors.ts'
import type { HotReply, HotRequest, HotRoute } from '../platform/http/hot-http.ts'
import { UUID_PATTERN } from '../platform/http/pattern.ts'
import { isId } from '../platform/ids.ts'
import { type AnswerDeps, answerWriter, type WriteAnswer } from './answer.ts'
import type { Edge } from './edge.ts'
import type { LinkData } from './link-store.ts'
import { readRedirectQuery } from './redirect-query.ts'
import { makeRepeats } from './repeats.ts'
import type { SealBinding, SealedResult, Sealer } from './seal.ts'

const UUID = new RegExp(UUID_PATTERN)
/** How long a page waits for a link that this node lacks; then it gets a 503. */
const LINK_TIMEOUT_MS = 2_000

export interface AuctionDeps extends AnswerDeps {
  readonly now: () => number
  readonly edge: Pick<Edge, 'market' | 'peekLink' | 'runForPage' | 'consentFor'>
  readonly findLink: Edge['findLink']
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly hashKeys: Pick<HashKeys, 'hash'>
  /** The words of `uid_<word>` in URLs. */
  readonly brandWords: readonly string[]
  /** Throws 429 over the limit of this origin. */
  readonly limit: (request: HotRequest, auctionId: string) => void
  readonly append: DurableAppend['append']
  /** Whether these views of a publisher may be stored; they then count. */
  readonly mayStore: (request: HotRequest, pubId: number, events: readonly LogEvent[]) => boolean
  readonly nextId: () => string
}

export function auctionRoute(deps: AuctionDeps): HotRoute {
  const write = answerWriter(deps)
  const repeats = makeRepeats(deps.now)
  return {
    name: '/api/v1/auction',
    method: 'GET',
    cors: 'open',
    handle: (request) => {
      const query = new URLSearchParams(request.query)
      const auctionId = query.get('a') ?? ''
      const said = query.get('consent') || undefined
      if (!isId(auctionId) || !isConsentSaid(said)) throw badRequest(queryFaults(auctionId, said))
      deps.limit(request, auctionId)
      const sent = query.get('uuid') ?? ''
      const isSession = UUID.test(sent)
      // Lower case once, so that seal, log and repeat cache mean one session.
      const uuid = isSession ? sent.toLowerCase() : randomUUID()
      const answer = (link: LinkData | null): HotReply => {
        if (link === null) throw notFound(`a: no link ${auctionId}`)
        // With the consent in force: a signal that is switched on between two loads counts at once.
        const consent = deps.edge.consentFor(request, link.link.pub_id, said)
        const repeat = isSession ? `${uuid} ${auctionId} ${consent}` : null
        const before = repeat === null ? undefined : repeats.get(repeat)
        if (before !== undefined) return json(before)
        const body = auctionBody(deps, write, { request, link, uuid, consent: said })
        if (repeat !== null && !request.isHead) repeats.set(repeat, body)
        return json(body)
      }
      const held = deps.edge.peekLink(auctionId)
      return held === undefined
        ? deps.findLink(auctionId, LINK_TIMEOUT_MS).then(answer)
        : answer(held)
    },
  }
}

/** Every fault of a query. */
function queryFaults(auctionId: string, said: string | undefined): Fault[] {
  const faults: Fault[] = []
  if (!isId(auctionId)) {
    const rule = auctionId === '' ? 'is required' : 'must be a positive 64-bit integer'
    faults.push({ field: 'a', rule })
  }
  if (!isConsentSaid(said)) {
    const words = CONSENT_WORDS.map((word) => `"${word}"`).join(' or ')
    faults.push({ field: 'consent', rule: `must be ${words}` })
  }
  return faults
}

interface PageAuction {
  readonly request: HotRequest
  readonly link: LinkData
  readonly uuid: string
  readonly consent: string | undefined
}

function auctionBody(
  deps: AuctionDeps,
  write: WriteAnswer,
  { request, link, uuid, consent }: PageAuction,
): string {
  const held = deps.edge.runForPage(link, request, { nowMs: deps.now(), consent })
  const uidService = freshUid(held.result.consent)
  const binding = { auctionId: link.link.auction_id, uuid, url: held.url, uidService }
  return write(held, deps.sealer.seal(held.result, binding), binding)
}

/** New for each result; 0 if the reader refused tracking. */
function freshUid(consent: number): string {
  if (consent !== CONSENT.full) return '0'
  const bytes = drawRandomBytes(8)
  // 53 bits, 21 and 32 of the 64, which a number holds exactly. Never 0.
  const high = bytes.readUInt32BE() >>> 11
  return String(high * 2 ** 32 + bytes.readUInt32BE(4) || 1)
}

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** `impression_pixel_url`: records a placement impression of its result, once it is sealed. */
export function pixelRoute(deps: AuctionDeps): HotRoute {
  return {
    name: '/api/v1/pixel',
    method: 'GET',
    cors: 'open',
    handle: async (request) => {
      const { id, binding } = readRedirectQuery(request.query, deps.brandWords)
      const result = deps.sealer.open(id, binding)
      if (result !== null && !request.isHead) {
        const seen = [placement(deps, { request, result, binding })]
        const isKept = deps.mayStore(request, result.pubId, seen)
        if (isKept) await deps.append(seen, { timeoutMs: BEACON_TIMEOUT_MS })
      }
      return {
        status: 200,
        headers: {
          'content-type': 'image/gif',
          'cache-control': 'no-store',
          // For pages that isolate themselves (Cross-Origin-Embedder-Policy).
          'cross-origin-resource-policy': 'cross-origin',
        },
        body: GIF,
      }
    },
  }
}

function placement(
  deps: AuctionDeps,
  seen: { request: HotRequest; result: SealedResult; binding: SealBinding },
): LogEvent {
  const { result, binding } = seen
  const { headers } = seen.request
  const atMs = deps.now()
  const agent = readUserAgent(headers['user-agent'])
  return newEvent({
    id: deps.nextId(),
    atMs,
    lane: viewLane(result.pubId),
    type: EVENT_TYPE.placement,
    reason: agent.isRobot ? REASON.robot : REASON.ok,
    pubId: result.pubId,
    sessionKey: deps.hashKeys.hash('session', binding.uuid.toLowerCase(), atMs),
    auctionId: binding.auctionId,
    resultNumber: result.resultNumber,
    merchId: result.merchId,
    campaignId: result.campaignId === 0 ? null : result.campaignId,
    offerId: result.offerId === '0' ? null : result.offerId,
    device: agent.device,
    uaFamily: agent.family,
    consent: consentNow(result.consent, headers),
  })
}

function json(body: string): HotReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body,
  }
}
