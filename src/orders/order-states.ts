/**
 * The states of an order's earnings:
 *
 *   PENDING → LOCKED → PAID          PENDING → REJECTED
 *
 * A held order stays pending until the decision. If that takes longer than the lock, it locks with
 * the decision.
 *
 * While an order is pending, a later report may change its amounts, an exact click may replace a
 * guess, and the merchant may cancel it. Once locked it stands, and a later return becomes a
 * negative line on the next statement. States are never stored; they follow from stored dates.
 * order-life.test.ts lists the effect of each event in each state.
 */
import type { PayTerms } from '../events/pay-terms.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import type { HoldReason } from './order-merge.ts'

export type OrderState = 'PENDING' | 'LOCKED' | 'PAID' | 'REJECTED'

/**
 * How long a merchant may cancel; never for a payment per order (EPP). An order for which nothing
 * is owed (its click was paid, or it has none) stays open as long as any. The tag often reports it
 * first, and it may be owed to the click that the merchant's server names later.
 */
const LOCK_DAYS: Readonly<Record<PayTerms['model'], number>> = {
  none: 90,
  cpc: 90,
  cpa: 90,
  epp: 0,
}

/**
 * How long reports may change an order's revenue, under every model: as long as the longest lock,
 * so that an order from three sources ends the same in any order of arrival (P41). For a held
 * order, until the decision.
 */
export const AMOUNTS_OPEN_MS = 90 * DAY_MS

/** When an order accepted at this time can no longer be rejected, if it was never held. */
export function locksAt(acceptedAtMs: number, model: PayTerms['model']): number {
  return acceptedAtMs + LOCK_DAYS[model] * DAY_MS
}

export interface OrderDates {
  readonly locksAtMs: number
  readonly rejectedAtMs: number | null
  readonly paidAtMs: number | null // when the merchant's money had covered all of it
}

/** The state at a moment. It locks at the very millisecond, and nothing applies before its date. */
export function orderState(dates: OrderDates, nowMs: number): OrderState {
  if (dates.rejectedAtMs !== null && dates.rejectedAtMs <= nowMs) return 'REJECTED'
  if (nowMs < dates.locksAtMs) return 'PENDING'
  return dates.paidAtMs !== null && dates.paidAtMs <= nowMs ? 'PAID' : 'LOCKED'
}

/** Whether an order may still be rejected, or moved to another click. */
export function isOpen(dates: Omit<OrderDates, 'paidAtMs'>, nowMs: number) {
  return dates.rejectedAtMs === null && nowMs < dates.locksAtMs
}

/** Why a person's decision would change nothing; null if it has an effect. */
export function decisionRefusal(
  order: {
    readonly state: OrderState
    readonly hold: HoldReason | null
    readonly isReported: boolean // false if only returns of it are known
  },
  kind: 'approve' | 'reject',
): string | null {
  const { state, hold, isReported } = order
  if (!isReported) return 'is not reported yet, only its returns'
  // Also for a report that was held after the order had locked.
  if (kind === 'approve' && hold === 'review' && state !== 'REJECTED') return null
  if (state !== 'PENDING') return `is ${state}${WHY_DECIDED[state]}`
  if (kind === 'reject') return null
  return hold === null
    ? 'is PENDING and not held: nothing waits for approval'
    : 'is PENDING for want of an exchange rate: import rates, nobody can approve it'
}

const WHY_DECIDED: Readonly<Record<Exclude<OrderState, 'PENDING'>, string>> = {
  LOCKED: ': its earnings stand, only returns change them',
  PAID: ': its earnings stand, only returns change them',
  REJECTED: ' already',
}
