/**
 * Orders and returns on their way into the log: completed with the facts that later decide about
 * money, appended, durable (I2). What they are worth to whom, the fold decides.
 */
import type { Merchant } from '../catalog/merchant-store.ts'
import { appendMoney, type MoneyWriter } from '../events/append-money.ts'
import { EVENT_TYPE, type LogEvent } from '../events/event.ts'
import { badRequest, type Fault } from '../platform/errors.ts'
import { MAX_ID } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { CLIENT_PATIENCE_MS, Turns } from '../platform/turns.ts'
import type { Rate } from './currency.ts'
import { type ListName, under } from './intake-faults.ts'
import { findKnownOrders } from './known-orders.ts'
import { lateFault } from './late-report.ts'
import { addReturn, EMPTY_ACCOUNT, type OrderAccount } from './order-account.ts'
import { figuresOf } from './order-figures.ts'
import type { HoldReason } from './order-merge.ts'
import { emptyOrder, keyText } from './order-store.ts'
import { findRates, findRatesByIds } from './rate-store.ts'
import {
  type DatedOrder,
  dateOrder,
  type HoldOf,
  isToldAgain,
  type OrderBody,
  orderBody,
  type ReadOrder,
  type ReturnBody,
} from './read-order.ts'
import { findSeenLinks } from './seen-link-store.ts'

export interface IntakeDeps extends MoneyWriter {
  readonly db: Db
}

/** So many share their commits; more would only lengthen the queue for the pool's connections. */
const AT_ONCE = 64

/**
 * The queue before an intake. A shop's sale brings a thousand orders in one moment: each asks the
 * database several times, and all at once they would lose patience with each other.
 */
export function intakeTurns(): Turns {
  return new Turns(AT_ONCE, { patienceMs: CLIENT_PATIENCE_MS })
}

/** The merchant's settings that are written into its orders. */
export type IntakeMerchant = Pick<Merchant, 'merch_id' | 'window_days' | 'post_impression_rate_ppm'>

export interface AcceptedOrder {
  readonly order_id: string
  readonly held: HoldReason | null
  readonly ignored: string | null // why it changes nothing; null: it counts
}

/** What became of each entry of a batch, in its order; a fault names a field of the entry. */
export type Judged<T> = { readonly accepted: T } | { readonly fault: Fault }

/**
 * Accepts orders that were read without a fault; resolves when they are durable.
 *
 * `holdOf` says which ones wait for a person. Throws a 400 that names an amount too large for
 * money; nothing is accepted then. A change that comes too late is told, and keeps no other order
 * of a batch from counting: shops send all that changed, whatever its age.
 */
export async function acceptOrders(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  told: {
    readonly orders: readonly ReadOrder[]
    readonly listName: ListName // of the request, for faults
    readonly holdOf?: HoldOf
  },
): Promise<AcceptedOrder[]> {
  const judged = allGood(await judgeOrders(deps, merchant, told.orders, told.holdOf), told.listName)
  const bodies = judged.map(({ body }) => body)
  await append(deps, merchant, { type: EVENT_TYPE.order, bodies })
  return judged.map(({ body: { order_id, report }, late }) => {
    return { order_id, held: report.hold, ignored: late && `${late.field}: ${late.rule}` }
  })
}

/** The same, but a wrong or late order does not keep the others from being accepted. */
export async function acceptGoodOrders(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  orders: readonly ReadOrder[],
): Promise<Judged<OrderBody>[]> {
  const judged = (await judgeOrders(deps, merchant, orders)).map((one): Judged<OrderBody> => {
    if ('fault' in one) return one
    const { body, late } = one.accepted
    return late === null ? { accepted: body } : { fault: late }
  })
  await append(deps, merchant, { type: EVENT_TYPE.order, bodies: acceptedOf(judged) })
  return judged
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
  const bodies = allGood(await judgeReturns(deps, merchant, returns), 'returns')
  await append(deps, merchant, { type: EVENT_TYPE.orderReturn, bodies })
}

/** The same, but a wrong return does not keep the others from being accepted. */
export async function acceptGoodReturns(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  returns: readonly ReturnBody[],
): Promise<Judged<ReturnBody>[]> {
  const judged = await judgeReturns(deps, merchant, returns)
  await append(deps, merchant, { type: EVENT_TYPE.orderReturn, bodies: acceptedOf(judged) })
  return judged
}

function acceptedOf<T>(outcomes: readonly Judged<T>[]): T[] {
  return outcomes.flatMap((outcome) => ('accepted' in outcome ? [outcome.accepted] : []))
}

/** A batch of which nothing is refused; throws a 400 that names all that is. */
function allGood<T>(outcomes: readonly Judged<T>[], listName: ListName): T[] {
  const faults = outcomes.flatMap((outcome, index) =>
    'fault' in outcome ? under(`${listName}[${index}]`, [outcome.fault]) : [],
  )
  if (faults.length > 0) throw badRequest(faults)
  return acceptedOf(outcomes)
}

async function judgeOrders(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  orders: readonly ReadOrder[],
  holdOf: HoldOf = () => null,
): Promise<Judged<{ readonly body: OrderBody; readonly late: Fault | null }>[]> {
  const nowMs = deps.now()
  const knownOf = await findAccounts(deps.db, merchant, orders)
  const dated = orders.map((order) => dateOrder(order, knownOf(order), nowMs))
  const rateOf = await findOrderRates(deps.db, dated)
  const seenBy = await findSeenLinks(deps.db, merchant, dated)
  return dated.map((order) => {
    const postImpression = seenBy(order)
    const windowDays = merchant.window_days
    const holdNow = isToldAgain(order, knownOf(order)) ? () => null : holdOf
    const found = { rate: rateOf(order), windowDays, postImpression, holdOf: holdNow }
    const body = orderBody(order, found)
    if ('rule' in body) return { fault: body }
    // A reader's browser can do nothing about it, and its order has been told by then.
    const late = isProven(order) ? lateFault(knownOf(order), body.report, nowMs) : null
    return { accepted: { body, late } }
  })
}

async function findAccounts(
  db: Db,
  { merch_id: merchId }: IntakeMerchant,
  orders: readonly ReadOrder[],
): Promise<(order: ReadOrder) => OrderAccount> {
  const orderIds = [...new Set(orders.map(({ orderId }) => orderId))]
  const known = await findKnownOrders(db, { merchId, orderIds })
  return ({ orderId }) => known.get(keyText({ merchId, orderId }))?.account ?? EMPTY_ACCOUNT
}

/** Told by the merchant itself, not by a browser. */
function isProven({ source }: ReadOrder): boolean {
  return source !== 'pixel'
}

/** The rate that an order was converted by before, else that of its day. */
async function findOrderRates(
  db: Db,
  orders: readonly DatedOrder[],
): Promise<(order: DatedOrder) => Rate | null> {
  const rateOf = await findRates(db, orders)
  const kept = await findRatesByIds(
    db,
    orders.flatMap(({ keptRateId }) => keptRateId ?? []),
  )
  return (order) => kept.get(order.keptRateId ?? '') ?? rateOf(order)
}

const REFUSALS = {
  unknown_line: 'the order has no such product or line',
  over_quantity: 'is more than was bought and has not come back yet',
} as const

/** What a return says came back. */
const GOODS = ['line', 'product_id', 'quantity'] as const
/** Shops give one number to all that comes back in a parcel: the rest of it must not be lost. */
const OTHER_GOODS = 'stands for other goods of this order already: each product needs its own'

/** Judges returns against what is known of their orders, those before them in the batch too. */
async function judgeReturns(
  deps: IntakeDeps,
  { merch_id: merchId }: IntakeMerchant,
  returns: readonly ReturnBody[],
): Promise<Judged<ReturnBody>[]> {
  const orderIds = [...new Set(returns.map(({ order_id }) => order_id))]
  const known = await findKnownOrders(deps.db, { merchId, orderIds })
  return returns.map((body) => {
    const { order_id: orderId, ...goods } = body
    const key = { merchId, orderId }
    const record = known.get(keyText(key)) ?? emptyOrder(key)
    const before = record.account.returns.find(({ return_id }) => return_id === goods.return_id)
    // The same return again is accepted, and changes nothing.
    if (before !== undefined) {
      const isSame = GOODS.every((name) => before[name] === goods[name])
      return isSame ? { accepted: body } : { fault: { field: 'id', rule: OTHER_GOODS } }
    }
    // It is not in the log yet: later than everything that is.
    const told = { ...goods, event_id: MAX_ID, accepted_at_ms: goods.returned_at_ms }
    const account = addReturn(record.account, told)
    const { refused: refusals } = figuresOf(account)
    const refused = refusals.find(({ return_id }) => return_id === goods.return_id)
    if (refused !== undefined) {
      const field = refused.reason === 'unknown_line' ? 'product_id' : 'quantity'
      return { fault: { field, rule: REFUSALS[refused.reason] } }
    }
    known.set(keyText(key), { ...record, account })
    return { accepted: body }
  })
}

async function append(
  deps: IntakeDeps,
  { merch_id: merchId }: IntakeMerchant,
  { type, bodies }: { readonly type: LogEvent['type']; readonly bodies: readonly object[] },
): Promise<void> {
  const news = bodies.map((body) => ({ merchId, body }))
  await appendMoney(deps, type, news)
}
