/**
 * From a link and a market to a decision: compiles the market once per snapshot, lays out a link's
 * candidates once per link, runs the core, and packs the receipt.
 */

import { LRUCache } from 'lru-cache'
import type { LeaseBook } from '../budgets/lease.ts'
import type { PacingBook } from '../budgets/pacing-book.ts'
import { roasCeiling } from '../budgets/roas.ts'
import { NO_TERMS, type PayTerms } from '../events/pay-terms.ts'
import { micros, PPM, publisherPart as partOf } from '../platform/money/money.ts'
import { heapShare } from '../platform/process/heap-share.ts'
import type { ClickEstimates, PairEstimate } from '../prediction/click-estimates.ts'
import { orderTerms, perOrderMicros } from '../prediction/predict.ts'
import { type AuctionContext, type Decision, NOBODY, originalMerchant } from './auction-result.ts'
import { campaignResults } from './auction-totals.ts'
import {
  type CampaignFlight,
  type CampaignState,
  createCampaignState,
  refreshLive,
} from './campaign-state.ts'
import { budgetOf, campaignTerms, flightOf, pacedOf } from './campaign-terms.ts'
import {
  buildCandidateSet,
  type CampaignTerms,
  type CandidateSet,
  type Estimate,
  type OfferTerms,
  pairCandidates,
} from './candidate-set.ts'
import { type CategoryFloors, compileFloors } from './category-floors.ts'
import type { LinkData, OfferRow } from './link-store.ts'
import type { Campaign, Market, Publisher } from './market.ts'
import { createOutcome, type Outcome } from './outcome.ts'
import { packReceipt } from './receipt.ts'
import { type AuctionRequest, acceptedBy, type PublisherTerms, runAuction } from './run-auction.ts'
import { countryIndex, idList } from './targeting.ts'

/**
 * Equal joinable GTINs are one product, and so is the linked URL itself. Our choice: an exact URL
 * counts as certain, because all candidates of a link are found through it, and a common factor
 * changes no order and no price.
 */
const SAME_PRODUCT_PPM = PPM

/** Mostly the headers of a set's twenty arrays, however few candidates it has (Node 26). */
const SET_BYTES = 5_000
const CANDIDATE_BYTES = 140
/** Half of the links' share: a missing set is laid out again in 60 µs. */
const LAID_OUT = { part: 1 / 8, bytesMax: 256 * 1024 * 1024 }

interface LinkCandidates {
  readonly set: CandidateSet
  // By the set's offer index; null if there is no listing.
  readonly offers: readonly (OfferRow | null)[]
  readonly originalMerchId: number
}

export interface DeciderOptions {
  readonly book: LeaseBook
  readonly estimates: ClickEstimates
  readonly pacing: PacingBook
  readonly pricing: 'second_price' | 'first_price'
  readonly now: () => number
}

interface Compiled {
  readonly market: Market
  readonly state: CampaignState
  readonly campaigns: ReadonlyMap<number, readonly CampaignTerms[]> // By merchant.
  readonly flights: readonly CampaignFlight[]
  readonly publishers: ReadonlyMap<number, PublisherTerms>
  readonly floors: ReadonlyMap<number, CategoryFloors> // By publisher.
}

export class Decider {
  readonly #options: DeciderOptions
  readonly #outcome = createOutcome()
  #compiled: Compiled
  /**
   * Candidates of links, laid out once per snapshot. Not a WeakMap: the garbage collector pauses
   * the thread for 40 ms at 20,000 links to find live entries (bench/latency.ts).
   */
  #laidOut = makeLaidOut()

  constructor(options: DeciderOptions, market: Market) {
    this.#options = options
    this.#compiled = this.#compile(market)
  }

  setMarket(market: Market): void {
    this.#compiled = this.#compile(market)
    this.#laidOut = makeLaidOut() // Replaced, because clearing a large one takes milliseconds.
  }

  /** The link is no longer cached. A decision for it even now stays until the next market. */
  forget(data: LinkData): void {
    this.#laidOut.delete(data)
  }

  /** Compiles a snapshot and passes its campaigns to the lease book. */
  #compile(market: Market): Compiled {
    const nowMs = this.#options.now()
    const campaigns = [...market.campaigns.values()]
    const state = createCampaignState(campaigns.length)
    const terms = campaigns.map(campaignTerms)
    const flights = campaigns.map((campaign, index) => flightOf(market, campaign, index))
    // A suspended publisher has no terms, so no auction runs for it.
    const publishers = [...market.publishers.values()].filter(
      ({ pub_id }) => !market.suspended.publishers.has(pub_id),
    )
    refreshLive(state, flights, nowMs)
    this.#options.book.setCampaigns(campaigns.map(budgetOf), { budgetOk: state.budgetOk, nowMs })
    this.#options.pacing.setCampaigns(campaigns.map(pacedOf), state)
    return {
      market,
      state,
      flights,
      campaigns: Map.groupBy(terms, ({ merchId }) => merchId),
      publishers: new Map(publishers.map((item) => [item.pub_id, publisherTerms(item)])),
      floors: new Map(publishers.map((item) => [item.pub_id, compileFloors(item.category_floors)])),
    }
  }

  /** Flights start and end, feeds expire: call at least once a second. */
  tick(): void {
    const nowMs = this.#options.now()
    refreshLive(this.#compiled.state, this.#compiled.flights, nowMs)
    this.#options.pacing.step(nowMs)
  }

  #candidatesOf(data: LinkData): LinkCandidates {
    const known = this.#laidOut.get(data)
    if (known !== undefined) return known
    const candidates = this.#layOut(data)
    this.#laidOut.set(data, candidates)
    return candidates
  }

  #layOut(data: LinkData): LinkCandidates {
    const { market, state, campaigns, floors, publishers } = this.#compiled
    const floorsOf = floors.get(data.link.pub_id)
    const publisher = publishers.get(data.link.pub_id)
    const categoryOf = ({ offer }: Listing) => offer?.category_id ?? data.original?.category_id ?? 0
    const originalMerchId = originalMerchant(market, data)
    const rows = offersOf(data, originalMerchId)
    const candidates = pairCandidates(
      rows.map((row) => offerTerms(row, { categoryId: categoryOf(row), floorsOf })),
      {
        campaignsOf: (merchId) => campaigns.get(merchId) ?? [],
        estimate: (terms) => this.#estimate(data.link.pub_id, terms),
      },
    )
    const set = buildCandidateSet(candidates, {
      version: market.version,
      state,
      keptMerchId: data.link.is_exclusive ? originalMerchId : 0,
      isAcceptable:
        publisher === undefined
          ? () => true // No auction runs for it yet.
          : acceptedBy({ publisher, originalPriceMicros: originalPrice(data) }),
    })
    return { set, offers: rows.map(({ offer }) => offer), originalMerchId }
  }

  /** `unfunded`: campaigns whose budgets do not pay this click, whatever the lease book says. */
  decide(
    data: LinkData,
    auction: { context: AuctionContext; resultNumber: Buffer; unfunded: readonly number[] },
  ): Decision {
    const candidates = this.#candidatesOf(data)
    if (auction.unfunded.length === 0) return this.#run(data, candidates, auction)
    return withoutBudgets(candidates.set, auction.unfunded, () =>
      this.#run(data, candidates, auction),
    )
  }

  #run(
    data: LinkData,
    candidates: LinkCandidates,
    { context, resultNumber }: { context: AuctionContext; resultNumber: Buffer },
  ): Decision {
    const { market } = this.#compiled
    const request = this.#request(data, candidates, context)
    if (request === null) return NOBODY
    const outcome = this.#outcome
    const { set } = candidates
    runAuction(set, request, resultNumber, outcome)
    const campaign = market.campaigns.get(set.campaignId[outcome.winner] ?? 0)
    const merchant = market.merchants.get(set.merchId[outcome.winner] ?? 0)
    const offer = candidates.offers[set.offer[outcome.winner] ?? -1] ?? null
    const isWon = campaign !== undefined && merchant !== undefined
    return {
      counted: {
        atMs: context.nowMs,
        pubId: data.link.pub_id,
        device: context.device,
        country: context.country,
        priceMicros: isWon ? outcome.priceMicros : 0,
        results: campaignResults(set, outcome),
      },
      winner: isWon ? { campaign, merchant, offer } : null,
      terms: isWon ? sealedTerms(campaign, outcome) : NO_TERMS,
      runnerUpMicros: micros(Math.floor(outcome.runnerUpScore)),
      receipt: {
        resultNumber,
        atMs: context.nowMs,
        pubId: data.link.pub_id,
        auctionId: data.link.auction_id,
        merchId: merchant?.merch_id ?? 0,
        packed: packReceipt({ set, request, resultNumber, outcome }),
      },
    }
  }

  #request(
    data: LinkData,
    { originalMerchId }: LinkCandidates,
    context: AuctionContext,
  ): AuctionRequest | null {
    const { link, original } = data
    const publisher = this.#compiled.publishers.get(link.pub_id)
    // Suspended, or just created: its settings come with the next snapshot, but readers may arrive
    // earlier.
    if (publisher === undefined) return null
    return {
      publisher,
      country: countryIndex(context.country),
      device: context.device,
      originalMerchId,
      originalPriceMicros: originalPrice(data),
      isOriginalInStock: original?.is_in_stock ?? true,
      isExclusive: link.is_exclusive,
      isFirstPrice: this.#options.pricing === 'first_price',
      nowMs: context.nowMs,
    }
  }

  #estimate(pubId: number, { campaignId, merchId }: CampaignTerms): Estimate {
    const campaign = this.#compiled.market.campaigns.get(campaignId) as Campaign
    const estimate = this.#options.estimates.of(pubId, merchId)
    return {
      alpha: estimate.rate.alpha,
      nEff: estimate.rate.nEff,
      valuePerOrderMicros: perOrder(campaign, estimate),
      quality: estimate.validShare,
      ceilingMicros: roasCeiling(estimate, campaign.roas),
    }
  }
}

/** The result of `run` while these campaigns count as unfunded. */
function withoutBudgets<T>(set: CandidateSet, campaignIds: readonly number[], run: () => T): T {
  const { budgetOk } = set.state
  const known = budgetOk.slice()
  for (let i = 0; i < set.n; i += 1) {
    if (campaignIds.includes(set.campaignId[i] ?? 0)) budgetOk[set.campaign[i] ?? 0] = 0
  }
  try {
    return run()
  } finally {
    budgetOk.set(known)
  }
}

function makeLaidOut(): LRUCache<LinkData, LinkCandidates> {
  return new LRUCache({
    maxSize: heapShare(LAID_OUT),
    sizeCalculation: ({ set }) => SET_BYTES + CANDIDATE_BYTES * set.n,
  })
}

/** The terms to seal: a sale is paid by those of its auction, whatever the campaign says later. */
function sealedTerms(campaign: Campaign, { priceMicros, ratePpm }: Outcome): PayTerms {
  const { model } = campaign
  if (model === 'cpc') return { model, pricePerClickMicros: micros(priceMicros) }
  const terms = orderTerms(model, campaign)
  return terms.model === 'cpa'
    ? { ...terms, ratePpm: partOf(micros(terms.ratePpm), ratePpm) }
    : { ...terms, paymentMicros: partOf(terms.paymentMicros, ratePpm) }
}

function perOrder(campaign: Campaign, estimate: PairEstimate): number {
  const { model } = campaign
  return model === 'cpc' ? 0 : perOrderMicros(orderTerms(model, campaign), estimate)
}

interface Listing {
  readonly merchId: number
  readonly offer: OfferRow | null
}

/** The price of the linked page; 0 if unknown. */
function originalPrice({ original }: LinkData): number {
  return Number(original?.price_micros ?? 0)
}

/** The product's listings, and the link's own page if its merchant's feed lacks it. */
function offersOf({ offers }: LinkData, originalMerchId: number): Listing[] {
  const listings = offers.map((offer) => ({ merchId: offer.merch_id, offer }))
  const isListed = offers.some((offer) => offer.merch_id === originalMerchId)
  return originalMerchId === 0 || isListed
    ? listings
    : [...listings, { merchId: originalMerchId, offer: null }]
}

function offerTerms(
  { merchId, offer }: Listing,
  { categoryId, floorsOf }: { categoryId: number; floorsOf: CategoryFloors | undefined },
): OfferTerms {
  return {
    merchId,
    offerId: offer?.offer_id ?? '0',
    priceMicros: Number(offer?.price_micros ?? 0),
    isInStock: offer?.is_in_stock ?? true,
    confidencePpm: SAME_PRODUCT_PPM,
    floors: floorsOf?.get(categoryId) ?? null,
    categoryId,
  }
}

function publisherTerms(publisher: Publisher): PublisherTerms {
  return {
    pubId: publisher.pub_id,
    floorMicros: Number(publisher.floor_micros),
    tolerancePpm: publisher.tolerance_ppm,
    beta: publisher.beta,
    epsilonPpm: publisher.epsilon_ppm,
    sharePpm: publisher.share_ppm,
    isPriceRequired: publisher.is_price_required,
    merchants: idList(publisher.allow_merchants, publisher.block_merchants),
  }
}
