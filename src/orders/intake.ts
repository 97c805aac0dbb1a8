/**
 * The intake of orders and returns: adds the facts that later decide about money, and appends them
 * durably (I2). The fold decides what they are worth.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Merchant } from '../catalog/merchant-store.ts'
import { appendMoney, type MoneyWriter } from '../events/append-money.ts'
import { EVENT_TYPE, type LogEvent } from '../events/event.ts'
import {
  CLIENT_TIMEOUT_MS,
  ConcurrencyLimiter,
} from '../platform/concurrency/concurrency-limiter.ts'
import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { MAX_ID } from '../platform/ids.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import type { Rate } from './currency.ts'
import { type ListName, under } from './intake-faults.ts'
import type { Warning, WarningKind } from './intake-warnings.ts'
import { areLogged, findKnownOrders, lockOrders } from './known-orders.ts'
import { lateFault } from './late-report.ts'
import { addReturn, EMPTY_ACCOUNT, type OrderAccount } from './order-account.ts'
import { orderFigures } from './order-figures.ts'
import type { HoldReason } from './order-merge.ts'
import { emptyOrder, keyText, type OrderRecord } from './order-store.ts'
import { findRates, findRatesByIds } from './rate-store.ts'
import {
  type DatedOrder,
  dateOrder,
  type HoldOf,
  isRepeated,
  type OrderBody,
  orderBody,
  type ReadOrder,
  type ReturnBody,
} from './read-order.ts'
import type { ReturnRefusal } from './returns.ts'
import { findSeenLinks } from './seen-link-store.ts'
import type { Signal } from './signal-store.ts'
import { countWarnings } from './warning-store.ts'

export interface IntakeDeps extends MoneyWriter {
  readonly db: Db
  readonly onWarned?: (merchId: number, kind: WarningKind) => void
  /** Called for each accepted report of a merchant's tag or server. */
  readonly onReport?: (merchId: number, kind: Signal) => void
}

/** The same for a caller that waits until its events count. */
export interface FoldedIntake extends IntakeDeps {
  /** Resolves when everything appended so far is folded. */
  folded(): Promise<void>
}

/** Counts warnings for their merchant, in its record and in this process's metrics. */
export async function noteWarnings(
  { db, now, onWarned }: IntakeDeps,
  merchId: number,
  warnings: readonly Warning[],
): Promise<void> {
  await countWarnings(db, { merchId, atMs: now(), warnings })
  for (const { kind } of warnings) onWarned?.(merchId, kind)
}

/** Concurrent calls that share commits. More would only lengthen the queue for connections. */
const AT_ONCE = 64

/** Each holds a connection while it waits for earlier calls about the same order. */
const RETURNS_AT_ONCE = 3

/** The queue in front of returns. */
export function returnLimiter(): ConcurrencyLimiter {
  return new ConcurrencyLimiter(RETURNS_AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
}

/**
 * The queue in front of the intake. A shop's sale brings a thousand orders at once. Each queries
 * the database several times, and without a limit all would time out together.
 */
export function intakeLimiter(): ConcurrencyLimiter {
  return new ConcurrencyLimiter(AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
}

/** The merchant settings that are written into its orders. */
export type IntakeMerchant = Pick<Merchant, 'merch_id' | 'window_days' | 'post_impression_rate_ppm'>

export interface AcceptedOrder {
  readonly order_id: string
  readonly held: HoldReason | null
  readonly ignored: string | null // the reason if the report changes nothing; null if it counts
}

/** The result for each entry of a batch, in order. A fault names a field of the entry. */
export type Judged<T> = { readonly accepted: T } | { readonly fault: Fault }

/**
 * Accepts valid orders. Resolves when they are durable.
 *
 * `holdOf` decides which ones wait for a person. Throws a 400 for an amount that is too large, and
 * accepts nothing then. A change that comes too late is reported, but the rest of the batch counts:
 * shops send all changes, whatever their age.
 */
export async function acceptOrders(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  batch: {
    readonly orders: readonly ReadOrder[]
    readonly listName: ListName // the name of the list in the request, for faults
    readonly holdOf?: HoldOf
  },
): Promise<AcceptedOrder[]> {
  const judged = allGood(
    await judgeOrders(deps, merchant, batch.orders, batch.holdOf),
    batch.listName,
  )
  const bodies = judged.map(({ body }) => body)
  await append(deps, merchant, { type: EVENT_TYPE.order, bodies })
  return judged.map(({ body: { order_id, report }, late }) => {
    return { order_id, held: report.hold, ignored: late && `${late.field}: ${late.rule}` }
  })
}

/** Judges orders without accepting any: an invalid or late one does not prevent the others. */
export async function judgeGoodOrders(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  orders: readonly ReadOrder[],
): Promise<Judged<OrderBody>[]> {
  return (await judgeOrders(deps, merchant, orders)).map((one) => {
    if ('fault' in one) return one
    const { body, late } = one.accepted
    return late === null ? { accepted: body } : { fault: late }
  })
}

/**
 * Accepts returns. Resolves when they are durable. Throws a 400 that names every return of more
 * than was bought, as far as the order is known. A return before its order waits.
 */
export async function acceptReturns(
  deps: IntakeDeps,
  merchant: IntakeMerchant,
  returns: readonly ReturnBody[],
): Promise<void> {
  const merchId = merchant.merch_id
  const keys = returns.map(({ order_id: orderId }) => keyText({ merchId, orderId }))
  // Calls about one order run one at a time across processes, so that each gets a correct answer.
  await deps.db.transaction(async (tx) => {
    await lockOrders(tx, keys)
    const judged = await judgeReturns({ ...deps, db: tx }, merchant, returns)
    const bodies = allGood(judged, 'returns')
    const events = await append(deps, merchant, { type: EVENT_TYPE.orderReturn, bodies })
    await untilLogged(tx, events)
  })
}

/** How long a log outside PostgreSQL may take to bring an event into its table. */
const CARRIED_MS_MAX = 2_000
const CARRIED_POLL_MS = 20

/**
 * Waits until the next call will see these events. If the log is away they come later, and the fold
 * then refuses what is too much (docs/spec/orders-and-money.md#returns).
 */
async function untilLogged(tx: Db, events: readonly LogEvent[]): Promise<void> {
  const deadlineMs = performance.now() + CARRIED_MS_MAX
  while (!(await areLogged(tx, events)) && performance.now() < deadlineMs) {
    await sleep(CARRIED_POLL_MS)
  }
}

function acceptedOf<T>(outcomes: readonly Judged<T>[]): T[] {
  return outcomes.flatMap((outcome) => ('accepted' in outcome ? [outcome.accepted] : []))
}

/** A batch without refusals. Throws a 400 that names all faults otherwise. */
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
    const holdNow = isRepeated(order, knownOf(order)) ? () => null : holdOf
    const found = { rate: rateOf(order), windowDays, postImpression, holdOf: holdNow }
    const body = orderBody(order, found)
    if ('rule' in body) return { fault: body }
    // A reader's browser cannot correct it, and its order has been reported before.
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

/** Reported by the merchant itself, not by a browser. */
function isProven({ source }: ReadOrder): boolean {
  return source !== 'pixel'
}

/** The rate by which an order was converted before, else that of its day. */
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

const REFUSALS: Readonly<Record<ReturnRefusal, string>> = {
  unknown_line: 'the order has no such product or line',
  over_quantity: 'is more than was bought and not yet returned',
  over_amount: 'is more than is left of the value after the returns and refunds before it',
  other_currency: 'must be an amount in the order’s currency, with no more decimals than it has',
}

/** The field that a refused return is about. */
function refusedField(reason: ReturnRefusal, { amount }: Pick<ReturnBody, 'amount'>): string {
  if (reason === 'unknown_line') return 'product_id'
  return amount === undefined ? 'quantity' : 'amount'
}

/** The fields that name returned goods. */
const GOODS = ['line', 'product_id', 'quantity'] as const
/** Some shops use one return id for a whole parcel. Its other goods must not be lost silently. */
const OTHER_GOODS = 'stands for other goods of this order already: each product needs its own'

function isSameReturn(one: Omit<ReturnBody, 'order_id'>, other: Omit<ReturnBody, 'order_id'>) {
  const isSameAmount = Number(one.amount ?? 0) === Number(other.amount ?? 0)
  return isSameAmount && GOODS.every((name) => one[name] === other[name])
}

/** Judges returns against what is known of their orders, including earlier returns of the batch. */
export async function judgeReturns(
  deps: IntakeDeps,
  { merch_id: merchId }: IntakeMerchant,
  returns: readonly ReturnBody[],
): Promise<Judged<ReturnBody>[]> {
  const orderIds = [...new Set(returns.map(({ order_id }) => order_id))]
  const known = await findKnownOrders(deps.db, { merchId, orderIds })
  return returns.map((sent) => {
    const body = inOrderCurrency(sent, known.get(keyText({ merchId, orderId: sent.order_id })))
    const { order_id: orderId, ...goods } = body
    const key = { merchId, orderId }
    const record = known.get(keyText(key)) ?? emptyOrder(key)
    const before = record.account.returns.find(({ return_id }) => return_id === goods.return_id)
    // A repeated return is accepted and changes nothing.
    if (before !== undefined) {
      return isSameReturn(before, goods)
        ? { accepted: body }
        : { fault: { field: 'id', rule: OTHER_GOODS } }
    }
    // It is not in the log yet, so it is later than everything there.
    const late = { ...goods, event_id: MAX_ID, accepted_at_ms: goods.returned_at_ms }
    const account = addReturn(record.account, late)
    const { refused: refusals } = orderFigures(account)
    const refused = refusals.find(({ return_id }) => return_id === goods.return_id)
    if (refused !== undefined) {
      const { reason } = refused
      return { fault: { field: refusedField(reason, goods), rule: REFUSALS[reason] } }
    }
    known.set(keyText(key), { ...record, account })
    return { accepted: body }
  })
}

/** An amount without a currency is in the currency of its order, as far as that is known. */
function inOrderCurrency(body: ReturnBody, record: OrderRecord | undefined): ReturnBody {
  if (body.amount === undefined || body.currency !== undefined) return body
  const order = record === undefined ? null : orderFigures(record.account).order
  return order === null ? body : { ...body, currency: order.currency }
}

async function append(
  deps: IntakeDeps,
  { merch_id: merchId }: IntakeMerchant,
  { type, bodies }: { readonly type: LogEvent['type']; readonly bodies: readonly object[] },
): Promise<LogEvent[]> {
  const news = bodies.map((body) => ({ merchId, body }))
  return appendMoney(deps, type, news)
}
