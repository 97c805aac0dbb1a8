/**
 * A simulated network whose truth is known: rates, order values, delays, rejections and returns of
 * every merchant and pair, and the clicks and orders that they bring, in order of time.
 */

import { EVENT_TYPE } from '../src/events/event.ts'
import { sampleChange } from '../src/fold/training-sample.ts'
import { applyEvent, type OrderEvent } from '../src/orders/order-event.ts'
import type { OrderRecord } from '../src/orders/order-store.ts'
import { emptyOrder } from '../src/orders/order-store.ts'
import { MICROS_PER_DOLLAR } from '../src/platform/money/money.ts'
import { DAY_MS, HOUR_MS } from '../src/platform/time/timestamp.ts'
import { clickEvidence } from '../src/prediction/evidence.ts'
import type { PairEvidence } from '../src/prediction/evidence-store.ts'
import {
  beta,
  gamma,
  normal,
  poisson,
  type Random,
  seededRandom,
} from '../test/support/seeded-random.ts'

/** Time is cut into slots: rates are constant within one, and predictions are refreshed at each. */
export const SLOT_MS = 6 * HOUR_MS

/** What makes a network easy or hard to value; everything absent is as in `WELL_SPECIFIED`. */
export interface WorldSpec {
  readonly days: number
  readonly merchants: number
  readonly publishers: number
  readonly clicksPerPairDay: number
  readonly globalRate: number
  readonly k0: number // clicks: how much merchants differ
  readonly k1: number // clicks: how much publishers differ at one merchant
  /** `usual`: exponential, half a day; `mixed`: an hour or a week; `differing`: by merchant. */
  readonly delays: 'usual' | 'mixed' | 'differing'
  /** Spread of ln(order value): one for all merchants, or from none to wide. */
  readonly values: 'alike' | 'differing'
  readonly rejecting: number // share of merchants that reject half of their orders
  readonly rejectAfterDays: number
  readonly newcomers: number // share of merchants that join while the network runs
  readonly driftPerDay: number // standard deviation of the change of ln(rate) in a day
  readonly bursts: number // chance of a pair-day with twenty times its clicks at half its rate
}

export interface Merchant {
  readonly merchId: number
  readonly startMs: number
  readonly meanMicros: number // of an order
  readonly sigma: number // of ln(order value)
  readonly ratePpm: number // commission
  readonly approvedShare: number
  readonly returnShare: number
  readonly drawDelayMs: () => number
}

export interface Order {
  readonly merchId: number
  readonly pubId: number
  readonly clickAtMs: number
  readonly atMs: number
  readonly micros: number
  readonly rejectedAtMs: number // Infinity: never
  readonly returnedAtMs: number // Infinity: never
}

/** Something that a learner sees, with what the fold makes of it. */
export type Happening = {
  readonly atMs: number
  readonly samples: readonly PairEvidence[]
} & (
  | { readonly kind: 'click'; readonly merchId: number; readonly pubId: number }
  | { readonly kind: 'order' | 'rejection'; readonly order: Order }
)

export interface SimulatedNetwork {
  readonly spec: WorldSpec
  readonly merchants: readonly Merchant[]
  readonly happenings: readonly Happening[]
  readonly slots: number
  readonly orders: readonly Order[]
  /** Orders per click of a pair in a slot, bursts left out. */
  readonly rateOf: (pubId: number, merchId: number, slot: number) => number
  /** Expected clicks of a pair in a day, the weight of its auctions; 0: never shown there. */
  readonly trafficOf: (pubId: number, merchId: number) => number
}

/** How a burst differs from the clicks of other days. */
const BURST = { clicks: 20, rate: 0.5 }

/** Orders per click of a pair in a slot: of all its clicks, whether they come in bursts or not. */
export function meanRate(
  network: SimulatedNetwork,
  { pubId, merchId, slot }: { pubId: number; merchId: number; slot: number },
): number {
  const { bursts } = network.spec
  const clicks = 1 - bursts + bursts * BURST.clicks
  const orders = 1 - bursts + bursts * BURST.clicks * BURST.rate
  return (network.rateOf(pubId, merchId, slot) * orders) / clicks
}

/** Commission of a click of a pair in a slot, on average, in micros. */
export function trueValue(
  network: SimulatedNetwork,
  merchant: Merchant,
  pubId: number,
  slot: number,
) {
  const { merchId, meanMicros, ratePpm, approvedShare, returnShare } = merchant
  const kept = approvedShare * (1 - returnShare)
  return meanRate(network, { pubId, merchId, slot }) * meanMicros * (ratePpm / 1e6) * kept
}

const TRAFFIC_SPREAD = 1.2 // of its logarithm, between pairs
const SHOWN_SHARE = 0.7 // of publishers that link to a merchant
const RETURN_AFTER_MS = 12 * DAY_MS
const START_MS = Date.parse('2026-01-01')

export function simulate(spec: WorldSpec, seed: number): SimulatedNetwork {
  const random = seededRandom(seed)
  const merchants = Array.from({ length: spec.merchants }, (_, index) =>
    makeMerchant(spec, index + 1, random),
  )
  const slots = (spec.days * DAY_MS) / SLOT_MS
  const scatter = (rate: number, k: number) => beta(random, { a: k * rate, b: k * (1 - rate) })
  const pairs = merchants.flatMap((merchant) => {
    const merchantRate = scatter(spec.globalRate, spec.k0)
    const drift = driftOf(spec, slots, random)
    return Array.from({ length: spec.publishers }, (_, index) => {
      const exponent = TRAFFIC_SPREAD * normal(random) - TRAFFIC_SPREAD ** 2 / 2
      const shown = random() < SHOWN_SHARE
      return {
        merchant,
        pubId: index + 1,
        rate: scatter(merchantRate, spec.k1),
        drift,
        clicksPerDay: shown ? spec.clicksPerPairDay * Math.exp(exponent) : 0,
      }
    })
  })
  const table = new Map(pairs.map((pair) => [pair.pubId * 1000 + pair.merchant.merchId, pair]))
  const pairOf = (pubId: number, merchId: number) => table.get(pubId * 1000 + merchId)
  const rateOf = (pubId: number, merchId: number, slot: number) => {
    const pair = pairOf(pubId, merchId)
    return pair === undefined ? 0 : Math.min(0.5, pair.rate * (pair.drift[slot] ?? 1))
  }
  const { happenings, orders } = draw(spec, { pairs, slots, rateOf, random })
  for (const [index, order] of orders.entries()) happenings.push(...orderHappenings(order, index))
  happenings.sort((one, other) => one.atMs - other.atMs)
  return {
    ...{ spec, merchants, happenings, orders, slots, rateOf },
    trafficOf: (pubId, merchId) => pairOf(pubId, merchId)?.clicksPerDay ?? 0,
  }
}

interface Pair {
  readonly merchant: Merchant
  readonly pubId: number
  readonly clicksPerDay: number
}

/** Draws clicks and orders; what becomes of the orders is drawn with them. */
function draw(
  spec: WorldSpec,
  world: {
    readonly pairs: readonly Pair[]
    readonly slots: number
    readonly rateOf: SimulatedNetwork['rateOf']
    readonly random: Random
  },
): { happenings: Happening[]; orders: Order[] } {
  const { pairs, slots, rateOf, random } = world
  const happenings: Happening[] = []
  const orders: Order[] = []
  for (const pair of pairs) {
    const { merchant, pubId, clicksPerDay } = pair
    const { merchId } = merchant
    let isBurst = false
    for (let slot = 0; slot < slots; slot++) {
      const slotStartMs = START_MS + slot * SLOT_MS
      if (slotStartMs % DAY_MS === 0) isBurst = random() < spec.bursts
      if (slotStartMs < merchant.startMs || clicksPerDay === 0) continue
      const clicks = poisson(
        random,
        (clicksPerDay * SLOT_MS * (isBurst ? BURST.clicks : 1)) / DAY_MS,
      )
      const rate = rateOf(pubId, merchId, slot) * (isBurst ? BURST.rate : 1)
      for (let click = 0; click < clicks; click++) {
        const atMs = Math.floor(slotStartMs + random() * SLOT_MS)
        const evidence = clickEvidence(atMs, { isValid: true })
        happenings.push({
          kind: 'click',
          atMs,
          merchId,
          pubId,
          samples: [{ pubId, merchId, evidence }],
        })
        if (random() < rate) orders.push(makeOrder(spec, merchant, { pubId, atMs }, random))
      }
    }
  }
  return { happenings, orders }
}

/** The beginning of a slot. */
export function slotMs(slot: number): number {
  return START_MS + slot * SLOT_MS
}

function makeMerchant(spec: WorldSpec, merchId: number, random: Random): Merchant {
  const joins = random() < spec.newcomers
  const joinDay = 1 + Math.floor(random() * (spec.days - 10))
  const sigmas = spec.values === 'alike' ? [0.7] : [0, 0.3, 0.7, 1.2, 1.6]
  const rejects = random() < spec.rejecting
  return {
    merchId,
    startMs: START_MS + (joins ? joinDay * DAY_MS : 0),
    meanMicros: 60 * MICROS_PER_DOLLAR * Math.exp(0.7 * normal(random)),
    sigma: sigmas[Math.floor(random() * sigmas.length)] ?? 0.7,
    ratePpm: 40_000 + Math.floor(random() * 80_000),
    approvedShare: rejects ? 0.5 : 0.97,
    returnShare: beta(random, { a: 2, b: 18 }),
    drawDelayMs: drawDelay(spec, random),
  }
}

function drawDelay(spec: WorldSpec, random: Random): () => number {
  const exponential = (meanMs: number) => -meanMs * Math.log(1 - random())
  switch (spec.delays) {
    case 'usual':
      return () => exponential(12 * HOUR_MS)
    case 'mixed':
      return () => exponential(random() < 0.5 ? HOUR_MS : 7 * DAY_MS)
    case 'differing': {
      const soon = random()
      const laterMs = (1 + 13 * random()) * DAY_MS
      return () => exponential(random() < soon ? HOUR_MS : laterMs)
    }
  }
}

/** Factors of the rate by slot, 1 at first. */
function driftOf(spec: WorldSpec, slots: number, random: Random): number[] {
  let log = 0
  const perSlot = spec.driftPerDay * Math.sqrt(SLOT_MS / DAY_MS)
  return Array.from({ length: slots }, () => {
    const factor = Math.exp(log)
    log += perSlot === 0 ? 0 : perSlot * normal(random)
    return factor
  })
}

function makeOrder(
  spec: WorldSpec,
  { merchId, meanMicros, sigma, approvedShare, returnShare, drawDelayMs }: Merchant,
  { pubId, atMs: clickAtMs }: { pubId: number; atMs: number },
  random: Random,
): Order {
  const atMs = Math.floor(clickAtMs + drawDelayMs())
  const value = meanMicros * Math.exp(sigma * normal(random) - sigma ** 2 / 2)
  const rejectAfterMs = spec.rejectAfterDays * DAY_MS * (0.5 + gamma(random, 4) / 8)
  return {
    ...{ merchId, pubId, clickAtMs, atMs },
    micros: Math.max(10_000, Math.round(value)),
    rejectedAtMs: random() < approvedShare ? Number.POSITIVE_INFINITY : atMs + rejectAfterMs,
    returnedAtMs: random() < returnShare ? atMs + RETURN_AFTER_MS : Number.POSITIVE_INFINITY,
  }
}

/** An order and its rejection through the account and the training samples that the fold uses. */
function orderHappenings(order: Order, index: number): Happening[] {
  const { merchId, atMs, rejectedAtMs } = order
  const orderId = `o${index}`
  const pending = applyToRecord(emptyOrder({ merchId, orderId }), order, {
    id: `${2 * index + 1}`,
    atMs,
    type: EVENT_TYPE.order,
    body: {
      order_id: orderId,
      report: {
        ...{ source: 's2s', ordered_at_ms: atMs, updated_at_ms: atMs, currency: 'USD' },
        ...{ value: '', value_micros: order.micros, rate_id: 'usd', lines: [] },
        ...{ is_new_customer: null, is_cancelled: false, hold: null },
      },
      ...{ exact_click_id: null, remembered_click_ids: [], window_days: 90 },
    },
  })
  const reported: Happening = {
    ...{ kind: 'order', order, atMs },
    samples: sampleChange(emptyOrder({ merchId, orderId }), pending),
  }
  if (!Number.isFinite(rejectedAtMs)) return [reported]
  const rejected = applyToRecord(pending, order, {
    id: `${2 * index + 2}`,
    atMs: rejectedAtMs,
    type: EVENT_TYPE.orderDecision,
    body: { order_id: orderId, kind: 'reject', reason: 'returned' },
  })
  const samples = sampleChange(pending, rejected)
  return [reported, { kind: 'rejection', order, atMs: rejectedAtMs, samples }]
}

function applyToRecord(record: OrderRecord, order: Order, event: OrderEvent): OrderRecord {
  const attribution = {
    model: 'exact' as const,
    owner: {
      ...{ clickId: '', clickAtMs: order.clickAtMs, pubId: order.pubId, articleId: 0 },
      ...{ campaignId: 1, terms: { model: 'cpa' as const, ratePpm: 80_000 }, sharePpm: 750_000 },
    },
  }
  return { ...record, account: applyEvent(record.account, event, { attribution }) }
}
