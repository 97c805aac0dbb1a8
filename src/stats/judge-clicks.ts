/**
 * Which clicks are paid: the one place that decides it (ARCHITECTURE, "the fold judges").
 *
 * A pure function of the clicks in log order and of what came before them. It settles a click
 * exactly when the edge reserved its price, the click is the first reserved one of its result, and
 * it passes the visitor rules (economics 2.5); otherwise it says why not. It never pays what the
 * edge did not reserve, and "within 30 minutes" is judged over accepted-at times in log order.
 */
import { MODEL, type StoredEvent } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { type Micros, micros, publisherPart } from '../platform/money.ts'

/** A person who clicks one link again within this time means the same visit. */
const VISITOR_REPEAT_MS = 30 * 60_000
/** More billable clicks of one visitor for one campaign in this time are not readers' interest. */
export const VISITOR_WINDOW_MS = 60 * 60_000
const VISITOR_CLICKS_MAX = 5

/** An earlier valid click of a visitor, at most VISITOR_WINDOW_MS before the first judged. */
interface EarlierClick {
  readonly visitorKey: string // hex
  readonly campaignId: number
  readonly auctionId: string
  readonly atMs: number
}

export interface ClickHistory {
  readonly reservedResults: ReadonlySet<string> // hex
  readonly validClicks: readonly EarlierClick[]
  /** What is set aside for clicks of each lease; not of those that are closed, or unknown. */
  readonly leaseRests: ReadonlyMap<string, number>
}

export interface JudgedClick {
  readonly event: StoredEvent
  readonly reason: number
  /** The first reserved click of its result: no other click of that result is ever paid. */
  readonly isReserved: boolean
  /** Nothing was set aside for it, whatever its edge reserved: its lease is closed or lost. */
  readonly isLate: boolean
  readonly paidMicros: Micros
  readonly publisherMicros: Micros
}

export function judgeClicks(events: readonly StoredEvent[], history: ClickHistory): JudgedClick[] {
  const reserved = new Set(history.reservedResults)
  const rests = new Map(history.leaseRests)
  const visits = new Map<string, EarlierClick[]>()
  for (const click of history.validClicks) remember(visits, click)
  return events.map((event) => {
    const result = event.resultNumber?.toString('hex') ?? ''
    const isFirst = event.reason === REASON.ok && !reserved.has(result)
    const isLate = !takeFrom(rests, event)
    const reason = judge(event, { isFirst, isLate, visits })
    if (isFirst) reserved.add(result)
    if (reason === REASON.ok && event.visitorKey !== null) remember(visits, visitOf(event))
    const isPaid = reason === REASON.ok && event.model === MODEL.cpc
    const paidMicros = micros(isPaid ? (event.priceMicros ?? 0) : 0)
    return {
      event,
      reason,
      isReserved: isFirst,
      isLate,
      paidMicros,
      publisherMicros: publisherPart(paidMicros, event.sharePpm ?? 0),
    }
  })
}

/**
 * Takes what a click reserved from its lease; false when that was not set aside for it. Where
 * clicks ask more of a lease than it has, the database has lost grants of it: it ends there.
 */
function takeFrom(rests: Map<string, number>, { leaseId, reservedMicros }: StoredEvent): boolean {
  if (leaseId === null) return true
  const rest = (rests.get(leaseId) ?? -1) - (reservedMicros ?? 0)
  rests.set(leaseId, rest)
  return rest >= 0
}

function judge(
  event: StoredEvent,
  context: {
    isFirst: boolean
    isLate: boolean
    visits: ReadonlyMap<string, readonly EarlierClick[]>
  },
): number {
  if (event.reason !== REASON.ok) return event.reason
  if (!context.isFirst) return REASON.duplicateResult
  if (context.isLate) return REASON.spooledLate
  if (event.visitorKey === null) return REASON.ok
  const visit = visitOf(event)
  const earlier = context.visits.get(visitorOf(visit)) ?? []
  const recent = earlier.filter(({ atMs }) => Math.abs(visit.atMs - atMs) < VISITOR_WINDOW_MS)
  const isRepeat = recent.some(
    ({ auctionId, atMs }) =>
      auctionId === visit.auctionId && Math.abs(visit.atMs - atMs) < VISITOR_REPEAT_MS,
  )
  if (isRepeat) return REASON.duplicateVisitor
  // The links that nobody pays for are no campaign: they have nothing but that in common.
  const isOver = event.campaignId !== null && recent.length >= VISITOR_CLICKS_MAX
  return isOver ? REASON.visitorLimit : REASON.ok
}

function visitOf(event: StoredEvent): EarlierClick {
  return {
    visitorKey: event.visitorKey?.toString('hex') ?? '',
    campaignId: event.campaignId ?? 0,
    auctionId: event.auctionId ?? '0',
    atMs: event.atMs,
  }
}

/** The rules count per visitor and campaign. */
function visitorOf({ visitorKey, campaignId }: EarlierClick): string {
  return `${visitorKey} ${campaignId}`
}

function remember(visits: Map<string, EarlierClick[]>, click: EarlierClick): void {
  visits.getOrInsert(visitorOf(click), []).push(click)
}
