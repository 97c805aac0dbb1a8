/**
 * Decides which click, if any, an order is owed to.
 *
 * A pure function: the same order and touches always give the same answer, so an attribution can be
 * shown with its evidence, replayed, and recomputed by a third party. Three rules in turn:
 * 1. the click id that the merchant's server names for this order;
 * 2. the latest click among those that the merchant's tag remembers of this visitor;
 * 3. if the merchant allows it, the latest viewable impression of its offers, at most a day old.
 * Its page session must also contain an honest click that the merchant's tag remembers, which
 * identifies the visitor. That click may be of another day or shop.
 */
import { REASON } from '../events/reason.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'

export const WINDOW_DAYS_DEFAULT = 30
/** An impression of yesterday may have led here. One of last week is a coincidence. */
export const IMPRESSION_WINDOW_MS = DAY_MS
/** How far a merchant's clock may run ahead of ours, or be off where it signs. */
export const CLOCK_SKEW_MS = 5 * 60_000

/** A click as the fold judged it. */
export interface Touch {
  readonly clickId: string // 32 hex characters
  readonly atMs: number
  readonly merchId: number
  readonly reason: number // the fold's verdict, see reason.ts
}

/** A viewable impression of a merchant's link, in the page session of a click. */
export interface SeenLink {
  readonly impressionId: string // the event's id
  readonly atMs: number
  readonly merchId: number
  readonly clickId: string // a click of the same session
}

export interface OrderFacts {
  readonly merchId: number
  readonly orderedAtMs: number
  /**
   * Later touches are ignored: the time of the order, or the end of its day if only the day is
   * known.
   */
  readonly touchesUntilMs: number
  readonly exactClickId: string | null // hex, named by the merchant's server for this order
  readonly rememberedClickIds: readonly string[] // hex, remembered by the merchant's tag
}

export interface AttributionPolicy {
  readonly windowDays: number // 1 to 90
  readonly isPostImpression: boolean
}

/** Why a touch won or lost. Stored with an attribution as evidence, and shown. */
type TouchVerdict =
  | 'won'
  | 'older_than_winner'
  | 'not_named' // the merchant's server named another click
  | 'outside_window'
  | 'after_order'
  | 'other_merchant'
  | 'invalid_click'
  | 'unknown_click'

export interface TouchEvidence {
  readonly id: string
  readonly at_ms: number | null // null: no click has this id
  readonly verdict: TouchVerdict
}

export type AttributionModel = 'exact' | 'visitor' | 'impression'

interface Attribution {
  readonly model: AttributionModel
  readonly touchId: string // the click, or the click that identifies the impression's visitor
}

export interface AttributionResult {
  readonly attribution: Attribution | null
  readonly evidence: readonly TouchEvidence[]
}

/**
 * Verdicts under which a click still led its reader to the shop. A double click, or a click over a
 * spent budget, is not paid, but a sale after it is real.
 */
const HONEST_REASONS: ReadonlySet<number> = new Set([
  REASON.ok,
  REASON.unfunded,
  REASON.spooledLate,
  REASON.duplicateResult,
  REASON.duplicateVisitor,
  REASON.visitorLimit,
  REASON.scanner,
  REASON.addressLimit,
])

/** Attributes an order. `touches` are the clicks with the order's click ids, in any order. */
export function attribute(
  order: OrderFacts,
  touches: readonly Touch[],
  policy: AttributionPolicy,
  seenLinks: readonly SeenLink[] = [],
): AttributionResult {
  const byId = new Map(touches.map((touch) => [touch.clickId, touch]))
  const exact = order.exactClickId === null ? undefined : byId.get(order.exactClickId)
  const windowMs = policy.windowDays * DAY_MS
  if (exact !== undefined) {
    // A merchant that knows the click id had its reader. An order dated before the click has a slow
    // clock, or only a date of an earlier day.
    const isLed = [null, 'after_order'].includes(fault(order, exact, windowMs))
    if (isLed) return won('exact', exact.clickId, judgeAll(order, byId, windowMs, exact))
  }
  const usable = order.rememberedClickIds
    .flatMap((id) => byId.get(id) ?? [])
    .filter((touch) => fault(order, touch, windowMs) === null)
  const latest = usable.reduce<Touch | null>(later, null)
  const evidence = judgeAll(order, byId, windowMs, latest)
  if (latest !== null) return won('visitor', latest.clickId, evidence)

  if (!policy.isPostImpression) return { attribution: null, evidence }
  const seen = latestSeen(order, byId, seenLinks)
  if (seen === null) return { attribution: null, evidence }
  const shown: TouchEvidence = { id: seen.impressionId, at_ms: seen.atMs, verdict: 'won' }
  return won('impression', seen.clickId, [...evidence, shown])
}

function won(
  model: AttributionModel,
  touchId: string,
  evidence: readonly TouchEvidence[],
): AttributionResult {
  return { attribution: { model, touchId }, evidence }
}

/** The later one. In the same millisecond the higher click id, so that the result is unique. */
function later(best: Touch | null, touch: Touch): Touch {
  if (best === null) return touch
  if (touch.atMs !== best.atMs) return touch.atMs > best.atMs ? touch : best
  return touch.clickId > best.clickId ? touch : best
}

function fault(order: OrderFacts, touch: Touch, windowMs: number): TouchVerdict | null {
  if (touch.merchId !== order.merchId) return 'other_merchant'
  if (!HONEST_REASONS.has(touch.reason)) return 'invalid_click'
  if (touch.atMs > order.touchesUntilMs) return 'after_order'
  return order.orderedAtMs - touch.atMs > windowMs ? 'outside_window' : null
}

/** A verdict for every click id of the order. */
function judgeAll(
  order: OrderFacts,
  byId: ReadonlyMap<string, Touch>,
  windowMs: number,
  winner: Touch | null,
): TouchEvidence[] {
  const beaten = winner?.clickId === order.exactClickId ? 'not_named' : 'older_than_winner'
  const exactIds = order.exactClickId === null ? [] : [order.exactClickId]
  return [...new Set([...exactIds, ...order.rememberedClickIds])].map((id) => {
    const touch = byId.get(id)
    if (touch === undefined) return { id, at_ms: null, verdict: 'unknown_click' }
    if (touch === winner) return { id, at_ms: touch.atMs, verdict: 'won' }
    const verdict = fault(order, touch, windowMs) ?? beaten
    return { id, at_ms: touch.atMs, verdict }
  })
}

function latestSeen(
  order: OrderFacts,
  byId: ReadonlyMap<string, Touch>,
  seenLinks: readonly SeenLink[],
): SeenLink | null {
  const usable = seenLinks.filter(({ merchId, atMs, clickId }) => {
    const click = byId.get(clickId)
    const isVisitor =
      click !== undefined &&
      order.rememberedClickIds.includes(clickId) &&
      HONEST_REASONS.has(click.reason) &&
      click.atMs <= order.touchesUntilMs
    return isVisitor && merchId === order.merchId && isSeenFor(order, atMs)
  })
  return usable.reduce<SeenLink | null>((best, seen) => {
    if (best === null || seen.atMs > best.atMs) return seen
    return seen.atMs === best.atMs && isHigher(seen, best) ? seen : best
  }, null)
}

/** Whether a view at that time may have led to the order. */
export function isSeenFor(
  order: Pick<OrderFacts, 'orderedAtMs' | 'touchesUntilMs'>,
  atMs: number,
): boolean {
  return atMs <= order.touchesUntilMs && atMs >= order.orderedAtMs - IMPRESSION_WINDOW_MS
}

/**
 * At the same moment the higher impression, then the higher click, so that the result is unique.
 */
function isHigher(one: SeenLink, other: SeenLink): boolean {
  const [id, otherId] = [BigInt(one.impressionId), BigInt(other.impressionId)]
  return id === otherId ? one.clickId > other.clickId : id > otherId
}
