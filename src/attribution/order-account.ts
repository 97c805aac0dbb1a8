/**
 * Everything known of one order.
 *
 * The account keeps only what was told: reports, returns, decisions, and the frozen attribution.
 * What follows from it in money is computed afresh whenever something is added (order-figures.ts);
 * the difference to the figures before is what the event changed.
 */
import type { Model } from '../events/event.ts'
import type { Micros } from '../platform/money.ts'
import type { AttributionModel, TouchEvidence } from './attribute.ts'
import {
  endIn,
  type HoldReason,
  holdIn,
  mostTrusted,
  type OrderReport,
  type Reports,
  withReport,
} from './order-merge.ts'
import { AMOUNTS_OPEN_MS, isOpen, locksAt, type OrderDates } from './order-states.ts'

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

/** Goods sent back, or an amount refunded, as reported. */
export interface ReportedReturn {
  readonly return_id: string
  readonly event_id: string
  readonly accepted_at_ms: number
  readonly line: number | null
  readonly product_id: string | null
  readonly quantity: number // 0: the return names an amount
  readonly amount?: string // decimal text, of a line or of the whole order
  readonly currency?: string // of the amount; absent: the order's, which was not known yet
  readonly returned_at_ms: number
}

export interface OrderAccount {
  readonly acceptedAtMs: number | null // of the first report; null while only returns are known
  readonly reports: Reports
  readonly returns: readonly ReportedReturn[]
  readonly attribution: OrderAttribution | null
  readonly evidence: readonly TouchEvidence[] // of the attribution, or why there is none
  readonly rejection: { readonly reason: string; readonly atMs: number } | null
  readonly isClickReversed: boolean // the click it is owed to was found invalid later
  readonly attributedAtMs?: number // when the click was found; absent: at acceptance
  readonly wait?: Wait // absent: it was never held, or was locked before
  /** What is believed while a report waits that came when the order was locked: see `believed`. */
  readonly stood?: Reports
}

/** A hold that began while the order was open: until it ends nothing locks (economics 4). */
interface Wait {
  readonly endedAtMs: number | null // null: not decided yet
}

export const EMPTY_ACCOUNT: OrderAccount = {
  acceptedAtMs: null,
  reports: {},
  returns: [],
  attribution: null,
  evidence: [],
  rejection: null,
  isClickReversed: false,
}

/** Why a report changed nothing. */
export type IgnoredBecause = 'amounts_closed' | 'rejected'

/**
 * Adds a report. The first attribution stays, but for a surer one that replaces it while the order
 * is pending; a cancelled order that was pending until now is rejected, until a report that is
 * believed more says otherwise.
 */
export function addReport(
  account: OrderAccount,
  heard: {
    readonly report: OrderReport
    readonly attribution: OrderAttribution | null
    readonly evidence?: readonly TouchEvidence[]
    readonly atMs: number
  },
): { readonly account: OrderAccount; readonly ignored: IgnoredBecause | null } {
  const { report, atMs } = heard
  const open = withdrawCancellation(account, atMs)
  if (open.rejection !== null) return { account, ignored: 'rejected' }
  const acceptedAtMs = account.acceptedAtMs ?? atMs
  const isOver = atMs >= acceptedAtMs + AMOUNTS_OPEN_MS && !isWaiting(account)
  if (isOver) return { account, ignored: 'amounts_closed' }
  const reports = withReport(account.reports, report)
  const attribution = keepOrReplace({ ...open, acceptedAtMs }, heard.attribution, atMs)
  const isFrozen = attribution !== null && attribution === account.attribution
  const isSilent = (heard.evidence ?? []).length === 0 // This report names no click at all.
  const evidence = isFrozen || isSilent ? withLate(account, heard) : (heard.evidence ?? [])
  const isFoundLater = account.acceptedAtMs !== null && attribution !== null && !isFrozen
  const since = isFoundLater ? { attributedAtMs: atMs } : {}
  const told = { ...open, acceptedAtMs, reports, attribution, evidence, ...since }
  const next = holdOf(told) === null ? told : hold(told, open, atMs)
  // Open until now: one that was cancelled from the first never was, though it would lock at once.
  const reason = endIn(mostTrusted(reports))
  const isRejected = reason !== null && isOpen(datesOf(open), atMs)
  const rejection = isRejected ? { reason, atMs: account.rejection?.atMs ?? atMs } : null
  return { account: endWait({ ...next, rejection }, atMs), ignored: null }
}

/** The evidence as it was, but that a click which was unknown may have been found since. */
function withLate(
  { evidence }: OrderAccount,
  heard: { readonly evidence?: readonly TouchEvidence[] },
): readonly TouchEvidence[] {
  const verdicts = new Map(heard.evidence?.map((touch) => [touch.id, touch]))
  return evidence.map((touch) => {
    const late = touch.verdict === 'unknown_click' ? verdicts.get(touch.id) : undefined
    return late === undefined || late.verdict === 'won' ? touch : late
  })
}

/**
 * The account as if not cancelled, where reports alone have cancelled it and it would still be
 * open: which report is believed must not depend on which came first (P41).
 */
function withdrawCancellation(account: OrderAccount, atMs: number): OrderAccount {
  if (account.rejection === null || account.acceptedAtMs === null) return account
  const open = { ...account, rejection: null }
  const isReported = account.rejection.reason === endIn(mostTrusted(account.reports))
  return isReported && isOpen(datesOf(open), atMs) ? open : account
}

/** What waits keeps an open order open; what is locked stands as it was believed until then. */
function hold(told: OrderAccount, before: OrderAccount, atMs: number): OrderAccount {
  return isOpen(datesOf(before), atMs)
    ? { ...told, wait: { endedAtMs: null } }
    : { ...told, stood: believed(before) }
}

/** A hold is over when a person has decided, or a report came that leaves nothing to decide. */
function endWait(account: OrderAccount, atMs: number): OrderAccount {
  if (holdOf(account) !== null) return account
  const { stood: _, ...rest } = account
  return isWaiting(account) ? { ...rest, wait: { endedAtMs: atMs } } : rest
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

/** The body of an orderDecision event. */
export type DecisionBody = Decision & { readonly order_id: string }

/** A person's decision. Rejecting what is locked, or nobody has told of, changes nothing. */
export function addDecision(account: OrderAccount, decision: Decision, atMs: number): OrderAccount {
  if (account.acceptedAtMs === null) return account
  if (decision.kind === 'approve') return endWait(passed(account), atMs)
  if (!isOpen(datesOf(account), atMs)) return account
  return { ...account, rejection: { reason: decision.reason, atMs } }
}

/** What was told until now passes; a person who looked at it has not seen what is told later. */
function passed(account: OrderAccount): OrderAccount {
  const reports = Object.values(account.reports).map((report) =>
    report.hold === 'review' ? { ...report, hold: null } : report,
  )
  return { ...account, reports: Object.fromEntries(reports.map((told) => [told.source, told])) }
}

/**
 * Its click was found invalid: rejected while that is possible; paid once it is locked. One that
 * reports have cancelled stays ended since then, whatever they say later.
 */
export function addReversal(account: OrderAccount, atMs: number): OrderAccount {
  const decision = { kind: 'reject', reason: 'click_reversed' } as const
  const endedAtMs = account.rejection?.atMs ?? atMs
  const { rejection } = addDecision(withdrawCancellation(account, atMs), decision, atMs)
  return {
    ...account,
    rejection: rejection && { ...rejection, atMs: endedAtMs },
    isClickReversed: true,
  }
}

/**
 * The dates that an order's state follows from. An order that nobody led to is never locked, one
 * that is held not before that is decided. No lock lies before the order came to count: what a
 * payment has released by a time must stay released.
 */
export function datesOf(account: OrderAccount): Omit<OrderDates, 'paidAtMs'> {
  return { locksAtMs: lockOf(account), rejectedAtMs: account.rejection?.atMs ?? null }
}

/** When reports stop to change what an order sold for: of one that waited, not before its end. */
export function amountsCloseAt({ acceptedAtMs, wait }: OrderAccount): number {
  return Math.max((acceptedAtMs ?? 0) + AMOUNTS_OPEN_MS, wait?.endedAtMs ?? 0)
}

/** Whether it is held, and was open when that began: it stays open however long that takes. */
function isWaiting({ wait }: OrderAccount): boolean {
  return wait?.endedAtMs === null
}

function lockOf(account: OrderAccount): number {
  const { acceptedAtMs, attribution, attributedAtMs, wait } = account
  if (acceptedAtMs === null || attribution === null || isWaiting(account)) {
    return Number.POSITIVE_INFINITY
  }
  return Math.max(
    locksAt(acceptedAtMs, attribution.owner.model),
    attributedAtMs ?? acceptedAtMs,
    wait?.endedAtMs ?? acceptedAtMs,
  )
}

/**
 * The reports that an order's figures follow from: all that was told, but that what was locked,
 * and may be paid, is not undone by a report of which nobody can say yet what it is worth.
 */
export function believed({ stood, reports }: OrderAccount): Reports {
  return stood ?? reports
}

/** Why what was told of an order last does not count yet. */
export function holdOf({ reports }: OrderAccount): HoldReason | null {
  return holdIn(mostTrusted(reports))
}
