/**
 * The offers that compete for one link, laid out for the auction: one array per field.
 *
 * A candidate is one campaign on one offer, so a merchant with two campaigns has two candidates.
 * Built off the request path from plain records and never changed: what changes between snapshots
 * (live, funded, pacing) is read from the shared CampaignState by the index in `campaign`.
 */
import assert from 'node:assert/strict'
import { BETA_MAX } from '../accounts/publisher.ts'
import { MODEL, type Model } from '../events/event.ts'
import { PPM } from '../platform/money/money.ts'
import type { RateEstimate } from '../prediction/predict.ts'
import { type CampaignState, LIVE } from './campaign-state.ts'
import { benefit, GAIN_MAX } from './reader-benefit.ts'
import type { IdList } from './targeting.ts'

/** Up to this size the prototype's p99.9 stays below 20 µs. */
export const CANDIDATES_MAX = 64
/**
 * Candidates per merchant that survive the cut. Otherwise a merchant with 64 campaigns would be
 * alone and pay no more than the reserve.
 */
const OF_MERCHANT_MAX = 8

export interface CandidateSet {
  /** The version of the snapshot; part of the seal and the receipt. */
  readonly version: number
  readonly n: number
  readonly state: CampaignState
  readonly campaign: Int32Array // Dense index into `state`.
  readonly campaignId: Int32Array
  readonly merchId: Int32Array
  readonly offer: Int32Array // Index into the offers that the set was built from.
  /** 64 bits as two words, low word first; 0 for the link's own page without a feed entry. */
  readonly offerId: Uint32Array
  readonly model: Uint8Array
  /** 1: pays the lowest rate that still wins (CPA, EPP). */
  readonly hasSecondRate: Uint8Array
  readonly isInStock: Uint8Array
  readonly deviceMask: Uint8Array
  readonly countries: readonly (Uint32Array | null)[] // Null means everywhere.
  readonly publishers: readonly (IdList | null)[] // Null means all.
  /** Expected micros per click: the bid, or orders per click times value per order. */
  readonly value: Float64Array
  /** The same at the posted price of exclusive links. */
  readonly posted: Float64Array
  /**
   * The ROAS goal's ceiling for a click, before the campaign's multiplier; Infinity without a goal.
   */
  readonly ceiling: Float64Array
  readonly alpha: Float64Array // Posterior orders (CPA, EPP).
  readonly nEff: Float64Array // Posterior clicks (CPA, EPP).
  readonly valuePerOrder: Float64Array // Micros of commission, less expected returns.
  readonly price: Float64Array // Micros that the reader pays; 0 if unknown.
  readonly quality: Float64Array // Probability that a click lands and is valid.
  readonly confidencePpm: Int32Array // Probability that the offer is the link's product.
  /** Quality times confidence: the part of the weight that is the same for all requests. */
  readonly fit: Float64Array
  readonly floors: readonly (Float64Array | null)[] // Micros by country index; null if none is set.
  /** The category of the floor, 0 for none. Only receipts use it. */
  readonly category: Int32Array
  /** Of the merchants' prices; replaces an unknown original price. 0 if no price is known. */
  readonly medianPriceMicros: number
}

/** A merchant's offer for a link. */
export interface OfferTerms {
  readonly offerId: string // '0' for the link's own page without a feed entry.
  readonly merchId: number
  readonly priceMicros: number // 0 if unknown.
  readonly isInStock: boolean
  readonly confidencePpm: number
  /** The floor of the offer's category by country index; null if none is set. */
  readonly floors: Float64Array | null
  readonly categoryId: number // 0 for none.
}

/** A campaign of a snapshot, compiled once for all sets. */
export interface CampaignTerms {
  readonly index: number
  readonly campaignId: number
  readonly merchId: number
  readonly model: Model
  readonly bidMicros: number // CPC, else 0.
  readonly hasSecondRate: boolean
  readonly exclusiveBidMicros: number // CPC: the posted price of exclusive links; else the bid.
  readonly deviceMask: number
  readonly countries: Uint32Array | null
  readonly publishers: IdList | null
}

/**
 * The expected result of a campaign's clicks on an offer from this publisher:
 * docs/spec/prediction.md.
 */
export interface Estimate extends Pick<RateEstimate, 'alpha' | 'nEff'> {
  readonly valuePerOrderMicros: number
  readonly quality: number
  /** Micros that a click is worth to the merchant's ROAS goal, θ·A/τ; Infinity without a goal. */
  readonly ceilingMicros: number
}

/** One candidate as a plain record. */
export interface Candidate extends OfferTerms, Estimate {
  readonly campaign: CampaignTerms
  readonly offer: number
}

/** Pairs every offer with every campaign of its merchant. */
export function pairCandidates(
  offers: readonly OfferTerms[],
  {
    campaignsOf,
    estimate,
  }: {
    campaignsOf: (merchId: number) => readonly CampaignTerms[]
    estimate: (campaign: CampaignTerms) => Estimate
  },
): Candidate[] {
  return offers.flatMap((terms, offer) =>
    campaignsOf(terms.merchId).map((campaign) => ({
      ...terms,
      ...estimate(campaign),
      campaign,
      offer,
    })),
  )
}

/** Which candidates come first if there are more than an auction holds. */
export interface CutRules {
  /** The merchant of an exclusive link, which admits no other; 0 for an open link. */
  readonly keptMerchId: number
  /** Whether the publisher would accept the candidate, for any reader. */
  readonly isAcceptable: (candidate: Candidate, medianPriceMicros: number) => boolean
}

/**
 * Lays candidates out for auctions. Above CANDIDATES_MAX it keeps those that could win at present:
 * those of `keptMerchId` first, then the first few of each merchant. Among candidates with the same
 * targets, those with the highest possible score stay.
 */
export function buildCandidateSet(
  candidates: readonly Candidate[],
  { version, state, ...rules }: CutRules & { version: number; state: CampaignState },
): CandidateSet {
  for (const candidate of candidates) assertUsable(candidate)
  const medianPriceMicros = medianPrice(candidates)
  const kept = keepBest(candidates, { ...rules, medianPriceMicros, live: state.live })
  const column = (read: (candidate: Candidate) => number) => Float64Array.from(kept, read)
  const integers = (read: (candidate: Candidate) => number) => Int32Array.from(kept, read)
  return {
    version,
    n: kept.length,
    state,
    campaign: integers(({ campaign }) => campaign.index),
    campaignId: integers(({ campaign }) => campaign.campaignId),
    merchId: integers(({ merchId }) => merchId),
    offer: integers(({ offer }) => offer),
    offerId: offerWords(kept.map(({ offerId }) => offerId)),
    model: Uint8Array.from(kept, ({ campaign }) => campaign.model),
    hasSecondRate: Uint8Array.from(kept, ({ campaign }) => Number(campaign.hasSecondRate)),
    isInStock: Uint8Array.from(kept, ({ isInStock }) => Number(isInStock)),
    deviceMask: Uint8Array.from(kept, ({ campaign }) => campaign.deviceMask),
    countries: kept.map(({ campaign }) => campaign.countries),
    publishers: kept.map(({ campaign }) => campaign.publishers),
    value: column((candidate) => valueAt(candidate, candidate.campaign.bidMicros)),
    posted: column((candidate) => valueAt(candidate, candidate.campaign.exclusiveBidMicros)),
    ceiling: column(({ ceilingMicros }) => ceilingMicros),
    alpha: column(({ alpha }) => alpha),
    nEff: column(({ nEff }) => nEff),
    valuePerOrder: column(({ valuePerOrderMicros }) => valuePerOrderMicros),
    price: column(({ priceMicros }) => priceMicros),
    quality: column(({ quality }) => quality),
    confidencePpm: integers(({ confidencePpm }) => confidencePpm),
    fit: column(fitOf),
    floors: kept.map(({ floors }) => floors),
    category: integers(({ categoryId }) => categoryId),
    medianPriceMicros,
  }
}

function assertUsable({ alpha, nEff, quality }: Estimate): void {
  assert(
    quality > 0 && quality <= 1,
    `quality ${quality} is not within (0, 1]: prices divide by it`,
  )
  assert(alpha >= 0 && nEff > 0, `an estimate needs clicks: ${alpha} orders of ${nEff}`)
}

function valueAt(candidate: Candidate, bidMicros: number): number {
  if (candidate.campaign.model === MODEL.cpc) return bidMicros
  const { alpha, nEff, valuePerOrderMicros } = candidate
  return expectedValue({ alpha, nEff, valuePerOrder: valuePerOrderMicros })
}

/**
 * Expected micros per click at the mean: one expression, so that a receipt reproduces the same
 * bits.
 */
export function expectedValue({
  alpha,
  nEff,
  valuePerOrder,
}: {
  alpha: number
  nEff: number
  valuePerOrder: number
}): number {
  return (alpha / nEff) * valuePerOrder
}

/** Likewise one expression for sets and receipts. */
export function fitOf({
  quality,
  confidencePpm,
}: {
  quality: number
  confidencePpm: number
}): number {
  return quality * (confidencePpm / PPM)
}

/** The offer id of a candidate as a decimal string, '0' for none. */
export function offerIdOf({ offerId }: CandidateSet, i: number): string {
  const [low = 0, high = 0] = offerId.subarray(2 * i, 2 * i + 2)
  return String((BigInt(high) << 32n) | BigInt(low))
}

/** As words, because a receipt then copies them without a BigInt per candidate. */
function offerWords(offerIds: readonly string[]): Uint32Array {
  return Uint32Array.from(
    offerIds.flatMap((id) => [Number(BigInt(id) & 0xffff_ffffn), Number(BigInt(id) >> 32n)]),
  )
}

/**
 * The middle of the merchants' prices: each counts once, with the cheapest known price of its
 * offers, or twin listings would move the median. The lower of two, because a merchant really asks
 * it. See docs/spec/auction.md#price-tolerance.
 */
function medianPrice(candidates: readonly Candidate[]): number {
  const cheapest = new Map<number, number>()
  for (const { merchId, priceMicros } of candidates) {
    if (priceMicros === 0) continue
    cheapest.set(merchId, Math.min(cheapest.get(merchId) ?? priceMicros, priceMicros))
  }
  const prices = [...cheapest.values()].sort((a, b) => a - b)
  return prices[(prices.length - 1) >> 1] ?? 0
}

function keepBest(
  candidates: readonly Candidate[],
  {
    medianPriceMicros,
    keptMerchId,
    isAcceptable,
    live,
  }: CutRules & { medianPriceMicros: number; live: Uint8Array },
): readonly Candidate[] {
  if (candidates.length <= CANDIDATES_MAX) return candidates
  // Campaigns stay forever after their end; years of them must not displace this week's. One that
  // starts waits at most a minute for the next layout.
  const mayWin = (candidate: Candidate) =>
    candidate.isInStock &&
    live[candidate.campaign.index] === LIVE.live &&
    isAcceptable(candidate, medianPriceMicros)
  const { able = [], others = [] } = Object.groupBy(candidates, (candidate) =>
    mayWin(candidate) ? 'able' : 'others',
  )
  const bounds = new Map(candidates.map((item) => [item, upperBound(item, medianPriceMicros)]))
  const byBound = (a: Candidate, b: Candidate) =>
    (bounds.get(b) ?? 0) - (bounds.get(a) ?? 0) || compareIds(a, b)
  return [able, others]
    .flatMap((some) => fairOrder(some.toSorted(byBound), keptMerchId))
    .slice(0, CANDIDATES_MAX)
}

/** The kept merchant's, the first few of every other merchant, then the rest. */
function fairOrder(ranked: readonly Candidate[], keptMerchId: number): readonly Candidate[] {
  const { kept = [], others = [] } = Object.groupBy(ranked, ({ merchId }) =>
    merchId === keptMerchId ? 'kept' : 'others',
  )
  const ofMerchants = [...Map.groupBy(others, ({ merchId }) => merchId).values()].map(byTarget)
  const first = new Set(ofMerchants.flatMap((own) => own.slice(0, OF_MERCHANT_MAX)))
  return [
    ...byTarget(kept),
    ...byTarget(others.filter((candidate) => first.has(candidate))),
    ...byTarget(others.filter((candidate) => !first.has(candidate))),
  ]
}

/**
 * The best of each target, then the second best of each, and so on. The cut does not know the
 * reader, and expensive campaigns for one country would otherwise leave readers of another without
 * any.
 */
function byTarget(ranked: readonly Candidate[]): Candidate[] {
  const targets = Map.groupBy(
    ranked,
    ({ campaign: { deviceMask, countries } }) => `${deviceMask} ${countries?.join() ?? 'anywhere'}`,
  )
  const place = new Map(
    [...targets.values()].flatMap((aimed) =>
      aimed.map((candidate, at) => [candidate, at] as const),
    ),
  )
  return ranked.toSorted((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0))
}

/** The score under the strongest preference for low prices. */
function upperBound(candidate: Candidate, medianPriceMicros: number): number {
  const { campaign, priceMicros, ceilingMicros } = candidate
  const typedMicros = Math.max(campaign.bidMicros, campaign.exclusiveBidMicros)
  const bidMicros = Math.min(typedMicros, ceilingMicros)
  const isPriced = priceMicros > 0 && medianPriceMicros > 0
  const gain = isPriced ? (medianPriceMicros - priceMicros) / medianPriceMicros : 0
  const benefitMax = benefit(BETA_MAX * Math.min(Math.max(gain, 0), GAIN_MAX))
  return valueAt(candidate, bidMicros) * fitOf(candidate) * benefitMax
}

/** So that a cut at equal bounds does not depend on the order of the rows. */
function compareIds(a: Candidate, b: Candidate): number {
  const byCampaign = a.campaign.campaignId - b.campaign.campaignId
  return byCampaign !== 0 ? byCampaign : a.offer - b.offer
}
