/**
 * From the listings of a product to the answer: the value of each merchant's link, and their order.
 * Pure.
 */
import { categoryFloor } from '../accounts/category-floor.ts'
import type { Publisher } from '../accounts/publisher-store.ts'
import type { LeaseBook } from '../budgets/lease.ts'
import { roasBid, roasCeiling } from '../budgets/roas.ts'
import { PLATFORM_RESERVE } from '../campaigns/campaign.ts'
import { wrapperUrl } from '../links/link-url.ts'
import { formatCents, MICROS_PER_DOLLAR, PPM } from '../platform/money/money.ts'
import type { ClickEstimates, PairEstimate } from '../prediction/click-estimates.ts'
import {
  type OfferedTerms,
  orderTerms,
  type Prediction,
  predictCpc,
} from '../prediction/predict.ts'
import type { MatchedProduct, MatchQuery } from './schema.ts'
import type { ListingRow, PayingCampaignRow } from './store.ts'

export interface MatchInput {
  readonly publisher: Publisher
  readonly query: MatchQuery
  readonly listings: readonly ListingRow[] // One per merchant.
  readonly campaigns: readonly PayingCampaignRow[] // Active campaigns of those merchants.
  readonly estimates: Pick<ClickEstimates, 'of'>
  /** How often a budget could pay in the last day, as this node saw it; null if it never asked. */
  readonly book: Pick<LeaseBook, 'fundedShare'>
  readonly linkUrl: string
}

export interface Match {
  readonly entry: MatchedProduct
  readonly merchId: number
  /** The campaign that an exclusive link would be sold to; null if none can pay. */
  readonly best: CampaignPrediction | null
}

interface CampaignPrediction extends Prediction {
  readonly campaignId: number
}

/** The merchant of a product_url first, then by predicted CPC, best first. */
export function matchProducts(input: MatchInput): Match[] {
  const { publisher, query, listings, campaigns } = input
  const isByAddress = query.gtin === undefined && query.sku === undefined
  const campaignsOf = Map.groupBy(campaigns, ({ merch_id }) => merch_id)
  return listings
    .filter(({ merch_id }) => acceptsMerchant(publisher, merch_id))
    .map((listing) => {
      const best = bestPrediction(campaignsOf.get(listing.merch_id) ?? [], listing, input)
      const cpcMicros = Math.round(best?.meanMicros ?? 0)
      return { listing, best, cpcMicros, isFirst: isByAddress && listing.is_exact }
    })
    .sort(
      (one, other) =>
        Number(other.isFirst) - Number(one.isFirst) ||
        other.cpcMicros - one.cpcMicros ||
        Number(one.listing.price_micros) - Number(other.listing.price_micros) ||
        one.listing.merch_id - other.listing.merch_id,
    )
    .map(({ listing, best, cpcMicros }) => ({
      entry: toEntry(listing, cpcMicros, input),
      merchId: listing.merch_id,
      best,
    }))
}

/**
 * The prediction for the campaign that an exclusive link would be sold to: docs/spec/prediction.md.
 */
function bestPrediction(
  campaigns: readonly PayingCampaignRow[],
  listing: ListingRow,
  { publisher, estimates, book }: MatchInput,
): CampaignPrediction | null {
  if (!listing.is_in_stock || !listing.is_fresh) return null
  const pair = estimates.of(publisher.pub_id, listing.merch_id)
  const reserve = reserveOf(publisher, listing)
  const offers = campaigns
    .map((campaign) => offerOf(campaign, pair))
    .filter(({ valueMicros }) => valueMicros >= reserve)
  const paying = offers.filter(({ campaign }) => campaign.is_funded)
  const chosen = highest(paying) ?? highest(offers)
  if (chosen === null) return null
  const { campaign_id: campaignId, is_funded: isFunded } = chosen.campaign
  const share = publisher.share_ppm / PPM
  const fundedShare = book.fundedShare(campaignId) ?? (isFunded ? 1 : 0)
  return { ...predictCpc(chosen.terms, { ...pair, share, fundedShare }), campaignId }
}

interface Offer {
  readonly campaign: PayingCampaignRow
  readonly terms: OfferedTerms
  // The value that the auction ranks by; share and validity apply to all.
  readonly valueMicros: number
}

function offerOf(campaign: PayingCampaignRow, pair: PairEstimate): Offer {
  const terms = payTerms(campaign, pair)
  const whole = { ...pair, share: 1, validShare: 1, fundedShare: 1 }
  return { campaign, terms, valueMicros: predictCpc(terms, whole).meanMicros }
}

function highest(offers: readonly Offer[]): Offer | null {
  return offers.reduce<Offer | null>(
    (best, offer) => (best !== null && best.valueMicros >= offer.valueMicros ? best : offer),
    null,
  )
}

/** As in the auction, but without the reader's country, which is not known yet. */
function reserveOf(publisher: Publisher, { category_id: categoryId }: ListingRow): number {
  const ofCategory = categoryFloor(publisher.category_floors, { categoryId, country: null })
  return Math.max(PLATFORM_RESERVE, publisher.floor_micros, ofCategory)
}

/** Exclusive links are sold at a posted price, never above the ceiling of a ROAS goal. */
function payTerms(campaign: PayingCampaignRow, estimate: PairEstimate): OfferedTerms {
  const { model, roas: goal, roas_multiplier: multiplier } = campaign
  if (model !== 'cpc') return orderTerms(model, campaign)
  const postedMicros = Number(campaign.exclusive_bid_micros ?? campaign.bid_micros)
  const ceilingMicros = roasCeiling(estimate, goal)
  return { model, bidMicros: roasBid(postedMicros, ceilingMicros, Math.min(1, multiplier)) }
}

/** Our choice: a merchant that the publisher blocks gets no link here either. */
export function acceptsMerchant(
  { allow_merchants, block_merchants }: Publisher,
  merchId: number,
): boolean {
  if (block_merchants.includes(merchId)) return false
  return allow_merchants.length === 0 || allow_merchants.includes(merchId)
}

function toEntry(
  listing: ListingRow,
  cpcMicros: number,
  { publisher, query, linkUrl }: MatchInput,
): MatchedProduct {
  return {
    best_effort_cpc: cpcMicros / MICROS_PER_DOLLAR,
    clickmate_link: wrapperUrl(linkUrl, {
      url: listing.url,
      publisherSlug: publisher.slug,
      isExclusive: true,
      articleUrl: query.article_url,
      articleName: query.article_name,
    }),
    product_information: {
      brand: listing.brand ?? '',
      gtin: listing.gtin_text ?? '',
      image_url: listing.image_url ?? '',
      in_stock: listing.is_in_stock,
      price: formatCents(listing.price_micros),
      product_name: listing.title,
      merchant_name: listing.merchant_name,
    },
  }
}
