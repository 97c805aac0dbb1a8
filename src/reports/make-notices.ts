/**
 * Turns what happened into notices: sales and returns from the changes of figures, locks from the
 * orders' own dates, payouts from statements.
 *
 * Each source is read from where the last run stopped, and a notice has a key of its own, so that
 * one that is made twice is queued once.
 */
import { statementId } from '../ledger/statement.ts'
import { type IssuedStatement, issueStatements } from '../ledger/statement-store.ts'
import { MAX_ID } from '../platform/ids.ts'
import { formatExact } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/timestamp.ts'
import {
  type Change,
  type ChangedOrder,
  type LockedOrder,
  listChangedOrders,
  listLockedOrders,
  listReturnsOf,
  moveNoticePosition,
  type NoticePosition,
  readNoticePosition,
  type Standing,
} from './notice-store.ts'
import { hasWebhooks, type Notice, queueNotices } from './webhook-store.ts'

/** Changes, or locks: after a week without a worker there may be any number of either. */
const PER_ROUND = 1_000
/** An order that locks at once (EPP) must be folded before its lock is looked for. */
const FOLD_LAG_MS = 5 * 60_000

/** Queues notices of everything since the last run; how many were queued. */
export async function makeNotices(db: Db, now: Date): Promise<number> {
  const until = new Date(now.getTime() - FOLD_LAG_MS)
  const locks = await readNoticePosition(db, 'locks')
  // Else the clock was ahead. MAX_ID: behind every order that locked at the same instant.
  const after = locks.at < until ? locks : { changeId: MAX_ID, at: until }
  let queued = 0
  for (;;) {
    const position = await readNoticePosition(db, 'changes')
    const changes = await listChangedOrders(db, { after: position.changeId, limit: PER_ROUND })
    if (changes.lastId === null) break
    // Asked after the changes: one that was there before them is told.
    if (await hasWebhooks(db)) {
      const notices = await noticesOf(db, changes.orders, { after: after.at })
      queued += await queueNotices(db, notices, now)
    }
    await moveNoticePosition(db, 'changes', { changeId: changes.lastId, at: now })
  }
  return queued + (await queueLocks(db, { after, until, now }))
}

/** Queues notices of the orders that locked, some at a time; how many were queued. */
async function queueLocks(
  db: Db,
  { after, until, now }: { after: NoticePosition; until: Date; now: Date },
): Promise<number> {
  let queued = 0
  let told = after
  do {
    const orders = (await hasWebhooks(db))
      ? await listLockedOrders(db, { after: told, until, limit: PER_ROUND })
      : []
    queued += await queueNotices(db, orders.flatMap(lockNotices), now)
    const last = orders.length < PER_ROUND ? undefined : orders.at(-1)
    told = { changeId: last?.event_id ?? MAX_ID, at: last?.locks_at ?? until }
    await moveNoticePosition(db, 'locks', told)
  } while (told.at < until)
  return queued
}

/**
 * What changes of orders tell. An order that comes to count may have a past: goods that came back
 * before (while it was held, or ahead of it), and a lock before `after`, where nobody looks any
 * more (it was in a spool for long). Keys say what was told already.
 */
async function noticesOf(
  db: Db,
  orders: readonly ChangedOrder[],
  { after }: { readonly after: Date },
): Promise<Notice[]> {
  const fresh = orders.filter(({ cause }) => cause !== 'return')
  const back = await listReturnsOf(
    db,
    fresh.map(({ order_event_id }) => order_event_id),
  )
  const locked = fresh.flatMap(({ locks_at, ...order }) =>
    locks_at !== null && locks_at <= after ? [{ ...order, locks_at }] : [],
  )
  return [...[...orders, ...back].flatMap(orderNotices), ...locked.flatMap(lockNotices)]
}

function orderNotices(order: ChangedOrder): Notice[] {
  const isReturn = order.cause === 'return'
  // One attribution of each click: a sale that was cancelled or rejected may come back.
  const by = isReturn ? order.event_id : order.click_id.toString('hex')
  const told = {
    event: isReturn ? 'order.returned' : 'order.attributed',
    key: `${isReturn ? 'returned' : 'attributed'}:${by}:${order.order_event_id}`,
  } as const
  return toBothSides(order, told, {
    all: { event_id: order.event_id, revenue_usd: formatExact(order.change_revenue) },
    publisher: { earnings_usd: formatExact(order.change_earnings) },
    merchant: { commission_usd: formatExact(order.change_commission) },
  })
}

/** A revision or a cancellation has no notice of its own: what stands at the lock tells of it. */
function lockNotices(order: LockedOrder): Notice[] {
  const told = { event: 'order.locked', key: `locked:${order.order_event_id}` } as const
  return toBothSides(order, told, {
    all: {
      locked_at: formatTimestamp(order.locks_at),
      net_revenue_usd: formatExact(order.net_revenue_micros),
    },
    publisher: { net_earnings_usd: formatExact(order.net_earnings_micros) },
    merchant: { net_commission_usd: formatExact(order.net_commission_micros) },
  })
}

/** Each side hears of its own money: the publisher what it earns, the merchant what it owes. */
function toBothSides(
  order: Omit<ChangedOrder, keyof Change>,
  told: Pick<Notice, 'event' | 'key'>,
  data: { readonly all: object; readonly publisher: object; readonly merchant: object },
): Notice[] {
  const { pub_id: pubId, merch_id: merchId } = order
  const shared = { ...orderPayload(order), ...data.all }
  return [
    { ...told, pubId, merchId: null, payload: { ...shared, ...data.publisher } },
    { ...told, pubId: null, merchId, payload: { ...shared, ...data.merchant } },
  ]
}

function orderPayload(order: Omit<ChangedOrder, keyof Change | keyof Standing>) {
  return {
    order_id: order.order_event_id,
    checkout_id: order.order_id,
    merch_id: order.merch_id,
    pub_id: order.pub_id,
    article_id: order.article_id,
    click_id: order.click_id.toString('hex'),
    locks_at: formatTimestampOrNull(order.locks_at),
  }
}

/** Queues a notice for each statement that pays something out. */
export function queuePayouts(
  db: Db,
  statements: readonly IssuedStatement[],
  now: Date,
): Promise<number> {
  const notices = statements
    .filter(({ payoutMicros }) => payoutMicros > 0)
    .map(({ pubId, month, payoutMicros }): Notice => {
      const id = statementId(pubId, month)
      return {
        event: 'payout.ready',
        key: `payout:${id}`,
        pubId,
        merchId: null,
        payload: { statement_id: id, month, amount_usd: formatExact(payoutMicros) },
      }
    })
  return queueNotices(db, notices, now)
}

/** Issues what is missing, together with its notices: a run that is cut short loses none. */
export function issueWithNotices(db: Db, now: Date): Promise<IssuedStatement[]> {
  return issueStatements(db, {
    now,
    onIssued: (tx, issued) => queuePayouts(tx, issued, now),
  })
}
