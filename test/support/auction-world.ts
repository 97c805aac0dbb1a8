/**
 * Auctions in a few words, with plain defaults.
 *
 * The case runner, the properties and the benchmark use this, so that all of them build candidate
 * sets as the service does.
 */
import {
  type CampaignFlight,
  createCampaignState,
  refreshLive,
} from '../../src/auction/campaign-state.ts'
import {
  buildCandidateSet,
  type Candidate,
  type CandidateSet,
} from '../../src/auction/candidate-set.ts'
import { compileFloors } from '../../src/auction/category-floors.ts'
import { LOSS } from '../../src/auction/loss-code.ts'
import { createOutcome, type Outcome } from '../../src/auction/outcome.ts'
import { type AuctionRequest, acceptedBy, runAuction } from '../../src/auction/run-auction.ts'
import { countryBits, countryIndex, deviceMask, idList } from '../../src/auction/targeting.ts'
import { MODEL } from '../../src/events/event.ts'
import { DEVICE, type Device } from '../../src/events/user-agent.ts'
import { micros, PPM } from '../../src/platform/money/money.ts'
import { drawable } from '../../src/prediction/predict.ts'

export interface CandidateSpec {
  readonly name: string
  readonly campaign?: number // Default: its position in the list, from 1.
  readonly merchant?: number // The same default.
  readonly offerId?: string
  readonly model?: 'cpc' | 'cpa' | 'epp'
  readonly bidMicros?: number
  readonly exclusiveBidMicros?: number // Default: the bid.
  readonly orders?: number
  readonly clicks?: number
  readonly valuePerOrderMicros?: number
  readonly hasSecondRate?: boolean
  readonly ceilingMicros?: number // Default: none.
  readonly roasFactor?: number
  readonly quality?: number
  readonly confidencePpm?: number
  readonly priceMicros?: number // Default: unknown.
  readonly isInStock?: boolean
  readonly devices?: readonly Device[]
  readonly countries?: readonly string[]
  readonly allowPublishers?: readonly number[]
  readonly blockPublishers?: readonly number[]
  readonly floorMicros?: Readonly<Record<string, number>> // By country code; `*` means everywhere.
  readonly category?: number // Default: none. It only selects other floors.
  readonly flight?: Partial<Omit<CampaignFlight, 'index'>>
  readonly budgetOk?: boolean
  readonly paceFactor?: number
}

export interface RequestSpec {
  readonly pubId?: number
  readonly floorMicros?: number
  readonly tolerancePpm?: number
  readonly beta?: number
  readonly epsilonPpm?: number
  readonly sharePpm?: number
  readonly isPriceRequired?: boolean
  readonly allowMerchants?: readonly number[]
  readonly blockMerchants?: readonly number[]
  readonly country?: string | null
  readonly device?: keyof typeof DEVICE
  readonly originalMerchant?: number
  readonly originalPriceMicros?: number
  readonly isOriginalInStock?: boolean
  readonly isExclusive?: boolean
  readonly isFirstPrice?: boolean
  readonly nowMs?: number
}

/** 2026-03-02T12:00:00Z, a Monday. */
export const NOON_MS = Date.UTC(2026, 2, 2, 12)
const VERSION = 7

/** The set that the service would build for these candidates at `nowMs`. */
export function makeSet(specs: readonly CandidateSpec[], spec: RequestSpec = {}): CandidateSet {
  const { nowMs = NOON_MS, originalMerchant = 0, isExclusive = false } = spec
  const state = createCampaignState(specs.length)
  specs.forEach(({ budgetOk = true, paceFactor = 1, roasFactor = 1 }, index) => {
    state.budgetOk[index] = Number(budgetOk)
    state.paceFactor[index] = paceFactor
    state.roasFactor[index] = roasFactor
  })
  const always = { isActive: true, startsAtMs: null, endsAtMs: null, feedImportedAtMs: null }
  const flights = specs.map(({ flight }, index) => ({ ...always, ...flight, index }))
  refreshLive(state, flights, nowMs)
  return buildCandidateSet(specs.map(makeCandidate), {
    version: VERSION,
    state,
    keptMerchId: isExclusive ? originalMerchant : 0,
    isAcceptable: acceptedBy(makeRequest(spec)),
  })
}

function makeCandidate(spec: CandidateSpec, index: number): Candidate {
  const { orders = 24, clicks = 1000 } = spec
  const model = MODEL[spec.model ?? 'cpc']
  const bidMicros = model === MODEL.cpc ? (spec.bidMicros ?? 500_000) : 0
  const merchId = spec.merchant ?? index + 1
  return {
    offerId: spec.offerId ?? String(1000 + index),
    merchId,
    priceMicros: spec.priceMicros ?? 0,
    isInStock: spec.isInStock ?? true,
    confidencePpm: spec.confidencePpm ?? PPM,
    floors: makeFloors(spec.floorMicros),
    categoryId: spec.category ?? 0,
    ...drawable({
      ...{ merchantRate: 0, merchantError: 0 },
      ...{ alpha: orders, nEff: clicks, rate: orders / clicks },
    }),
    valuePerOrderMicros: spec.valuePerOrderMicros ?? 0,
    quality: spec.quality ?? 1,
    ceilingMicros: spec.ceilingMicros ?? Number.POSITIVE_INFINITY,
    offer: index,
    campaign: {
      index,
      campaignId: spec.campaign ?? index + 1,
      merchId,
      model,
      bidMicros,
      hasSecondRate: spec.hasSecondRate ?? false,
      exclusiveBidMicros: spec.exclusiveBidMicros ?? bidMicros,
      deviceMask: deviceMask(spec.devices ?? []),
      countries: countryBits(spec.countries ?? []),
      publishers: idList(spec.allowPublishers ?? [], spec.blockPublishers ?? []),
    },
  }
}

function makeFloors(byCountry: CandidateSpec['floorMicros']): Float64Array | null {
  if (byCountry === undefined) return null
  const floors = Object.entries(byCountry).map(([code, floorMicros]) => ({
    category_id: 1,
    country: code === '*' ? null : code,
    floor_micros: micros(floorMicros),
  }))
  return compileFloors(floors).get(1) ?? null
}

export function makeRequest(spec: RequestSpec = {}): AuctionRequest {
  return {
    publisher: {
      pubId: spec.pubId ?? 1,
      floorMicros: spec.floorMicros ?? 0,
      tolerancePpm: spec.tolerancePpm ?? 50_000,
      beta: spec.beta ?? 1,
      epsilonPpm: spec.epsilonPpm ?? 0,
      sharePpm: spec.sharePpm ?? 750_000,
      isPriceRequired: spec.isPriceRequired ?? false,
      merchants: idList(spec.allowMerchants ?? [], spec.blockMerchants ?? []),
    },
    country: countryIndex(spec.country === undefined ? 'US' : spec.country),
    device: DEVICE[spec.device ?? 'desktop'],
    originalMerchId: spec.originalMerchant ?? 0,
    originalPriceMicros: spec.originalPriceMicros ?? 0,
    isOriginalInStock: spec.isOriginalInStock ?? true,
    isExclusive: spec.isExclusive ?? false,
    isFirstPrice: spec.isFirstPrice ?? false,
    nowMs: spec.nowMs ?? NOON_MS,
  }
}

/** The n-th of a series of result numbers; neighbours differ in one bit, which must not matter. */
export function resultNumber(n: number): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt32LE(n, 4)
  return bytes
}

export interface Held {
  readonly outcome: Outcome
  readonly set: CandidateSet
  readonly request: AuctionRequest
  readonly winner: string | null
  /** The loss of each candidate by name, in words of LOSS; the winner has none. */
  readonly losses: Readonly<Record<string, string>>
}

/** Builds the set and runs one auction. */
export function hold(
  specs: readonly CandidateSpec[],
  request: RequestSpec = {},
  result = resultNumber(1),
): Held {
  const set = makeSet(specs, request)
  const outcome = createOutcome()
  const asked = makeRequest(request)
  runAuction(set, asked, result, outcome)
  const names = Array.from(set.offer, (index) => specs[index]?.name ?? '')
  const losses = names.flatMap((name, i) =>
    i === outcome.winner ? [] : [[name, lossWord(outcome.losses[i] ?? 0)]],
  )
  return {
    outcome,
    set,
    request: asked,
    winner: names[outcome.winner] ?? null,
    losses: Object.fromEntries(losses),
  }
}

/** `540` → `"price"`. */
export function lossWord(code: number): string {
  return Object.entries(LOSS).find(([, value]) => value === code)?.[0] ?? `loss ${code}`
}
