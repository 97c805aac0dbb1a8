/**
 * Everything known of one order.
 *
 * The account stores only what was reported: reports, returns, decisions, and the frozen
 * attribution. Money is recomputed whenever something is added (order-figures.ts). The difference
 * to the previous figures is the effect of the event.
 */
import type { PayTerms } from '../events/pay-terms.ts'
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

/** The click that an order is owed to, with the terms sealed in its auction. */
export interface Owner {
  readonly clickId: string // hex
  readonly clickAtMs: number
  readonly pubId: number
  readonly articleId: number
  readonly campaignId: number | null
  readonly terms: PayTerms
  readonly sharePpm: number
}

export interface OrderAttribution {
  readonly model: AttributionModel
  readonly owner: Owner
}

/** Returned goods, or a refunded amount, as reported. */
export interface ReportedReturn {
  readonly return_id: string
  readonly event_id: string
  readonly accepted_at_ms: number
  readonly line: number | null
  readonly product_id: string | null
  readonly quantity: number // 0 if the return names an amount
  readonly amount?: string // decimal text, of a line or of the whole order
  readonly currency?: string // of the amount; absent means the order's, which was not known yet
  readonly returned_at_ms: number
}

export interface OrderAccount {
  readonly acceptedAtMs: number | null // of the first report; null while only returns are known
  readonly reports: Reports
  readonly returns: readonly ReportedReturn[]
  readonly attribution: OrderAttribution | null
  readonly evidence: readonly TouchEvidence[] // of the attribution, or why there is none
  readonly rejection: { readonly reason: string; readonly atMs: number } | null
  readonly isClickReversed: boolean // the order's click was found invalid later
  readonly attributedAtMs?: number // when the click was found; absent means at acceptance
  readonly wait?: Wait // absent if it was never held, or was locked before
  /** The reports that count while a report waits that arrived after the lock: see `believed`. */
  readonly inForce?: Reports
}

/** A hold that began while the order was open. Nothing locks until it ends. */
interface Wait {
  readonly endedAtMs: number | null // null while undecided
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
 * Adds a report. The first attribution stays, unless a more certain one replaces it while the order
 * is pending. A pending order that is now cancelled is rejected, until a more trusted report says
 * otherwise.
 */
export function addReport(
  account: OrderAccount,
  input: {
    readonly report: OrderReport
    readonly attribution: OrderAttribution | null
    readonly evidence?: readonly TouchEvidence[]
    readonly atMs: number
  },
): { readonly account: OrderAccount; readonly ignored: IgnoredBecause | null } {
  const { report, atMs } = input
  const open = withdrawCancellation(account, atMs)
  if (open.rejection !== null) return { account, ignored: 'rejected' }
  const acceptedAtMs = account.acceptedAtMs ?? atMs
  const isOver = atMs >= acceptedAtMs + AMOUNTS_OPEN_MS && !isWaiting(account)
  if (isOver) return { account, ignored: 'amounts_closed' }
  const reports = withReport(account.reports, report)
  const attribution = keepOrReplace({ ...open, acceptedAtMs }, input.attribution, atMs)
  const isFrozen = attribution !== null && attribution === account.attribution
  const isSilent = (input.evidence ?? []).length === 0 // This report names no click.
  const evidence = isFrozen || isSilent ? withLate(account, input) : (input.evidence ?? [])
  const isFoundLater = account.acceptedAtMs !== null && attribution !== null && !isFrozen
  const since = isFoundLater ? { attributedAtMs: atMs } : {}
  const reported = { ...open, acceptedAtMs, reports, attribution, evidence, ...since }
  const next = holdOf(reported) === null ? reported : hold(reported, open, atMs)
  // Open until now. An order cancelled from the start never was open, though it would lock at once.
  const reason = endIn(mostTrusted(reports))
  const isRejected = reason !== null && isOpen(datesOf(open), atMs)
  const rejection = isRejected ? { reason, atMs: account.rejection?.atMs ?? atMs } : null
  return { account: endWait({ ...next, rejection }, atMs), ignored: null }
}

/** The same evidence, completed with clicks that arrived since. */
function withLate(
  { evidence }: OrderAccount,
  input: { readonly evidence?: readonly TouchEvidence[] },
): readonly TouchEvidence[] {
  const verdicts = new Map(input.evidence?.map((touch) => [touch.id, touch]))
  return evidence.map((touch) => {
    const late = touch.verdict === 'unknown_click' ? verdicts.get(touch.id) : undefined
    return late === undefined || late.verdict === 'won' ? touch : late
  })
}

/**
 * The account as if not cancelled, if only reports cancelled it and it would still be open. Which
 * report counts must not depend on the order of arrival (P41).
 */
function withdrawCancellation(account: OrderAccount, atMs: number): OrderAccount {
  if (account.rejection === null || account.acceptedAtMs === null) return account
  const open = { ...account, rejection: null }
  const isReported = account.rejection.reason === endIn(mostTrusted(account.reports))
  return isReported && isOpen(datesOf(open), atMs) ? open : account
}

/** A held report keeps an open order open. A locked order stands as before. */
function hold(reported: OrderAccount, before: OrderAccount, atMs: number): OrderAccount {
  return isOpen(datesOf(before), atMs)
    ? { ...reported, wait: { endedAtMs: null } }
    : { ...reported, inForce: believed(before) }
}

/** A hold ends when a person has decided, or when a report leaves nothing to decide. */
function endWait(account: OrderAccount, atMs: number): OrderAccount {
  if (holdOf(account) !== null) return account
  const { inForce: _, ...rest } = account
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

/** A click that the merchant names beats a guess, and any click beats a view. */
function isSurer(one: AttributionModel, other: AttributionModel): boolean {
  return other !== one && (one === 'exact' || other === 'impression')
}

/**
 * Adds a return; the same return id again changes nothing. It may come before its order. Returns
 * count in the order of acceptance, however they reached the log.
 */
export function addReturn(account: OrderAccount, added: ReportedReturn): OrderAccount {
  if (account.returns.some((known) => known.return_id === added.return_id)) return account
  const returns = [...account.returns, added].sort((a, b) =>
    Number(BigInt(a.event_id) - BigInt(b.event_id)),
  )
  return { ...account, returns }
}

export type Decision =
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject'; readonly reason: string }

/** The body of an orderDecision event. */
export type DecisionBody = Decision & { readonly order_id: string }

/** A person's decision. Rejecting a locked or unknown order changes nothing. */
export function addDecision(account: OrderAccount, decision: Decision, atMs: number): OrderAccount {
  if (account.acceptedAtMs === null) return account
  if (decision.kind === 'approve') return endWait(passed(account), atMs)
  if (!isOpen(datesOf(account), atMs)) return account
  return { ...account, rejection: { reason: decision.reason, atMs } }
}

/** Approves the current reports. Later reports were not part of the decision. */
function passed(account: OrderAccount): OrderAccount {
  const reports = Object.values(account.reports).map((report) =>
    report.hold === 'review' ? { ...report, hold: null } : report,
  )
  return {
    ...account,
    reports: Object.fromEntries(reports.map((report) => [report.source, report])),
  }
}

/**
 * The click was found invalid: rejects the order while that is possible. A locked order stays paid,
 * and an order cancelled by reports stays ended, whatever later reports say.
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
 * The dates from which an order's state follows. An order without a click is never locked, and a
 * held one not before the decision. No lock lies before the order counted, because a payment's
 * released amount must not change later.
 */
export function datesOf(account: OrderAccount): Omit<OrderDates, 'paidAtMs'> {
  return { locksAtMs: lockOf(account), rejectedAtMs: account.rejection?.atMs ?? null }
}

/** When an order's amounts freeze; for a held order, when the hold ends. */
export function amountsCloseAt({ acceptedAtMs, wait }: OrderAccount): number {
  return Math.max((acceptedAtMs ?? 0) + AMOUNTS_OPEN_MS, wait?.endedAtMs ?? 0)
}

/** Whether it is held, and was open when the hold began. It stays open for the whole hold. */
function isWaiting({ wait }: OrderAccount): boolean {
  return wait?.endedAtMs === null
}

function lockOf(account: OrderAccount): number {
  const { acceptedAtMs, attribution, attributedAtMs, wait } = account
  if (acceptedAtMs === null || attribution === null || isWaiting(account)) {
    return Number.POSITIVE_INFINITY
  }
  return Math.max(
    locksAt(acceptedAtMs, attribution.owner.terms.model),
    attributedAtMs ?? acceptedAtMs,
    wait?.endedAtMs ?? acceptedAtMs,
  )
}

/**
 * The reports that count for the figures: all of them, except that a held report cannot undo a
 * locked order, which may be paid already.
 */
export function believed({ inForce, reports }: OrderAccount): Reports {
  return inForce ?? reports
}

/** Why the latest report does not count yet. */
export function holdOf({ reports }: OrderAccount): HoldReason | null {
  return holdIn(mostTrusted(reports))
}
