/**
 * Measures predictions on past traffic, forward in time. Each slot is predicted from the data
 * before it, by our estimate and by three simpler ones. Where orders are still to come, only the
 * part due by now is predicted; otherwise the latest days would look overestimated.
 *
 * Pure: the history of clicks and orders in, figures out (docs/spec/prediction.md#metrics). The
 * same function judges the service's own log, the public click logs and synthetic worlds (bench/).
 */
import { DAY_MS } from '../platform/time/timestamp.ts'
import { ClickEstimates } from '../prediction/click-estimates.ts'
import { fitDelays, groupWaits, WAITS_DAYS, type Waits } from '../prediction/delay.ts'
import {
  type Evidence,
  HALF_LIVES,
  type HalfLife,
  noEvidence,
  pairKey,
  WAITS_MS,
} from '../prediction/evidence.ts'
import { addToPairs, type PairEvidence } from '../prediction/evidence-store.ts'
import { fitModel } from '../prediction/fit.ts'
import { fitHalfLife, HALF_LIFE_DAYS, type MerchantDay } from '../prediction/half-life.ts'
import { type RateEstimate, shown } from '../prediction/predict.ts'
import { delayOf, type PredictionModel } from '../prediction/prediction-model.ts'
import { type Bin, binsOf, type Metrics, measure, type Outcome } from './metrics.ts'

/** Clicks of a pair in one slot, and their orders with the slots in which they came. */
export interface Cohort {
  readonly pubId: number
  readonly merchId: number
  readonly slot: number
  readonly clicks: number
  readonly orders: readonly { readonly slot: number; readonly count: number }[]
}

export interface EvaluationOptions {
  readonly slotMs: number
  /** Slots to predict: [from, to). Earlier ones only train. */
  readonly fromSlot: number
  readonly toSlot: number
  readonly model: PredictionModel // the initial model; refitted as time goes on
  readonly refitSlots: number // slots between two fits
  readonly knownUntilMs: number // orders that come later are in no cohort
}

export const METHODS = ['ours', 'global', 'merchant', 'pair7d'] as const
type Method = (typeof METHODS)[number]

export interface Evaluation {
  readonly clicks: number
  readonly orders: number
  readonly pairSlots: number
  /** Null without a single click or order: there is nothing to measure. */
  readonly methods: Readonly<Record<Method, Metrics>> | null
  /** Predicted and actual rate of our estimate in bins of equal clicks, lowest first. */
  readonly bins: readonly Bin[]
}

const WEEK_MS = 7 * DAY_MS
/** A probability of 0 or 1 would make one surprise infinitely costly. */
const PROBABILITY_MIN = 1e-5

/** Replays the cohorts in time order and measures every method on the same pair-slots. */
export function evaluate(cohorts: readonly Cohort[], options: EvaluationOptions): Evaluation {
  const world = new KnownWorld(options)
  const outcomes: Record<Method, Outcome[]> = { ours: [], global: [], merchant: [], pair7d: [] }
  const bySlot = Map.groupBy(cohorts, ({ slot }) => slot)
  // Over the slots, not the cohorts: a call accepts some 100,000 arguments.
  const firstSlot = Math.min(options.fromSlot, ...bySlot.keys())
  for (let slot = firstSlot; slot < options.toSlot; slot++) {
    world.beginSlot(slot)
    const present = bySlot.get(slot) ?? []
    if (slot >= options.fromSlot) {
      for (const cohort of present) {
        const orders = cohort.orders.reduce((sum, { count }) => sum + count, 0)
        const actual = { clicks: cohort.clicks, orders }
        const come = world.partCome(cohort)
        const estimate = world.estimate(cohort)
        const merchantClicks = world.clicksOf(cohort.merchId)
        const group = { group: pairKey(cohort), merchantClicks }
        for (const method of METHODS) {
          const rate = method === 'ours' ? estimate.rate : world.baseline(method, cohort)
          const posterior =
            method === 'ours' ? shown({ ...estimate, nEff: estimate.nEff / come }) : null
          outcomes[method].push({ ...actual, ...group, predicted: clip(rate * come), posterior })
        }
      }
    }
    for (const cohort of present) world.learn(cohort)
  }
  return summarise(outcomes)
}

function summarise(outcomes: Record<Method, Outcome[]>): Evaluation {
  const { ours } = outcomes
  const clicks = ours.reduce((sum, outcome) => sum + outcome.clicks, 0)
  const orders = ours.reduce((sum, outcome) => sum + outcome.orders, 0)
  const counted = { clicks, orders, pairSlots: ours.length }
  if (clicks === 0 || orders === 0) return { ...counted, methods: null, bins: [] }
  const methods = {
    ours: measure(ours),
    global: measure(outcomes.global),
    merchant: measure(outcomes.merchant),
    pair7d: measure(outcomes.pair7d),
  }
  return { ...counted, methods, bins: binsOf(ours) }
}

const clip = (probability: number): number =>
  Math.min(1 - PROBABILITY_MIN, Math.max(PROBABILITY_MIN, probability))

type Pair = Pick<Cohort, 'pubId' | 'merchId'>
type WaitOf = Pick<Cohort, 'merchId' | 'slot'>

/** The knowledge at the start of a slot: never anything that came later. */
class KnownWorld {
  readonly #options: EvaluationOptions
  readonly #pairs = new Map<HalfLife, Map<string, PairEvidence>>(
    HALF_LIVES.map((halfLife) => [halfLife, new Map()]),
  )
  readonly #days = new Map<
    string,
    { merchId: number; day: number; clicks: number; orders: number }
  >()
  /** The estimate that auctions would use at the start of the slot. */
  readonly #estimates = new ClickEstimates()
  /** Orders in the data that are not yet known, by the slot in which they come. */
  readonly #coming = new Map<number, { cohort: Cohort; count: number }[]>()
  /** Orders of a merchant's clicks of a slot, and the sum of their delays in slots. */
  readonly #waits = new Map<string, { of: WaitOf; orders: number; slots: number }>()
  readonly #recent = new Map<string, { slot: number; clicks: number; orders: number }[]>()
  readonly #clicks = new Map<number, number>()
  #network = { clicks: 0, orders: 0 }
  #model: PredictionModel
  #nowMs = 0
  #fittedSlot = Number.NEGATIVE_INFINITY

  constructor(options: EvaluationOptions) {
    this.#options = options
    this.#model = options.model
  }

  beginSlot(slot: number): void {
    const { slotMs } = this.#options
    this.#nowMs = slot * slotMs
    for (const { cohort, count } of this.#coming.get(slot - 1) ?? []) {
      this.#add(cohort, { ...noEvidence((cohort.slot + 1) * slotMs), orders: count })
      this.#addWait(cohort, { orders: count, slots: count * (slot - 1 - cohort.slot) })
      this.#dayOf(cohort).orders += count
      this.#network.orders += count
      this.#rememberRecent(cohort, { slot: slot - 1, clicks: 0, orders: count })
    }
    this.#coming.delete(slot - 1)
    if (slot - this.#fittedSlot >= this.#options.refitSlots) this.#refit(slot)
    this.#estimates.take(this.#model, this.#evidence(), this.#nowMs)
  }

  /** The share of a cohort's orders that had come when the data was read. */
  partCome({ merchId, slot }: Cohort): number {
    const { slotMs, knownUntilMs } = this.#options
    const curve = delayOf(this.#model, merchId)
    const passedMs = Math.max(1, knownUntilMs - slot * slotMs) // A node's clock may be ahead.
    const spanMs = Math.min(slotMs, passedMs) // The last slot is still running.
    return curve.reduce((come, share, part) => {
      const delayMs = WAITS_MS[part] ?? 1
      const waiting = Math.exp((spanMs - passedMs) / delayMs) * partWaiting(spanMs, delayMs)
      return come - share * waiting
    }, 1)
  }

  estimate({ pubId, merchId }: Pair): RateEstimate {
    return this.#estimates.of(pubId, merchId).rate
  }

  /** A merchant's clicks so far. */
  clicksOf(merchId: number): number {
    return this.#clicks.get(merchId) ?? 0
  }

  baseline(method: Exclude<Method, 'ours'>, pair: Pair): number {
    const { clicks, orders } = this.#network
    const global = clicks === 0 ? this.#model.rates.globalRate : orders / clicks
    if (method === 'global') return global
    if (method === 'merchant') {
      const ripe = this.#estimates.countsOf(pair.merchId)
      return ripe.clicks < 1 ? global : ripe.orders / ripe.clicks
    }
    const weekAgo = this.#nowMs / this.#options.slotMs - WEEK_MS / this.#options.slotMs
    const week = (this.#recent.get(pairKey(pair)) ?? []).filter(({ slot }) => slot >= weekAgo)
    const seen = week.reduce((sum, part) => sum + part.clicks, 0)
    return seen === 0 ? global : week.reduce((sum, part) => sum + part.orders, 0) / seen
  }

  learn(cohort: Cohort): void {
    const { clicks, slot } = cohort
    const { slotMs } = this.#options
    const unripe = WAITS_MS.map((delayMs) => clicks * partWaiting(slotMs, delayMs))
    const squaredClicks = clicks
    this.#add(cohort, { ...noEvidence(this.#nowMs + slotMs), clicks, squaredClicks, unripe })
    this.#dayOf(cohort).clicks += clicks
    this.#network.clicks += clicks
    this.#clicks.set(cohort.merchId, this.clicksOf(cohort.merchId) + clicks)
    this.#rememberRecent(cohort, { slot, clicks, orders: 0 })
    for (const { slot: orderSlot, count } of cohort.orders) {
      this.#coming.getOrInsert(orderSlot, []).push({ cohort, count })
    }
  }

  #evidence(): PairEvidence[] {
    return [...(this.#pairs.get(this.#model.halfLife)?.values() ?? [])]
  }

  #add({ pubId, merchId }: Pair, evidence: Evidence): void {
    for (const [halfLife, pairs] of this.#pairs) {
      addToPairs(pairs, [{ pubId, merchId, evidence }], halfLife)
    }
  }

  #dayOf({ merchId, slot }: WaitOf) {
    const day = Math.floor((slot * this.#options.slotMs) / DAY_MS)
    return this.#days.getOrInsert(`${merchId} ${day}`, { merchId, day, clicks: 0, orders: 0 })
  }

  #rememberRecent(pair: Pair, part: { slot: number; clicks: number; orders: number }): void {
    this.#recent.getOrInsert(pairKey(pair), []).push(part)
  }

  #refit(slot: number): void {
    this.#fittedSlot = slot
    const delays = { ...this.#model, ...fitDelays(this.#waitsAt(slot)) }
    const halfLife = fitHalfLife(this.#daysAt(), delays, this.#nowMs)
    this.#model = { ...delays, halfLife }
    this.#model = fitModel(this.#evidence(), { yesterday: this.#model, nowMs: this.#nowMs })
  }

  /** To the slot; an order in its click's own slot had a delay of a third of it, on average. */
  #addWait({ merchId, slot }: WaitOf, added: { orders: number; slots: number }): void {
    if (added.orders === 0) return
    const none = { of: { merchId, slot }, orders: 0, slots: 0 }
    const key = `${merchId} ${slot} ${added.slots / added.orders}`
    const sum = this.#waits.getOrInsert(key, none)
    sum.orders += added.orders
    sum.slots += added.slots
  }

  #daysAt(): MerchantDay[] {
    const oldest = this.#nowMs / DAY_MS - HALF_LIFE_DAYS
    for (const [key, { day }] of this.#days) if (day < oldest) this.#days.delete(key)
    return [...this.#days.values()]
  }

  #waitsAt(now: number): Waits[] {
    const { slotMs } = this.#options
    const oldest = now - (WAITS_DAYS * DAY_MS) / slotMs
    for (const [key, { of }] of this.#waits) if (of.slot < oldest) this.#waits.delete(key)
    const waits = [...this.#waits.values()].map(({ of, orders, slots }) => ({
      ...{ merchId: of.merchId, orders },
      waitMs: Math.max(slots, orders / 3) * slotMs,
      ageMs: (now - of.slot - 0.5) * slotMs,
    }))
    return groupWaits(waits)
  }
}

/** The share of clicks, evenly spread over a span, whose orders are still to come at its end. */
function partWaiting(spanMs: number, delayMs: number): number {
  return (-delayMs / spanMs) * Math.expm1(-spanMs / delayMs)
}
