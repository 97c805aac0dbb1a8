/**
 * Handles one click on one auction result: checks it, records it and redirects.
 *
 * The edge makes the checks that need no other node (robot, prefetch, speed, address, budget
 * lease), appends one event with all facts and its own verdict, and redirects the reader. The fold
 * decides whether the click is paid (docs/decisions/0020-the-fold.md).
 */

import type { Edge } from '../auction/edge.ts'
import type { SealedResult } from '../auction/seal.ts'
import type { LeaseBook } from '../budgets/lease.ts'
import type { LeaseLoop } from '../budgets/lease-loop.ts'
import { type DurableAppend, REDIRECT_TIMEOUT_MS } from '../events/durable-append.ts'
import { EVENT_TYPE, type LogEvent, MONEY_LANE, newEvent } from '../events/event.ts'
import { EventRefused, LogUnavailable } from '../events/event-log.ts'
import type { HashKeys } from '../events/hash-keys.ts'
import { packTerms, pricePerClick } from '../events/pay-terms.ts'
import { REASON } from '../events/reason.ts'
import { isEmbedded, isPrefetch, readUserAgent } from '../events/user-agent.ts'
import type { ClickLabels } from '../links/link-url.ts'
import { withTimeout } from '../platform/concurrency/timeout.ts'
import { drawRandomBytes } from '../platform/crypto/random-bytes.ts'
import type { HotReply, HotRequest } from '../platform/http/hot-http.ts'
import { addressUnit, isLocalAddress } from '../platform/net/client-address.ts'
import type { AddressReservations } from './address-reservations.ts'
import { deepLink, headerSafe, withParameter } from './destination.ts'
import type { ReservedResults } from './reserved-results.ts'

/**
 * The wait for a budget that this node does not hold; with the log's, it stays under 50 ms (I5).
 */
export const FUND_TIMEOUT_MS = 15
/** No person clicks that fast after the page's auction. */
export const CLICK_AGE_MIN_MS = 300
/** Nodes' clocks differ by less than this; a result from further ahead predates a clock change. */
const CLOCKS_APART_MAX_MS = 5_000

export interface ClickDeps {
  readonly append: DurableAppend['append']
  /** The results whose price a click has reserved on this node, by result number. */
  readonly reservedResults: ReservedResults
  readonly addressReservations: AddressReservations
  readonly book: Pick<LeaseBook, 'reserve' | 'recordClick' | 'release'>
  readonly fund: LeaseLoop['fund']
  readonly edge: Pick<Edge, 'market'>
  readonly isBlocked: (address: string) => boolean
  readonly isWithinLimit: (request: HotRequest) => boolean
  readonly countryOf: (request: HotRequest) => string | null
  readonly hashKeys: Pick<HashKeys, 'hash'>
  readonly nextId: () => string
  readonly onUnrecorded: (error: unknown) => void
  /** Counts a paid click; the address rules exempt local addresses. */
  readonly onLocalClick: () => void
}

export interface Click {
  readonly request: HotRequest
  readonly nowMs: number
  readonly auctionId: string
  readonly result: SealedResult
  readonly url: string
  readonly sessionUuid: string | null
  readonly consent: number // as of the click; the result's is as of its auction
  readonly visitorId: string | null
  /** Whether the browser sent the visitor id; false: this response sets it, or there is none. */
  readonly isVisitorReturned: boolean
  readonly labels: ClickLabels
  readonly referrer: string | null
  /** Known before the checks: a broken seal, a disabled link. */
  readonly verdict: number
  /** The reservation of an auction that ran for this very click; null: none yet. */
  readonly reservation: Reservation | null
}

export interface Reservation {
  readonly reason: number // the edge's verdict
  readonly leaseId: number | null // null: nothing is reserved
}

/**
 * Records the click, durably if it bills (I2), and answers with the redirect. A click that was
 * certainly not recorded gets no click id: an order that named it could never be attributed.
 */
export async function answerClick(deps: ClickDeps, click: Click): Promise<HotReply> {
  const clickId = drawRandomBytes(16)
  const isNamed = click.request.isHead || (await record(deps, click, clickId))
  return redirectTo(isNamed ? landingUrl(deps, click, clickId.toString('hex')) : click.url)
}

/** Whether the click is, or may become, durable. */
async function record(deps: ClickDeps, click: Click, clickId: Buffer): Promise<boolean> {
  const { campaignId, terms } = click.result
  const reservation = click.reservation ?? (await reserved(deps, click))
  const event = clickEvent(deps, click, { clickId, ...reservation })
  try {
    await deps.append([event], { timeoutMs: REDIRECT_TIMEOUT_MS })
    if (event.agentKey === null && event.reservedMicros !== null) deps.onLocalClick()
    return true
  } catch (error) {
    // Not durable: the reader continues, unrecorded and therefore unpaid. If the event may still be
    // written, its price stays reserved.
    const isLost = isNeverWritten(error)
    if (event.reservedMicros !== null) deps.reservedResults.delete(click.result.resultNumber)
    if (event.leaseId !== null && isLost) {
      deps.book.release(campaignId, Number(event.leaseId), pricePerClick(terms))
    }
    deps.onUnrecorded(error)
    return !isLost
  }
}

function isNeverWritten(error: unknown): boolean {
  return error instanceof EventRefused || (error instanceof LogUnavailable && !error.isUncertain)
}

export function redirectTo(location: string): HotReply {
  return {
    status: 302,
    headers: {
      location: headerSafe(location),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer-when-downgrade',
      'x-robots-tag': 'noindex',
    },
    body: null,
  }
}

/** The edge's verdict on a click, cheapest check first; 0 when no check objects. */
export function edgeVerdict(
  deps: ClickDeps,
  click: Pick<Click, 'request' | 'nowMs' | 'result' | 'verdict'>,
): number {
  const { request, nowMs, result } = click
  if (click.verdict !== REASON.ok) return click.verdict
  if (isPrefetch(request.headers)) return REASON.prefetch
  if (isEmbedded(request.headers)) return REASON.embedded
  if (readUserAgent(request.headers['user-agent']).isRobot) return REASON.robot
  if (!result.isAtClick && isTooFast(nowMs - result.issuedAtMs)) return REASON.tooFast
  if (deps.isBlocked(request.address)) return REASON.blockedAddress
  if (!deps.isWithinLimit(request)) return REASON.rateLimited
  return REASON.ok
}

/** A result from the future predates a clock that was set back, so its age is unknown. */
function isTooFast(ageMs: number): boolean {
  return ageMs < CLICK_AGE_MIN_MS && ageMs >= -CLOCKS_APART_MAX_MS
}

/**
 * The click's destination, with the click id in the form that its merchant expects: in its own
 * parameter, or in the template of the merchant's network.
 */
function landingUrl({ edge }: ClickDeps, { url, result }: Click, clickId: string): string {
  const { merchants } = edge.market
  const merchant = result.campaignId === 0 ? undefined : merchants.get(result.merchId)
  if (merchant === undefined) return url
  const { click_param: name, deep_link: template } = merchant
  if (template?.includes('{cid}')) return deepLink(template, { url, clickId })
  const named = withParameter(url, { name, value: clickId })
  // If a network's template has no place for the click id, the shop's own parameter carries it.
  return template === null ? named : deepLink(template, { url: named, clickId })
}

/**
 * Reserves the price of a click on a page's result, once, or returns the reason why it is unpaid.
 */
async function reserved(deps: ClickDeps, click: Click): Promise<Reservation> {
  const { nowMs, result } = click
  const reason = edgeVerdict(deps, click)
  if (reason !== REASON.ok || !hasPrice(result)) return { reason, leaseId: null }
  if (deps.reservedResults.has(result.resultNumber)) {
    return { reason: REASON.duplicateResult, leaseId: null }
  }
  if (!mayReserve(deps, click)) return { reason: REASON.addressLimit, leaseId: null }
  deps.reservedResults.add(result.resultNumber)
  deps.book.recordClick(result.campaignId, {
    nowMs,
    ageMs: nowMs - result.issuedAtMs,
    priceMicros: pricePerClick(result.terms),
    address: addressUnit(click.request.address),
  })
  const reservation = await reserveFromBudget(deps, click, FUND_TIMEOUT_MS)
  if (reservation.leaseId === null) deps.reservedResults.delete(result.resultNumber)
  return reservation
}

/**
 * Whether the click's address may reserve more of the campaign's budget. Local addresses are
 * exempt, as from the fold's rule on paid clicks (docs/spec/clicks.md#clicks-per-address).
 */
export function mayReserve(
  { edge, addressReservations }: Pick<ClickDeps, 'edge' | 'addressReservations'>,
  { request, nowMs, result }: Pick<Click, 'request' | 'nowMs' | 'result'>,
): boolean {
  if (isLocalAddress(request.address)) return true
  const { campaignId } = result
  const paidPerHour = edge.market.campaigns.get(campaignId)?.clicks_per_address_hour
  if (paidPerHour === undefined) return true
  const address = addressUnit(request.address)
  return addressReservations.take({ campaignId, address, paidPerHour }, nowMs)
}

/** Whether the click itself costs its merchant something. */
export function hasPrice(result: SealedResult): boolean {
  return pricePerClick(result.terms) > 0
}

/**
 * Reserves the price. If this node's lease is too small, requests more and waits; without time
 * left, requests it for the next click.
 */
export async function reserveFromBudget(
  deps: ClickDeps,
  { nowMs, result }: Pick<Click, 'nowMs' | 'result'>,
  timeoutMs: number,
): Promise<Reservation> {
  const { campaignId, terms } = result
  const priceMicros = pricePerClick(terms)
  let leaseId = deps.book.reserve(campaignId, priceMicros, nowMs)
  if (leaseId === null) {
    const funding = deps.fund(campaignId, priceMicros)
    // The lease knows whether it is funded by now.
    if (timeoutMs > 0) await withTimeout(funding, timeoutMs).catch(() => undefined)
    leaseId = deps.book.reserve(campaignId, priceMicros, nowMs)
  }
  return { reason: leaseId === null ? REASON.unfunded : REASON.ok, leaseId }
}

function clickEvent(
  deps: ClickDeps,
  click: Click,
  { clickId, reason, leaseId }: Reservation & { readonly clickId: Buffer },
): LogEvent {
  const { request, nowMs, result } = click
  const agent = readUserAgent(request.headers['user-agent'])
  const isReserved = leaseId !== null
  const { model, amount } = packTerms(result.terms)
  const unit = addressUnit(request.address)
  const campaign = deps.edge.market.campaigns.get(result.campaignId)
  return newEvent({
    id: deps.nextId(),
    atMs: nowMs,
    lane: MONEY_LANE,
    type: EVENT_TYPE.click,
    reason,
    pubId: result.pubId,
    sessionKey:
      click.sessionUuid === null ? null : deps.hashKeys.hash('session', click.sessionUuid, nowMs),
    auctionId: click.auctionId,
    resultNumber: result.resultNumber,
    merchId: result.merchId,
    campaignId: result.campaignId === 0 ? null : result.campaignId,
    offerId: result.offerId === '0' ? null : result.offerId,
    model,
    termsAmount: amount,
    sharePpm: result.sharePpm,
    // Lease 0 means a campaign without a cap: there is nothing to release.
    leaseId: isReserved && leaseId !== 0 ? String(leaseId) : null,
    reservedMicros: isReserved ? pricePerClick(result.terms) : null,
    clickId,
    visitorKey:
      click.visitorId === null ? null : deps.hashKeys.hash('visitor', click.visitorId, nowMs),
    addressKey: deps.hashKeys.hash('address', unit, nowMs),
    agentKey: isLocalAddress(request.address)
      ? null
      : deps.hashKeys.hash('address', agentText(unit, request.headers['user-agent']), nowMs),
    visitorReturned: Number(click.isVisitorReturned),
    addressHourMax: campaign?.clicks_per_address_hour ?? null,
    addressDayMax: campaign?.clicks_per_address_day ?? null,
    resultAgeMs: Math.max(0, nowMs - result.issuedAtMs),
    device: agent.device,
    uaFamily: agent.family,
    country: deps.countryOf(request),
    consent: click.consent,
    url: click.url,
    referrer: click.referrer,
    u1: click.labels.u1,
    utmSource: click.labels.utmSource,
  })
}

/** A key of an address unit and a user agent; an address unit contains no space. */
function agentText(unit: string, userAgent: string | undefined): string {
  return `${unit} ${userAgent ?? ''}`
}
