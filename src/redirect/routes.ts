/**
 * The three URLs at which a reader's click arrives: the sealed redirect of an auction, a smart
 * link, and a wrapper. A reader always gets somewhere (I5): after any error the link's own
 * destination if known, else a plain page.
 */
import { comesFromPublisher, isAllowedTarget } from '../auction/allowed-target.ts'
import type { AuctionResult } from '../auction/auction-result.ts'
import type { Edge } from '../auction/edge.ts'
import type { LinkData } from '../auction/link-store.ts'
import { readRedirectQuery } from '../auction/redirect-query.ts'
import { RESULT_AGE_MAX_MS, type Sealer } from '../auction/seal.ts'
import { CONSENT, type ConsentWord, consentNow, consentWord } from '../events/consent.ts'
import { REASON } from '../events/reason.ts'
import { readAuctionId, readClickLabels } from '../links/link-url.ts'
import type { HotReply, HotRequest, HotRoute } from '../platform/http/hot-http.ts'
import { referrerName } from '../platform/net/url.ts'
import {
  answerClick,
  type Click,
  type ClickDeps,
  edgeVerdict,
  FUND_TIMEOUT_MS,
  hasPrice,
  mayReserve,
  type Reservation,
  redirectTo,
  reserveFromBudget,
} from './click.ts'
import { leavingPage, lostPage, retryPage } from './pages.ts'
import { newVisitor, readVisitor, visitorCookie } from './visitor.ts'

/** The longest wait of a reader while storage is unavailable (I5: 50 ms). */
const LINK_TIMEOUT_MS = 35
/**
 * While storage responds, a look-up of the link is worth a wait: without it a click is not
 * recorded, and after a restart every link's first click needs one.
 */
const BUSY_TIMEOUT_MS = 250
/** Longer where this node knows no destination of the link. */
const UNKNOWN_LINK_TIMEOUT_MS = 1_000

export interface RedirectDeps extends ClickDeps {
  readonly now: () => number
  readonly isHttps: boolean
  /** The words of `uid_<word>` in redirect URLs. */
  readonly brandWords: readonly string[]
  readonly sealer: Pick<Sealer, 'open'>
  readonly findLink: Edge['findLink']
  readonly isStorageUnreachable: () => boolean
  /** The last known destination of a link whose data is unavailable or lost. */
  readonly lastDestination: (auctionId: string) => string | null
  /** Counts one more click of this address and publisher; false above the storage quota. */
  readonly mayRecord: (request: HotRequest, pubId: number) => boolean
  readonly edge: Pick<Edge, 'market' | 'runAtClick' | 'originalResult' | 'storeReceipt'>
}

/** `/api/v1/redirect/`: the destination of an auctioned link. */
export function redirectRoute(deps: RedirectDeps): HotRoute {
  const handle = (request: HotRequest) => redirect(deps, request)
  return { name: '/api/v1/redirect', method: 'GET', cors: 'none', handle }
}

/** `/<auction_id>` and its short form: the auction runs on the click. Null: not such a path. */
export function smartLinkRoute(deps: RedirectDeps): (path: string) => HotRoute | null {
  return (path) => {
    const auctionId = readAuctionId(path.slice(1))
    if (auctionId === null) return null
    return {
      name: '/:auction_id',
      method: 'GET',
      cors: 'none',
      handle: (request) => followLink(deps, request, { auctionId, verdict: REASON.ok }),
    }
  }
}

async function redirect(deps: RedirectDeps, request: HotRequest): Promise<HotReply> {
  const { id, binding } = readRedirectQuery(request.query, deps.brandWords)
  const result = deps.sealer.open(id, binding)
  const nowMs = deps.now()
  if (result === null) {
    const auctionId = readAuctionId(binding.auctionId)
    if (auctionId === null) return lostPage()
    // The seal is broken, so the reader's choice is unknown: it may have been a refusal.
    const consent = 'contextual'
    return followLink(deps, request, { auctionId, verdict: REASON.sealBroken, consent })
  }
  const { auctionId, url } = binding
  const isHeldBack = isGuarded(deps, request, { result, url })
  if (nowMs - result.issuedAtMs > RESULT_AGE_MAX_MS) {
    const consent = consentWord(result.consent)
    const whenUnreachable = () => (isHeldBack ? leavingPage(url) : redirectTo(url))
    return followLink(deps, request, { auctionId, verdict: REASON.ok, consent }, whenUnreachable)
  }
  if (isHeldBack) return leavingPage(url)
  if (!isRecorded(deps, request, result.pubId)) return redirectTo(url)
  return finishClick(deps, {
    request,
    nowMs,
    auctionId,
    result,
    url,
    sessionUuid: binding.uuid === '' ? null : binding.uuid.toLowerCase(),
    verdict: verdictOnLink(deps, { auctionId, ...result }),
    reservation: null,
  })
}

interface LinkClick {
  readonly auctionId: string
  readonly verdict: number
  /** The reader's choice on the page; absent where no page asked. */
  readonly consent?: ConsentWord
}

/**
 * Runs the auction of a link for this very click. `whenUnreachable` answers when the link is
 * unavailable or lost; without it, the last known destination does.
 */
export async function followLink(
  deps: RedirectDeps,
  request: HotRequest,
  click: LinkClick,
  whenUnreachable?: () => HotReply,
): Promise<HotReply> {
  const known = deps.lastDestination(click.auctionId)
  const instead = whenUnreachable ?? (known === null ? null : () => redirectTo(known))
  let link: LinkData | null
  let unreachable: unknown = null
  try {
    link = await deps.findLink(click.auctionId, linkTimeoutMs(deps, instead !== null))
  } catch (error) {
    if (instead === null) return retryPage()
    link = null
    unreachable = error
  }
  if (link !== null) return clickOnLink(deps, request, link, click)
  if (instead === null) return lostPage()
  // Links are never deleted: a database restored from a backup lacks those created since.
  const reply = instead()
  const why =
    unreachable ??
    new Error(
      'the database lacks a smart link that this node has cached: was it restored from a backup?',
    )
  if (reply.status === 302 && !request.isHead) deps.onUnrecorded(why)
  return reply
}

/** Handles a click on a loaded link: auction, reserve, event, redirect. */
export async function clickOnLink(
  deps: RedirectDeps,
  request: HotRequest,
  link: LinkData,
  { auctionId, verdict: known, consent }: LinkClick,
): Promise<HotReply> {
  const { pub_id: pubId } = link.link
  const verdict =
    known === REASON.ok ? verdictOnLink(deps, { auctionId, pubId, merchId: 0 }) : known
  const nowMs = deps.now()
  const isKept = isRecorded(deps, request, pubId)
  // A click with a reason gets no auction: a broken seal must never choose the destination.
  const { auction, reservation } =
    verdict === REASON.ok && isKept
      ? await payableAuction(deps, request, link, { nowMs, consent })
      : { auction: deps.edge.originalResult(link, request, { nowMs, consent }), reservation: null }
  if (!request.isHead && isKept) deps.edge.storeReceipt(auction, request)
  const { result, url } = auction
  if (isGuarded(deps, request, auction)) return leavingPage(url)
  if (!isKept) return redirectTo(url)
  const seen = { request, nowMs, auctionId, result, url, sessionUuid: null, verdict, reservation }
  return finishClick(deps, seen)
}

/**
 * Runs the auction of this very click and reserves its price. A winner whose budget cannot supply
 * the price in time is skipped: nobody has seen the result yet, so the next bidder gets the click.
 * Each pass excludes a campaign, so the loop ends.
 */
async function payableAuction(
  deps: RedirectDeps,
  request: HotRequest,
  link: LinkData,
  { nowMs, consent }: { nowMs: number; consent: ConsentWord | undefined },
): Promise<{ auction: AuctionResult; reservation: Reservation | null }> {
  const untilMs = performance.now() + FUND_TIMEOUT_MS
  const unfunded: number[] = []
  let reason: number | null = null
  while (true) {
    const auction = deps.edge.runAtClick(link, request, { nowMs, consent, unfunded })
    const { result } = auction
    if (request.isHead || isGuarded(deps, request, auction)) return { auction, reservation: null }
    reason ??= edgeVerdict(deps, { request, nowMs, result, verdict: REASON.ok })
    if (reason !== REASON.ok || !hasPrice(result)) {
      return { auction, reservation: { reason, leaseId: null } }
    }
    if (!mayReserve(deps, { request, nowMs, result })) {
      return { auction, reservation: { reason: REASON.addressLimit, leaseId: null } }
    }
    const timeoutMs = untilMs - performance.now()
    const reservation = await reserveFromBudget(deps, { nowMs, result }, timeoutMs)
    if (reservation.leaseId !== null) return { auction, reservation }
    unfunded.push(result.campaignId)
  }
}

/** False above a storage quota: the reader is redirected, and the click is only counted. */
function isRecorded(deps: RedirectDeps, request: HotRequest, pubId: number): boolean {
  return request.isHead || deps.mayRecord(request, pubId)
}

/**
 * Clicks of a disabled link or of suspended organizations are unpaid, also on results that pages
 * already have.
 */
function verdictOnLink(
  { edge: { market } }: RedirectDeps,
  of: { readonly auctionId: string; readonly pubId: number; readonly merchId: number },
): number {
  const { publishers, merchants } = market.suspended
  if (publishers.has(of.pubId) || merchants.has(of.merchId)) return REASON.suspended
  return market.disabledLinks.has(of.auctionId) ? REASON.disabledLink : REASON.ok
}

/** Whether this URL is unvouched: the reader then sees a page instead of a redirect. */
function isGuarded(
  deps: RedirectDeps,
  request: HotRequest,
  { result, url }: Pick<AuctionResult, 'result' | 'url'>,
): boolean {
  return result.isKeylessForeign && !mayForward(deps, request, { url, pubId: result.pubId })
}

/** Whether a link created without a key may forward this reader to this URL without asking. */
export function mayForward(
  { edge: { market } }: Pick<RedirectDeps, 'edge'>,
  { headers }: HotRequest,
  target: { readonly url: string; readonly pubId: number },
): boolean {
  const publisher = market.publishers.get(target.pubId)
  return (
    isAllowedTarget(market, target) ||
    (publisher !== undefined && comesFromPublisher(headers, publisher))
  )
}

function linkTimeoutMs(deps: RedirectDeps, isAnswerKnown: boolean): number {
  if (deps.isStorageUnreachable()) return LINK_TIMEOUT_MS
  return isAnswerKnown ? BUSY_TIMEOUT_MS : UNKNOWN_LINK_TIMEOUT_MS
}

type ClickSeen = Omit<Click, 'consent' | 'visitorId' | 'isVisitorReturned' | 'labels' | 'referrer'>

/** Adds the facts that only the request carries, and answers. */
async function finishClick(deps: RedirectDeps, seen: ClickSeen): Promise<HotReply> {
  const { headers, query } = seen.request
  const consent = consentNow(seen.result.consent, headers)
  const mayKnowVisitor = consent === CONSENT.full
  const known = mayKnowVisitor ? readVisitor(headers.cookie, deps.isHttps) : null
  const visitorId = known ?? (mayKnowVisitor ? newVisitor() : null)
  const reply = await answerClick(deps, {
    ...seen,
    consent,
    visitorId,
    isVisitorReturned: known !== null,
    labels: readClickLabels(query),
    referrer: referrerName(headers.referer ?? ''),
  })
  if (visitorId !== null && reply.status === 302 && !seen.request.isHead) {
    reply.headers['set-cookie'] = visitorCookie(visitorId, deps.isHttps)
  }
  return reply
}
