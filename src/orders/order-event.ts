/**
 * Applies an event of the log to an order. The fold and immediate answers to merchants use the same
 * function.
 */
import { EVENT_TYPE } from '../events/event.ts'
import type { TouchEvidence } from './attribute.ts'
import {
  addDecision,
  addReport,
  addReturn,
  type DecisionBody,
  type OrderAccount,
  type OrderAttribution,
} from './order-account.ts'
import type { OrderBody, ReturnBody } from './read-order.ts'

export type OrderEvent = { readonly id: string; readonly atMs: number } & (
  | { readonly type: typeof EVENT_TYPE.order; readonly body: OrderBody }
  | { readonly type: typeof EVENT_TYPE.orderReturn; readonly body: ReturnBody }
  | { readonly type: typeof EVENT_TYPE.orderDecision; readonly body: DecisionBody }
)

/** The attribution of a reported order, with its evidence. */
export interface Found {
  readonly attribution: OrderAttribution | null
  readonly evidence?: readonly TouchEvidence[]
}

/** The account after the event. */
export function applyEvent(
  account: OrderAccount,
  { id, atMs, ...event }: OrderEvent,
  found: Found = { attribution: null },
): OrderAccount {
  switch (event.type) {
    case EVENT_TYPE.order: {
      const report = { ...event.body.report, event_id: id }
      return addReport(account, { report, ...found, atMs }).account
    }
    case EVENT_TYPE.orderReturn: {
      const { order_id: _, ...goods } = event.body
      return addReturn(account, { ...goods, event_id: id, accepted_at_ms: atMs })
    }
    case EVENT_TYPE.orderDecision:
      return addDecision(account, event.body, atMs)
    default:
      throw new Error(`event ${id} is not about an order`)
  }
}
