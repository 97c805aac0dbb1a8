/**
 * Orders and returns on their way into the log: completed with the facts that later decide about
 * money, appended, durable (I2). What they are worth to whom, the fold decides.
 */
import { EVENT_TYPE, type LogEvent, MONEY_LANE, newEvent } from '../events/event.ts'
import { badRequest, type Fault } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { findKnownOrders } from './known-orders.ts'
import { addReturn, figuresOf } from './order-account.ts'
import type { HoldReason } from './order-merge.ts'
import { emptyOrder, keyText, type OrderRecord } from './order-store.ts'
import { findRates } from './rate-store.ts'
import { type OrderBody, orderBody, type ReadOrder, type ReturnBody } from './read-order.ts'

/** Whoever reports an order can wait for the log longer than a reader who clicked. */
const PATIENCE_MS = 5_000

export interface IntakeDeps {
  readonly db: Db
  readonly append: (events: readonly LogEvent[], options: { patienceMs: number }) => Promise<void>
  readonly nextId: () => string
  readonly now: () => number
}

/** The merchant's settings that are written into its orders. */
export interface IntakeMerchant {
  readonly merch_id: number
  readonly window_days: number
}

export interface AcceptedOrder {
  readonly order_id: string
  readonly held: HoldReason | null
}

/**
 * Accepts orders that were read without a fault; resolves when they are durable.
 *
 * `holdOf` says which ones wait for a person. Throws a 400 that names an amount too large for
 * money; nothing is accepted then.
 */
export async function acceptOrders(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  orders: readonly ReadOrder[],
  holdOf: (valueMicros: number) => HoldReason | null = () => null,
): Promise<AcceptedOrder[]> {
  const rateOf = await findRates(deps.db, orders)
  const bodies = orders.map((order) =>
    orderBody(order, { rate: rateOf(order), windowDays: merchant.window_days, holdOf }),
  )
  const faults = bodies.filter((body): body is Fault => 'rule' in body)
  if (faults.length > 0) throw badRequest(faults)
  const good = bodies as OrderBody[]
  await append(deps, { merchId: merchant.merch_id, type: EVENT_TYPE.order, bodies: good })
  return good.map(({ order_id, report }) => ({ order_id, held: report.hold }))
}

/**
 * Accepts returns; resolves when they are durable. Throws a 400 that names every return of more
 * than was bought, as far as the order is known by now; one that comes before its order waits.
 */
export async function acceptReturns(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  returns: readonly ReturnBody[],
): Promise<void> {
  const merchId = merchant.merch_id
  const known = await findKnownOrders(deps.db, {
    merchId,
    orderIds: [...new Set(returns.map(({ order_id }) => order_id))],
  })
  const faults = refusedReturns(merchId, known, returns)
  if (faults.length > 0) throw badRequest(faults)
  await append(deps, { merchId, type: EVENT_TYPE.orderReturn, bodies: returns })
}

const REFUSALS = {
  unknown_line: 'the order has no such product or line',
  over_quantity: 'is more than was bought and has not come back yet',
} as const

function refusedReturns(
  merchId: number,
  known: ReadonlyMap<string, OrderRecord>,
  returns: readonly ReturnBody[],
): Fault[] {
  const accounts = new Map<string, OrderRecord>()
  const faults: Fault[] = []
  returns.forEach(({ order_id: orderId, ...goods }, index) => {
    const key = { merchId, orderId }
    const record = accounts.get(orderId) ?? known.get(keyText(key)) ?? emptyOrder(key)
    // Later than everything that is known: the highest event id there can be.
    const told = { ...goods, event_id: LAST_EVENT_ID, accepted_at_ms: goods.returned_at_ms }
    const account = addReturn(record.account, told)
    accounts.set(orderId, { ...record, account })
    if (account === record.account) return // The same return again: accepted, and changes nothing.
    const refused = figuresOf(account).refused.find(
      ({ return_id }) => return_id === goods.return_id,
    )
    if (refused === undefined) return
    const field = refused.reason === 'unknown_line' ? 'product_id' : 'quantity'
    faults.push({ field: `returns[${index}].${field}`, rule: REFUSALS[refused.reason] })
  })
  return faults
}

const LAST_EVENT_ID = '9223372036854775807'

async function append(
  { append, nextId, now }: IntakeDeps,
  told: {
    readonly merchId: number
    readonly type: LogEvent['type']
    readonly bodies: readonly object[]
  },
): Promise<void> {
  const { merchId, type, bodies } = told
  const atMs = now()
  const events = bodies.map((body) =>
    newEvent({ id: nextId(), atMs, lane: MONEY_LANE, type, merchId, body: JSON.stringify(body) }),
  )
  await append(events, { patienceMs: PATIENCE_MS })
}
