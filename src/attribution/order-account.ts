/**
 * Everything known of one order, and what follows from it in money.
 *
 * The account keeps only what was told: reports, returns, decisions, and the frozen attribution.
 * Its figures are computed from these afresh whenever one is added, and the difference to the
 * figures before is what the event changed. So the final figures depend on what was told and not
 * on its order (P41), and a revision after a return needs no rule of its own.
 */
import { MODEL, type Model } from '../events/event.ts'
import { type Micros, micros, publisherPart } from '../platform/money.ts'
import { allocate } from './allocate.ts'
import type { AttributionModel, Evidence } from './attribute.ts'
import {
  type HoldReason,
  holdIn,
  type MergedOrder,
  mergeReports,
  mostTrusted,
  type OrderReport,
  type Reports,
  withReport,
} from './order-merge.ts'
import { AMOUNTS_OPEN_MS, isOpen, locksAt } from './order-states.ts'
import { placeReturn, type ReturnRefusal, returnAmount } from './returns.ts'
import { divideHalfEven } from './round.ts'

/** The click an order is owed to, with the terms that were sealed when its auction ran. */
export interface Owner {
  readonly clickId: string // hex
  readonly clickAtMs: number
  readonly pubId: number
  readonly articleId: number
  readonly campaignId: number | null
  readonly model: Model
  readonly priceMicros: Micros // EPP: per purchase; CPA: per dollar of sale; CPC: paid at the click
  readonly sharePpm: number
}

export interface OrderAttribution {
  readonly model: AttributionModel
  readonly owner: Owner
}

/** Goods sent back, as reported. */
export interface ReportedReturn {
  readonly return_id: string
  readonly event_id: string
  readonly accepted_at_ms: number
  readonly line: number | null
  readonly product_id: string | null
  readonly quantity: number
  readonly returned_at_ms: number
}

export interface OrderAccount {
  readonly acceptedAtMs: number | null // of the first report; null while only returns are known
  readonly reports: Reports
  readonly returns: readonly ReportedReturn[]
  readonly attribution: OrderAttribution | null
  readonly evidence: readonly Evidence[] // of the attribution, or why there is none
  readonly isApproved: boolean // a person looked at it and let it pass
  readonly rejection: { readonly reason: string; readonly atMs: number } | null
  readonly isClickReversed: boolean // the click it is owed to was found invalid later
  readonly attributedAtMs?: number // when the click was found; absent: at acceptance
  readonly wait?: Wait // absent: it was never held, or was locked before
}

/** A hold that began while the order was open: until it ends nothing locks (economics 4). */
export interface Wait {
  readonly endedAtMs: number | null // null: not decided yet
}

export const EMPTY_ACCOUNT: OrderAccount = {
  acceptedAtMs: null,
  reports: {},
  returns: [],
  attribution: null,
  evidence: [],
  isApproved: false,
  rejection: null,
  isClickReversed: false,
}

/** Why a report changed nothing. */
export type IgnoredBecause = 'amounts_closed' | 'rejected'

/**
 * Adds a report. The first attribution stays, but for a surer one that replaces it while the order
 * is pending; a cancelled order that is still pending is rejected, until a report that is believed
 * more says otherwise.
 */
export function addReport(
  account: OrderAccount,
  heard: {
    readonly report: OrderReport
    readonly attribution: OrderAttribution | null
    readonly evidence?: readonly Evidence[]
    readonly atMs: number
  },
): { readonly account: OrderAccount; readonly ignored: IgnoredBecause | null } {
  const { report, atMs } = heard
  const open = withdrawCancellation(account, atMs)
  if (open.rejection !== null) return { account, ignored: 'rejected' }
  const acceptedAtMs = account.acceptedAtMs ?? atMs
  if (atMs >= acceptedAtMs + AMOUNTS_OPEN_MS) return { account, ignored: 'amounts_closed' }
  const reports = withReport(account.reports, report)
  const attribution = keepOrReplace({ ...open, acceptedAtMs }, heard.attribution, atMs)
  const isFrozen = attribution !== null && attribution === account.attribution
  const isSilent = (heard.evidence ?? []).length === 0 // This report names no click at all.
  const evidence = isFrozen || isSilent ? account.evidence : (heard.evidence ?? [])
  const isClickReversed = isFrozen && account.isClickReversed
  const isFoundLater = account.acceptedAtMs !== null && attribution !== null && !isFrozen
  const since = isFoundLater ? { attributedAtMs: atMs } : {}
  const told = { ...open, acceptedAtMs, reports, attribution, evidence, isClickReversed, ...since }
  const isWaiting = holdOf(told) !== null && isOpen(datesOf(open), atMs)
  const next = isWaiting ? { ...told, wait: { endedAtMs: null } } : told
  const isRejected = mostTrusted(reports).is_cancelled && isOpen(datesOf(next), atMs)
  const rejection = isRejected ? (account.rejection ?? { reason: CANCELLED, atMs }) : null
  return { account: endWait({ ...next, rejection }, atMs), ignored: null }
}

const CANCELLED = 'cancelled'

/**
 * The account as if not cancelled, where reports alone have cancelled it and it would still be
 * open: which report is believed must not depend on which came first (P41).
 */
function withdrawCancellation(account: OrderAccount, atMs: number): OrderAccount {
  if (account.rejection?.reason !== CANCELLED) return account
  const open = { ...account, rejection: null }
  const isReported = mostTrusted(account.reports).is_cancelled
  return isReported && isOpen(datesOf(open), atMs) ? open : account
}

/** A hold is over when a person has decided, or a report came that leaves nothing to decide. */
function endWait(account: OrderAccount, atMs: number): OrderAccount {
  const isOver = account.wait?.endedAtMs === null && holdOf(account) === null
  return isOver ? { ...account, wait: { endedAtMs: atMs } } : account
}

function keepOrReplace(
  account: OrderAccount,
  found: OrderAttribution | null,
  atMs: number,
): OrderAttribution | null {
  const { attribution } = account
  if (attribution === null) return found
  const isBetter = found !== null && isSurer(found.model, attribution.model)
  return isBetter && isOpen(datesOf(account), atMs) ? found : attribution
}

/** A click that the merchant names beats a guess, and any click beats a link that was only seen. */
function isSurer(one: AttributionModel, other: AttributionModel): boolean {
  return other !== one && (one === 'exact' || other === 'impression')
}

/**
 * Adds a return; the same return id again changes nothing. It may come before its order. Returns
 * count in the order in which they were accepted, however they reached the log.
 */
export function addReturn(account: OrderAccount, told: ReportedReturn): OrderAccount {
  if (account.returns.some((known) => known.return_id === told.return_id)) return account
  const returns = [...account.returns, told].sort((a, b) =>
    Number(BigInt(a.event_id) - BigInt(b.event_id)),
  )
  return { ...account, returns }
}

export type Decision =
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject'; readonly reason: string }

/** A person's decision. Rejecting what is locked, or nobody has told of, changes nothing. */
export function addDecision(account: OrderAccount, decision: Decision, atMs: number): OrderAccount {
  if (account.acceptedAtMs === null) return account
  if (decision.kind === 'approve') return endWait({ ...account, isApproved: true }, atMs)
  if (!isOpen(datesOf(account), atMs)) return account
  return { ...account, rejection: { reason: decision.reason, atMs } }
}

/** Its click was found invalid: rejected while that is possible; paid once it is locked. */
export function addReversal(account: OrderAccount, atMs: number): OrderAccount {
  const decision = { kind: 'reject', reason: 'click_reversed' } as const
  return { ...addDecision(account, decision, atMs), isClickReversed: true }
}

/**
 * The dates that an order's state follows from. An order that nobody led to is never locked, one
 * that is held not before that is decided. No lock lies before the order came to count: what a
 * payment has released by a time must stay released.
 */
export function datesOf(account: OrderAccount): { locksAtMs: number; rejectedAtMs: number | null } {
  return { locksAtMs: lockOf(account), rejectedAtMs: account.rejection?.atMs ?? null }
}

function lockOf({ acceptedAtMs, attribution, attributedAtMs, wait }: OrderAccount): number {
  const isWaiting = wait?.endedAtMs === null
  if (acceptedAtMs === null || attribution === null || isWaiting) return Number.POSITIVE_INFINITY
  return Math.max(
    locksAt(acceptedAtMs, attribution.owner.model),
    attributedAtMs ?? acceptedAtMs,
    wait?.endedAtMs ?? acceptedAtMs,
  )
}

/** Why an order that was told does not count yet. */
function holdOf({ reports, isApproved }: OrderAccount): HoldReason | null {
  const hold = holdIn(mostTrusted(reports))
  return hold === 'review' && isApproved ? null : hold
}

export interface LineFigures {
  readonly revenueMicros: Micros
  readonly commissionMicros: Micros // what the merchant owes
  readonly earningsMicros: Micros // the publisher's part of it
  readonly returned: number // units
}

/** What one return takes back of one line: amounts are positive. */
export interface ReturnFigures {
  readonly return_id: string
  readonly line: number
  readonly quantity: number
  readonly revenueMicros: Micros
  readonly commissionMicros: Micros
  readonly earningsMicros: Micros
}

export interface OrderFigures {
  readonly order: MergedOrder | null // null while only returns are known
  readonly hold: HoldReason | null
  readonly lines: readonly LineFigures[]
  readonly returns: readonly ReturnFigures[]
  readonly refused: readonly { readonly return_id: string; readonly reason: ReturnRefusal }[]
  readonly gross: Totals
  readonly net: Totals // what counts now; all zero while held, rejected or nobody's
}

export interface Totals {
  readonly sales: number
  readonly revenueMicros: Micros
  readonly commissionMicros: Micros
  readonly earningsMicros: Micros
}

const ZERO = micros(0)
export const NOTHING: Totals = {
  sales: 0,
  revenueMicros: ZERO,
  commissionMicros: ZERO,
  earningsMicros: ZERO,
}

/** Computes all figures of an order from what was told. */
export function figuresOf(account: OrderAccount): OrderFigures {
  if (account.acceptedAtMs === null) {
    return {
      order: null,
      hold: null,
      lines: [],
      returns: [],
      refused: [],
      gross: NOTHING,
      net: NOTHING,
    }
  }
  const order = mergeReports(account.reports)
  const hold = holdOf(account)
  const owner = account.attribution?.owner ?? null
  const isCounted = hold === null && owner !== null && account.rejection === null
  const gross = grossOf(order, owner)
  const shared = shareOut(order, gross)
  const { returns, refused, returned } = takeBack(account.returns, order, shared, owner)
  const lines = shared.map((line, index) => ({ ...line, returned: returned[index] ?? 0 }))
  return {
    order,
    hold,
    lines,
    returns,
    refused,
    gross,
    net: isCounted ? netOf({ order, gross, returns, returned }) : NOTHING,
  }
}

/** The commission is rounded once, on the order; its lines are parts of that. */
function grossOf(order: MergedOrder, owner: Owner | null): Totals {
  const commissionMicros = owner === null ? ZERO : commissionOf(order.revenueMicros, owner)
  return {
    sales: 1,
    revenueMicros: order.revenueMicros,
    commissionMicros,
    earningsMicros: publisherPart(commissionMicros, owner?.sharePpm ?? 0),
  }
}

const MICROS_PER_DOLLAR = 1_000_000n

function commissionOf(revenueMicros: Micros, { model, priceMicros }: Owner): Micros {
  switch (model) {
    case MODEL.cpa: {
      const exact = BigInt(revenueMicros) * BigInt(priceMicros)
      return micros(Number(divideHalfEven(exact, MICROS_PER_DOLLAR)))
    }
    case MODEL.epp:
      return priceMicros
    case MODEL.cpc:
    case MODEL.none:
      return ZERO
  }
}

type SharedLine = Omit<LineFigures, 'returned'>

function shareOut(order: MergedOrder, gross: Totals): SharedLine[] {
  const weights = order.lines.map((line) => BigInt(line.revenueMicros))
  const commissions = allocate(gross.commissionMicros, weights)
  const earnings = allocate(gross.earningsMicros, weights)
  return order.lines.map((line, index) => ({
    revenueMicros: line.revenueMicros,
    commissionMicros: commissions[index] ?? ZERO,
    earningsMicros: earnings[index] ?? ZERO,
  }))
}

/** Places every return afresh on the lines as they are believed now. */
function takeBack(
  returns: readonly ReportedReturn[],
  order: MergedOrder,
  lines: readonly SharedLine[],
  owner: Owner | null,
): Pick<OrderFigures, 'returns' | 'refused'> & { returned: number[] } {
  const returned = order.lines.map(() => 0)
  const taken: ReturnFigures[] = []
  const refused: { return_id: string; reason: ReturnRefusal }[] = []
  for (const { return_id, line, product_id, quantity } of returns) {
    const open = order.lines.map((told, index) => ({
      line: index,
      productId: told.productId,
      quantity: told.quantity,
      returned: returned[index] ?? 0,
    }))
    const placed = placeReturn(open, { line, productId: product_id, quantity })
    if (typeof placed === 'string') {
      refused.push({ return_id, reason: placed })
      continue
    }
    for (const { line: index, count } of placed) {
      const before = returned[index] ?? 0
      const units = { before, count, quantity: order.lines[index]?.quantity ?? 1 }
      const amounts = returnedAmounts(lines[index], units, owner)
      taken.push({ return_id, line: index, quantity: count, ...amounts })
      returned[index] = before + count
    }
  }
  return { returns: taken, refused, returned }
}

/** Only a commission on the sale (CPA) goes back with the goods (economics 6.1). */
function returnedAmounts(
  line: SharedLine | undefined,
  units: { before: number; count: number; quantity: number },
  owner: Owner | null,
): SharedLine {
  const part = (total: Micros | undefined) => returnAmount(total ?? ZERO, units)
  const isPaidBack = owner?.model === MODEL.cpa
  return {
    revenueMicros: part(line?.revenueMicros),
    commissionMicros: isPaidBack ? part(line?.commissionMicros) : ZERO,
    earningsMicros: isPaidBack ? part(line?.earningsMicros) : ZERO,
  }
}

/**
 * Gross less returns. A cancelled order that was locked keeps its commission but is no sale; a
 * sale is gone when all of its units are.
 */
function netOf(parts: {
  order: MergedOrder
  gross: Totals
  returns: readonly ReturnFigures[]
  returned: readonly number[]
}): Totals {
  const { order, gross, returns, returned } = parts
  const isAllBack = order.lines.every((line, index) => line.quantity === returned[index])
  const without = (total: Micros, read: (row: ReturnFigures) => number) =>
    micros(returns.reduce((rest, row) => rest - read(row), total as number))
  const isSale = !order.isCancelled && !isAllBack
  return {
    sales: isSale ? 1 : 0,
    revenueMicros: order.isCancelled ? ZERO : without(gross.revenueMicros, (r) => r.revenueMicros),
    commissionMicros: without(gross.commissionMicros, (row) => row.commissionMicros),
    earningsMicros: without(gross.earningsMicros, (row) => row.earningsMicros),
  }
}
