/**
 * An auction for an endpoint: the winner, the destination, and the facts to seal.
 *
 * Between the pure core (run-auction.ts: numbers in, an index out) and HTTP. It knows links,
 * merchants and URLs; it neither decides nor answers.
 */

import { CONSENT } from '../events/consent.ts'
import { NO_TERMS, type PayTerms } from '../events/pay-terms.ts'
import { type Micros, micros } from '../platform/money/money.ts'
import { parseWebUrl, siteHost } from '../platform/net/url.ts'
import { isAllowedTarget } from './allowed-target.ts'
import type { CountedAuction } from './auction-totals.ts'
import type { LinkData, OfferRow } from './link-store.ts'
import { type Campaign, type Market, type Merchant, merchantOfHost } from './market.ts'
import type { Receipt } from './receipt-queue.ts'
import type { SealedResult } from './seal.ts'

/** The core's decision about one result number. */
export interface Decision {
  readonly winner: Winner | null
  readonly terms: PayTerms
  readonly runnerUpMicros: Micros
  readonly receipt: Receipt | null // Null if no auction ran.
  readonly counted: CountedAuction | null // The same.
}

interface Winner {
  readonly campaign: Campaign
  readonly merchant: Merchant
  readonly offer: OfferRow | null // Null for the merchant's own page without a feed entry.
}

/** A reader's request, as far as an auction may know it. */
export interface AuctionContext {
  readonly nowMs: number
  readonly consent: number
  readonly device: number
  readonly country: string | null
  readonly isAtClick: boolean
}

export interface AuctionResult {
  readonly result: SealedResult
  readonly url: string // The destination: the winner's page, or the link's own.
  readonly winner: Winner | null
  /** The product that a page may show: the winner's listing, or the original one. */
  readonly product: OfferRow | null
  /** To be stored once the auction counts. */
  readonly receipt: Receipt | null
  /** To be added to the totals once the auction counts. */
  readonly counted: CountedAuction | null
}

export function auctionResult(
  market: Market,
  data: LinkData,
  auction: { context: AuctionContext; decision: Decision; resultNumber: Buffer },
): AuctionResult {
  const { context, decision, resultNumber } = auction
  const { winner } = decision
  const { link } = data
  const product = winner === null ? data.original : winner.offer
  const url = winner === null ? ownDestination(data) : destinationOf(data, winner)
  const isForeign = link.is_keyless && !isAllowedTarget(market, { url, pubId: link.pub_id })
  return {
    url,
    winner,
    receipt: decision.receipt,
    counted: decision.counted,
    product,
    result: {
      resultNumber,
      issuedAtMs: context.nowMs,
      pubId: link.pub_id,
      merchId: winner?.merchant.merch_id ?? merchantOfUrl(market, url),
      campaignId: winner?.campaign.campaign_id ?? 0,
      offerId: product?.offer_id ?? '0',
      terms: decision.terms,
      sharePpm: market.publishers.get(link.pub_id)?.share_ppm ?? 0,
      isExclusive: link.is_exclusive,
      isKeylessForeign: isForeign,
      isAtClick: context.isAtClick,
      consent: context.consent,
      runnerUpMicros: decision.runnerUpMicros,
      snapshotVersion: market.version,
    },
  }
}

/** The link's own destination, which nobody pays for. */
export const NOBODY: Decision = {
  winner: null,
  terms: NO_TERMS,
  runnerUpMicros: micros(0),
  receipt: null,
  counted: null,
}

/** A link without a URL leads to its article. */
export function ownDestination({ link }: LinkData): string {
  return link.url ?? link.article_url
}

/** The merchant that a link's URL belongs to, or 0. */
export function originalMerchant(market: Market, { page, original }: LinkData): number {
  if (original !== null) return original.merch_id
  return page === null ? 0 : merchantOfUrl(market, page)
}

/** Third-party trackers, only with the reader's consent. */
export function trackersOf({ winner, result }: AuctionResult): {
  impression: readonly string[]
  viewable: readonly string[]
} {
  if (winner === null || result.consent !== CONSENT.full) return { impression: [], viewable: [] }
  const { tracker_impression, tracker_viewable } = winner.campaign
  return { impression: tracker_impression, viewable: tracker_viewable }
}

/** The original merchant keeps the page that the article chose, including its variant. */
function destinationOf(data: LinkData, { merchant, offer }: Winner): string {
  const { page, original } = data
  const isOwn = offer === null || offer.offer_id === original?.offer_id
  if (page !== null && (isOwn || original?.merch_id === merchant.merch_id)) return page
  return offer?.url ?? ownDestination(data)
}

function merchantOfUrl(market: Market, url: string): number {
  const parsed = parseWebUrl(url)
  return parsed === null ? 0 : merchantOfHost(market, siteHost(parsed))
}
