/** A person's decision on an order that is held, or on one that is not locked yet. */
import { appendMoney } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import type { FoldedIntake } from '../orders/intake.ts'
import { decisionRefusal } from '../orders/order-states.ts'
import { notFound, wrongState } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { explainOrder } from './order-record-store.ts'

export type OrderDecision =
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject'; readonly reason: string }

interface WantedOrder {
  readonly merchId: number
  readonly orderId: string // The merchant's own.
  readonly now: Date
}

/**
 * Appends the decision and waits until it counts. Returns the order as it is then. Throws a 404 for
 * an unknown order, a 409 where the decision would change nothing.
 */
export async function decideOrder(
  deps: FoldedIntake,
  { decision, ...key }: WantedOrder & { readonly decision: OrderDecision },
) {
  const known = await requireOrder(deps.db, key)
  const state = { ...known, isReported: known.accepted_at !== null }
  const refusal = decisionRefusal(state, decision.kind)
  if (refusal !== null) throw wrongState({ field: 'order', rule: refusal })
  const body = { order_id: key.orderId, ...decision }
  await appendMoney(deps, EVENT_TYPE.orderDecision, [{ merchId: key.merchId, body }])
  await deps.folded()
  return requireOrder(deps.db, key)
}

/** The order with its explanation; throws a 404 if nobody has reported it. */
export async function requireOrder(db: Db, key: WantedOrder) {
  const order = await explainOrder(db, key)
  if (order !== null) return order
  throw notFound(`Merchant ${key.merchId} has no order ${key.orderId}`)
}
