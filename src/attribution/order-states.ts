/**
 * The life of an order's earnings (economics 4, States):
 *
 *   PENDING → LOCKED → PAID          PENDING → REJECTED
 *
 * An order that is held stays pending until that is decided, whatever its lock would be; if that
 * takes longer than the lock, it locks with the decision.
 *
 * While it is pending a later report may change its amounts, an exact click may replace a guess,
 * and the merchant may cancel it. Once locked it stands: what comes back after that is a negative
 * line on the next statement. States are never stored: they follow from dates that are. What each
 * thing that is told makes of an order in each state: order-life.test.ts.
 */
import { MODEL, type Model } from '../events/event.ts'
import { DAY_MS } from '../platform/timestamp.ts'
import type { HoldReason } from './order-merge.ts'

export type OrderState = 'PENDING' | 'LOCKED' | 'PAID' | 'REJECTED'

/**
 * How long a merchant may still take its word back; per purchase (EPP) never. Our choice: an order
 * for which nothing is owed, as its click was paid or nobody's, stays open as long as any. The tag
 * often tells it first, and the click that the merchant's server then names may be owed for it.
 */
const LOCK_DAYS: Readonly<Record<Model, number>> = {
  [MODEL.none]: 90,
  [MODEL.cpc]: 90,
  [MODEL.cpa]: 90,
  [MODEL.epp]: 0,
}

/**
 * How long reports may change what an order sold for, whatever the model: as long as the longest
 * lock, so that an order told by three sources ends the same whichever came first (P41). Of one
 * that waits they may until that is decided.
 */
export const AMOUNTS_OPEN_MS = 90 * DAY_MS

/** When an order accepted at this time can no longer be rejected, if it was never held. */
export function locksAt(acceptedAtMs: number, model: Model): number {
  return acceptedAtMs + LOCK_DAYS[model] * DAY_MS
}

export interface OrderDates {
  readonly locksAtMs: number
  readonly rejectedAtMs: number | null
  readonly paidAtMs: number | null // when the merchant's money had covered all of it
}

/** The state at a moment. Locked at the very millisecond; nothing happens before its date. */
export function orderState(dates: OrderDates, nowMs: number): OrderState {
  if (dates.rejectedAtMs !== null && dates.rejectedAtMs <= nowMs) return 'REJECTED'
  if (nowMs < dates.locksAtMs) return 'PENDING'
  return dates.paidAtMs !== null && dates.paidAtMs <= nowMs ? 'PAID' : 'LOCKED'
}

/** Whether an order may still be rejected, or moved to another click. */
export function isOpen(dates: Omit<OrderDates, 'paidAtMs'>, nowMs: number) {
  return dates.rejectedAtMs === null && nowMs < dates.locksAtMs
}

/** Why a person's word on an order would change nothing; null: it does. */
export function decisionRefusal(
  order: {
    readonly state: OrderState
    readonly hold: HoldReason | null
    readonly isTold: boolean // false: only returns of it are known
  },
  kind: 'approve' | 'reject',
): string | null {
  const { state, hold, isTold } = order
  if (!isTold) return 'is not reported yet, only what came back of it'
  // Also where the order stood locked when the report came that is held.
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
