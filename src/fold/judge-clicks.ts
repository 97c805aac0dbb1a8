/**
 * Which clicks are paid: the one place that decides it (docs/spec/clicks.md#rules).
 *
 * A pure function of the clicks in log order and of the clicks before them. A click is valid
 * exactly when the edge found nothing against it, it is the first reserved click of its result,
 * its lease is open, and it passes the reader, scanner and address rules. The function never
 * pays what the edge did not reserve. Only valid clicks count towards a rule, and every window
 * is measured over accepted-at times, in either direction: another node's clock may be behind.
 */

import type { StoredEvent } from '../events/event.ts'
import { pricePerClick, termsOf } from '../events/pay-terms.ts'
import { REASON } from '../events/reason.ts'
import { type Micros, micros, publisherPart } from '../platform/money/money.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'

/** A reader who clicks one link again within this time means the same visit. */
const READER_REPEAT_MS = 30 * 60_000
/** More valid clicks of one reader on one campaign in this time are not interest. */
export const READER_WINDOW_MS = HOUR_MS
const READER_CLICKS_MAX = 5
/** A person without our cookie opens no more links than this at once; a scanner opens them all. */
export const SCANNER_WINDOW_MS = 10_000
const SCANNER_CLICKS_MAX = 3
const ADDRESS_HOUR_MS = HOUR_MS
export const ADDRESS_WINDOW_MS = DAY_MS

/** A valid click, as far as the rules look at it. Keys are in hex. */
export interface ValidClick {
  readonly visitorKey: string | null
  /** Of the address unit and user agent; null: the rules by address do not apply. */
  readonly agentKey: string | null
  readonly addressKey: string | null // null exactly when agentKey is
  readonly isVisitorReturned: boolean
  readonly campaignId: number // 0: a link that nobody pays for
  readonly auctionId: string
  readonly atMs: number
}

export interface ClickHistory {
  readonly reservedResults: ReadonlySet<string> // hex
  /** Valid clicks that share a key with those judged, each once. */
  readonly validClicks: readonly ValidClick[]
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
  readonly merchantCostMicros: Micros
  readonly publisherEarningsMicros: Micros
}

export function judgeClicks(events: readonly StoredEvent[], history: ClickHistory): JudgedClick[] {
  const reserved = new Set(history.reservedResults)
  const rests = new Map(history.leaseRests)
  const earlier = new EarlierClicks(history.validClicks)
  return events.map((event) => {
    const result = event.resultNumber?.toString('hex') ?? ''
    const isFirst = event.reason === REASON.ok && !reserved.has(result)
    const isLate = !takeFrom(rests, event)
    const reason = judge(event, { isFirst, isLate, earlier })
    if (isFirst) reserved.add(result)
    const merchantCostMicros = reason === REASON.ok ? pricePerClick(termsOf(event)) : micros(0)
    return {
      event,
      reason,
      isReserved: isFirst,
      isLate,
      merchantCostMicros,
      publisherEarningsMicros: publisherPart(merchantCostMicros, event.sharePpm ?? 0),
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
  { isFirst, isLate, earlier }: { isFirst: boolean; isLate: boolean; earlier: EarlierClicks },
): number {
  if (event.reason !== REASON.ok) return event.reason
  if (!isFirst) return REASON.duplicateResult
  if (isLate) return REASON.spooledLate
  const click = ruledClick(event)
  const reason =
    readerRule(click, earlier) || scannerRule(click, earlier) || addressRule(event, click, earlier)
  if (reason === REASON.ok) earlier.add(click)
  return reason
}

/** A reader is identified by the returned cookie, else by address unit and user agent. */
function readerRule(click: ValidClick, earlier: EarlierClicks): number {
  const isByAddress = click.agentKey !== null && !click.isVisitorReturned
  const clicks = earlier.ofReader(isByAddress ? click.agentKey : click.visitorKey, click)
  const isRepeat = clicks.some(
    (other) => other.auctionId === click.auctionId && isWithin(READER_REPEAT_MS, other, click),
  )
  if (isRepeat) return REASON.duplicateVisitor
  // The links that nobody pays for are no campaign: they have nothing but that in common.
  if (click.campaignId === 0) return REASON.ok
  const recent = clicks.filter((other) => isWithin(READER_WINDOW_MS, other, click))
  return recent.length >= READER_CLICKS_MAX ? REASON.visitorLimit : REASON.ok
}

function scannerRule(click: ValidClick, earlier: EarlierClicks): number {
  if (click.isVisitorReturned) return REASON.ok
  const recent = earlier
    .withoutCookie(click.agentKey)
    .filter((other) => isWithin(SCANNER_WINDOW_MS, other, click))
  return recent.length >= SCANNER_CLICKS_MAX ? REASON.scanner : REASON.ok
}

function addressRule(
  { addressHourMax, addressDayMax }: StoredEvent,
  click: ValidClick,
  earlier: EarlierClicks,
): number {
  if (addressHourMax === null || addressDayMax === null) return REASON.ok
  // Counted without a list: an operator may allow an address very many clicks.
  let [ofHour, ofDay] = [0, 0]
  for (const other of earlier.ofAddress(click)) {
    const apartMs = Math.abs(other.atMs - click.atMs)
    if (apartMs < ADDRESS_HOUR_MS) ofHour += 1
    if (apartMs < ADDRESS_WINDOW_MS) ofDay += 1
  }
  const isOver = ofHour >= addressHourMax || ofDay >= addressDayMax
  return isOver ? REASON.addressLimit : REASON.ok
}

function isWithin(windowMs: number, one: ValidClick, other: ValidClick): boolean {
  return Math.abs(one.atMs - other.atMs) < windowMs
}

function ruledClick(event: StoredEvent): ValidClick {
  const { agentKey } = event
  return {
    visitorKey: event.visitorKey?.toString('hex') ?? null,
    agentKey: agentKey?.toString('hex') ?? null,
    addressKey: agentKey === null ? null : (event.addressKey?.toString('hex') ?? null),
    isVisitorReturned: event.visitorReturned === 1,
    campaignId: event.campaignId ?? 0,
    auctionId: event.auctionId ?? '0',
    atMs: event.atMs,
  }
}

/** Valid clicks by each key that a rule counts by. */
class EarlierClicks {
  readonly #ofReader = new Map<string, ValidClick[]>()
  readonly #withoutCookie = new Map<string, ValidClick[]>()
  readonly #ofAddress = new Map<string, ValidClick[]>()

  constructor(clicks: readonly ValidClick[]) {
    for (const click of clicks) this.add(click)
  }

  /** A click counts for the visitor whose cookie it has or gets, and for its user agent. */
  add(click: ValidClick): void {
    const { visitorKey, agentKey, addressKey, campaignId } = click
    for (const key of [visitorKey, agentKey]) {
      if (key !== null) this.#ofReader.getOrInsert(`${key} ${campaignId}`, []).push(click)
    }
    if (agentKey !== null && !click.isVisitorReturned) {
      this.#withoutCookie.getOrInsert(agentKey, []).push(click)
    }
    if (addressKey !== null)
      this.#ofAddress.getOrInsert(`${addressKey} ${campaignId}`, []).push(click)
  }

  /** On the campaign of a click. */
  ofReader(key: string | null, { campaignId }: ValidClick): readonly ValidClick[] {
    return this.#ofReader.get(`${key} ${campaignId}`) ?? []
  }

  withoutCookie(agentKey: string | null): readonly ValidClick[] {
    return this.#withoutCookie.get(agentKey ?? '') ?? []
  }

  /** On the campaign of a click. */
  ofAddress({ addressKey, campaignId }: ValidClick): readonly ValidClick[] {
    return this.#ofAddress.get(`${addressKey} ${campaignId}`) ?? []
  }
}
