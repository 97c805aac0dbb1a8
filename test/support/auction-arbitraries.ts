/** Random auctions: wide enough to meet every rule, narrow enough to meet ties and near misses. */

import { DEVICES } from '../../src/campaigns/campaign.ts'
import { FEED_AGE_MAX_MS } from '../../src/catalog/merchant.ts'
import { type CandidateSpec, NOON_MS, type RequestSpec } from './auction-world.ts'
import fc from './fast-check.ts'
import { evenly } from './uniform-numbers.ts'

const DOLLAR = 1_000_000

/** Round bids collide; odd ones test the rounding. */
const bidMicros = fc.oneof(
  fc.constantFrom(10_000, 20_000, 300_000, 500_000, 600_000),
  fc.integer({ min: 5_000, max: 3 * DOLLAR }),
)
const priceMicros = fc.oneof(
  fc.constantFrom(0, 90 * DOLLAR, 100 * DOLLAR, 105 * DOLLAR, 105 * DOLLAR + 1),
  fc.integer({ min: 60 * DOLLAR, max: 110 * DOLLAR }),
)
const share = evenly(0.01, 1)
/** One check in twenty fails, so that of several candidates some pass all of them. */
const rarely = <T>(value: fc.Arbitrary<T>, otherwise: T) =>
  fc.oneof({ weight: 19, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary: value })
const sometimes = fc.nat({ max: 6 }).map((side) => side === 0)

const flight = fc.constantFrom(
  {},
  { isActive: false },
  { startsAtMs: NOON_MS + 1 },
  { endsAtMs: NOON_MS },
  { startsAtMs: NOON_MS, endsAtMs: NOON_MS + 1 },
  { feedImportedAtMs: NOON_MS - FEED_AGE_MAX_MS - 1 },
)

/** A candidate on which every check may fail, each rarely. */
const candidate = fc.record({
  model: fc.constantFrom('cpc' as const, 'cpc' as const, 'cpa' as const, 'epp' as const),
  merchant: fc.integer({ min: 1, max: 6 }),
  offerId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String),
  bidMicros,
  exclusiveBidMicros: bidMicros,
  // Few, so that draws differ, or as many as a year brings.
  orders: fc.oneof(evenly(0, 4), evenly(0, 80)),
  clicks: fc.double({ min: 1, max: 4000, noNaN: true }),
  valuePerOrderMicros: evenly(0, 40 * DOLLAR),
  hasSecondRate: fc.boolean(),
  ceilingMicros: rarely(evenly(0, DOLLAR), Number.POSITIVE_INFINITY),
  roasFactor: rarely(evenly(0.2, 5), 1),
  quality: fc.oneof(fc.constant(1), share),
  confidencePpm: rarely(fc.constantFrom(980_000, 970_000, 950_000, 949_999), 1_000_000),
  priceMicros,
  isInStock: rarely(fc.constant(false), true),
  devices: rarely(fc.subarray([...DEVICES]), []),
  countries: rarely(fc.subarray(['US', 'GB', 'ZW']), []),
  allowPublishers: rarely(fc.subarray([1, 2, 40]), []),
  blockPublishers: rarely(fc.subarray([1, 2, 40]), []),
  floorMicros: rarely(fc.record({ '*': bidMicros, GB: bidMicros }), { '*': 0, GB: 0 }),
  category: fc.constantFrom(0, 222, 1_999_999_999),
  flight: rarely(flight, {}),
  budgetOk: rarely(fc.constant(false), true),
  paceFactor: rarely(evenly(0, 1), 1),
})

export const request: fc.Arbitrary<RequestSpec> = fc.record({
  pubId: fc.constantFrom(1, 2, 3, 40),
  floorMicros: rarely(bidMicros, 0),
  tolerancePpm: fc.integer({ min: 0, max: 200_000 }),
  beta: evenly(0, 3),
  // At 500,000, the auction by means counts as much as the drawn one in a propensity.
  epsilonPpm: fc.constantFrom(0, 50_000, 500_000, 1_000_000),
  isPriceRequired: sometimes,
  allowMerchants: rarely(fc.subarray([1, 2, 3]), []),
  blockMerchants: rarely(fc.subarray([2, 3, 4]), []),
  country: fc.constantFrom(null, 'US', 'GB', 'ZW', 'FR'),
  device: fc.constantFrom('unknown', 'desktop', 'mobile', 'tablet'),
  originalMerchant: fc.integer({ min: 0, max: 6 }),
  originalPriceMicros: priceMicros,
  isOriginalInStock: fc.boolean(),
  isExclusive: sometimes,
  isFirstPrice: sometimes,
})

export const resultNumber = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes))

/** Up to 70 candidates of up to 6 merchants, each with its own campaign. */
export const candidates: fc.Arbitrary<CandidateSpec[]> = named(
  withTwin(
    fc.oneof(
      { weight: 9, arbitrary: fc.array(candidate, { maxLength: 8 }) },
      { weight: 1, arbitrary: fc.array(candidate, { minLength: 40, maxLength: 69 }) },
    ),
    (spec) => ({ ...spec, merchant: 1 + (spec.merchant % 6) }),
  ),
)

/** Plain CPC rivals that pass every check, one per merchant. */
export const rivals: fc.Arbitrary<CandidateSpec[]> = named(
  withTwin(
    fc.array(
      fc.record({
        bidMicros: fc.oneof(
          fc.constantFrom(300_000, 500_000, 600_000),
          fc.integer({ min: 20_000, max: 3 * DOLLAR }),
        ),
        // On a grid: two that differ in the last bit of a double would tie in one scale only (P14).
        quality: fc.integer({ min: 10, max: 1000 }).map((perMille) => perMille / 1000),
        priceMicros: fc.oneof(
          fc.constantFrom(90 * DOLLAR, 100 * DOLLAR),
          fc.integer({ min: 60 * DOLLAR, max: 105 * DOLLAR }),
        ),
      }),
      { minLength: 1, maxLength: 7 },
    ),
    (spec) => spec, // Their positions give them different merchants.
  ),
)

/** The open auction in which `rivals` compete. */
export const open: fc.Arbitrary<RequestSpec> = fc.record({
  floorMicros: fc.constantFrom(0, 20_000),
  beta: evenly(0, 3),
  originalPriceMicros: fc.constant(100 * DOLLAR),
})

/**
 * Half of the lists end with a copy of an entry by another merchant, because random values never
 * tie by themselves.
 */
function withTwin<T>(specs: fc.Arbitrary<T[]>, ofAnother: (spec: T) => T): fc.Arbitrary<T[]> {
  return fc.tuple(specs, fc.option(fc.nat(), { freq: 2 })).map(([list, pick]) => {
    const spec = pick === null ? undefined : list[pick % list.length]
    return spec === undefined ? list : [...list, ofAnother(spec)]
  })
}

function named<T extends object>(specs: fc.Arbitrary<T[]>): fc.Arbitrary<(T & { name: string })[]> {
  return specs.map((list) => list.map((spec, index) => ({ ...spec, name: `C${index + 1}` })))
}
