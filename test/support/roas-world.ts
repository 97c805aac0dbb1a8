/**
 * A campaign with a ROAS goal in a simulated second-price market whose truth is known: what its
 * clicks really bring, and what they cost. Forecasts and multipliers come from the functions that
 * Souk runs. Part of src/budgets/roas-goals.test.ts and bench/roas.ts.
 */
import {
  ROAS_SPAN_HOURS,
  ROAS_SPANS,
  type RoasMeasure,
  type RoasSpan,
  roasBid,
  roasCeiling,
  stepRoasMultiplier,
} from '../../src/budgets/roas.ts'
import { HOUR_MS } from '../../src/platform/time/timestamp.ts'
import { ClickEstimates } from '../../src/prediction/click-estimates.ts'
import {
  addEvidence,
  clickEvidence,
  type DelayCurve,
  type Evidence,
  orderEvidence,
  shareWaiting,
  WAITS_MS,
} from '../../src/prediction/evidence.ts'
import { UNFITTED_MODEL } from '../../src/prediction/prediction-model.ts'
import { beta, normal, poisson, type Random, seededRandom } from './seeded-random.ts'

/** What the best rival of an auction asks, in fair prices of the campaign (value over goal). */
export const RIVALS = {
  uniform: (random: Random) => 2.4 * random(),
  wide: (random: Random) => Math.exp(normal(random)),
  narrow: (random: Random) => 1.2 * Math.exp(0.6 * normal(random)),
}

export interface RoasWorld {
  readonly days: number
  /** Auctions a day whose reader clicks, at any winner. */
  readonly clicksPerDay: number
  readonly ordersPerClick: number
  readonly rivals: keyof typeof RIVALS
  readonly delayCurve: DelayCurve
  /** Factor of the order rate on a day. */
  readonly rateOn: (day: number) => number
  /** Always this multiplier; absent: as the service steps it. */
  readonly multiplier?: number
}

export const ROAS_WORLD: RoasWorld = {
  days: 60,
  clicksPerDay: 8_000,
  ordersPerClick: 0.05,
  rivals: 'uniform',
  delayCurve: UNFITTED_MODEL.delayCurve,
  rateOn: () => 1,
}

/** What a day's clicks cost and bring, on average and by chance. */
export interface RoasDay {
  readonly clicks: number
  readonly spendMicros: number
  readonly expectedMicros: number
  readonly realisedMicros: number
  readonly multiplier: number // in the last hour
}

const NO_CLICKS = { clicks: 0, spendMicros: 0, expectedMicros: 0, realisedMicros: 0 }
const GOAL = 6
const ORDER_MICROS = 60e6
const ORDER_SIGMA = 0.8
const PUBLISHERS = 12
const PUBLISHER_SPREAD = 1 // of the logarithm of their traffic
const K1 = 800 // clicks: how much publishers differ
const BID_IN_FAIR_PRICES = 4
const FLOOR_MICROS = 10_000
const HALF_LIFE = 40
const MERCH_ID = 1

interface Hour extends RoasSpan {
  readonly squaredValue: number
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

interface Order {
  readonly clickAtMs: number
  readonly atMs: number
  readonly hour: number // of its click
  readonly pub: number
  readonly micros: number
}

/** Runs the campaign hour by hour. */
export function runRoasWorld(world: RoasWorld, seed: number): RoasDay[] {
  const random = seededRandom(seed)
  const market = makeMarket(world, random)
  const forecasts = new Forecasts(world.delayCurve)
  const hours: Mutable<Hour>[] = []
  const days: Mutable<RoasDay>[] = []
  let multiplier = world.multiplier ?? 1
  let pending: Order[] = []
  for (let hour = 0; hour < world.days * 24; hour++) {
    const nowMs = hour * HOUR_MS
    for (const order of pending) if (order.atMs < nowMs) noteOrder(order, hours, forecasts)
    pending = pending.filter(({ atMs }) => atMs >= nowMs)
    forecasts.refresh(nowMs)
    if (world.multiplier === undefined && hour > 0) {
      const measure = measureAt(hour, { hours, forecasts, world, market })
      multiplier = Math.fround(stepRoasMultiplier(multiplier, measure))
    }
    const clicked = runHour(hour, { world, market, forecasts, multiplier, random })
    pending.push(...clicked.orders)
    hours.push(clicked.hour)
    if (hour % 24 === 0) days.push({ ...NO_CLICKS, multiplier })
    const day = days.at(-1) as Mutable<RoasDay>
    day.clicks += clicked.hour.clicks
    day.spendMicros += clicked.hour.spendMicros
    day.expectedMicros += clicked.expectedMicros
    day.realisedMicros += clicked.orders.reduce((sum, { micros }) => sum + micros, 0)
    day.multiplier = multiplier
  }
  return days
}

interface Market {
  readonly fairMicros: number // a click's value over the goal, before any change
  readonly bidMicros: number
  readonly publishers: readonly { readonly rate: number; readonly share: number }[]
}

function makeMarket({ ordersPerClick }: RoasWorld, random: Random): Market {
  const drawn = Array.from({ length: PUBLISHERS }, () => ({
    rate: beta(random, { a: K1 * ordersPerClick, b: K1 * (1 - ordersPerClick) }),
    weight: Math.exp(PUBLISHER_SPREAD * normal(random)),
  }))
  const all = drawn.reduce((sum, { weight }) => sum + weight, 0)
  const fairMicros = (ordersPerClick * ORDER_MICROS) / GOAL
  return {
    fairMicros,
    bidMicros: Math.round(BID_IN_FAIR_PRICES * fairMicros),
    publishers: drawn.map(({ rate, weight }) => ({ rate, share: weight / all })),
  }
}

/** The merchant's evidence, as the fold collects it and nodes read it. */
class Forecasts {
  readonly curve: DelayCurve
  readonly #book = new ClickEstimates()
  readonly #evidence = new Map<number, Evidence>()

  constructor(curve: DelayCurve) {
    this.curve = curve
  }

  add(pub: number, evidence: Evidence): void {
    const before = this.#evidence.get(pub)
    this.#evidence.set(pub, before ? addEvidence(before, evidence, HALF_LIFE) : evidence)
  }

  refresh(nowMs: number): void {
    const pairs = [...this.#evidence].map(([pubId, evidence]) => ({
      ...{ pubId, merchId: MERCH_ID, halfLife: HALF_LIFE, evidence },
    }))
    this.#book.take({ ...UNFITTED_MODEL, delayCurve: this.curve }, pairs, nowMs)
  }

  of(pub: number) {
    return this.#book.of(pub, MERCH_ID)
  }
}

function noteOrder(order: Order, hours: Mutable<Hour>[], forecasts: Forecasts): void {
  const hour = hours[order.hour]
  if (hour === undefined) return
  hour.orders += 1
  hour.valueMicros += order.micros
  hour.squaredValue += order.micros ** 2
  forecasts.add(order.pub, orderEvidence(order.clickAtMs, order.micros))
}

interface Running {
  readonly world: RoasWorld
  readonly market: Market
  readonly forecasts: Forecasts
}

/** As roas-store.ts reads it from the log. */
function measureAt(
  hour: number,
  { hours, forecasts, world, market }: Running & { readonly hours: readonly Hour[] },
): RoasMeasure {
  const spanStart = (back: number) => hour - back * ROAS_SPAN_HOURS
  const sum = (from: number, to: number, read: (of: Hour, at: number) => number) => {
    let total = 0
    for (let at = Math.max(0, from); at < to; at++) total += read(hours[at] as Hour, at)
    return total
  }
  const ripeShare = (at: number) =>
    1 - shareWaiting(world.delayCurve, (hour - at - 1 / 2) * HOUR_MS)
  const spans = Array.from({ length: ROAS_SPANS }, (_, index) => {
    const [from, to] = [spanStart(ROAS_SPANS - index), spanStart(ROAS_SPANS - index - 1)]
    return {
      clicks: sum(from, to, ({ clicks }) => clicks),
      ripeClicks: sum(from, to, ({ clicks }, at) => clicks * ripeShare(at)),
      spendMicros: sum(from, to, ({ spendMicros }) => spendMicros),
      orders: sum(from, to, ({ orders }) => orders),
      valueMicros: sum(from, to, ({ valueMicros }) => valueMicros),
    }
  })
  const ofPublishers = market.publishers.map(({ share }, pub) => ({ share, ...forecasts.of(pub) }))
  return {
    goal: GOAL,
    spans,
    squaredValue: sum(spanStart(ROAS_SPANS), hour, ({ squaredValue }) => squaredValue),
    lastHour: hours[hour - 1] as Hour,
    forecast: {
      ordersPerClick: ofPublishers.reduce((all, { share, rate }) => all + share * rate.rate, 0),
      orderMicros: forecasts.of(0).value.meanMicros,
    },
  }
}

/** Auctions of an hour: readers click whatever wins, and some of them order. */
function runHour(
  hour: number,
  {
    world,
    market,
    forecasts,
    multiplier,
    random,
  }: Running & { readonly multiplier: number; readonly random: Random },
): { readonly hour: Mutable<Hour>; readonly orders: Order[]; readonly expectedMicros: number } {
  const clicked = { clicks: 0, ripeClicks: 0, spendMicros: 0, orders: 0, valueMicros: 0 }
  const orders: Order[] = []
  let expectedMicros = 0
  const bids = market.publishers.map((_, pub) =>
    roasBid(market.bidMicros, roasCeiling(forecasts.of(pub), GOAL), multiplier),
  )
  const diurnal = (1 - 0.6 * Math.cos(((hour % 24) - 4) * (Math.PI / 12))) / 24
  const auctions = poisson(random, diurnal * world.clicksPerDay)
  for (let auction = 0; auction < auctions; auction++) {
    const pub = drawIndex(market.publishers, random)
    const asked = Math.ceil(RIVALS[world.rivals](random) * market.fairMicros)
    const priceMicros = Math.max(FLOOR_MICROS, asked)
    if ((bids[pub] ?? 0) < priceMicros) continue
    const rate = (market.publishers[pub]?.rate ?? 0) * world.rateOn(hour / 24)
    const clickAtMs = (hour + random()) * HOUR_MS
    clicked.clicks += 1
    clicked.spendMicros += priceMicros
    expectedMicros += rate * ORDER_MICROS
    forecasts.add(pub, clickEvidence(clickAtMs, { isValid: true }))
    if (random() >= rate) continue
    const micros = ORDER_MICROS * Math.exp(ORDER_SIGMA * normal(random) - ORDER_SIGMA ** 2 / 2)
    const wait =
      WAITS_MS[
        drawIndex(
          world.delayCurve.map((share) => ({ share })),
          random,
        )
      ] ?? 0
    const atMs = clickAtMs - wait * Math.log(1 - random())
    orders.push({ clickAtMs, atMs, hour, pub, micros: Math.round(micros) })
  }
  return { hour: { ...clicked, squaredValue: 0 }, orders, expectedMicros }
}

function drawIndex(parts: readonly { readonly share: number }[], random: Random): number {
  let left = random()
  for (const [index, { share }] of parts.entries()) {
    left -= share
    if (left < 0) return index
  }
  return parts.length - 1
}

/** Return over goal of `length` days from `first`. */
export function returnOf(
  days: readonly RoasDay[],
  {
    first,
    length,
    of = 'expectedMicros',
  }: {
    readonly first: number
    readonly length: number
    readonly of?: 'expectedMicros' | 'realisedMicros'
  },
): number {
  const some = days.slice(first, first + length)
  const value = some.reduce((sum, day) => sum + day[of], 0)
  const spend = some.reduce((sum, { spendMicros }) => sum + spendMicros, 0)
  return value / spend / GOAL
}
