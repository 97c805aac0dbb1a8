/**
 * Turns what happened into notices: sales and returns from the changes of figures, locks from the
 * orders' own dates, payouts from statements.
 *
 * Each source is read from where the last run stopped, and a notice has a key of its own, so that
 * one that is made twice is queued once.
 */
import { statementId } from '../ledger/statement.ts'
import { type IssuedStatement, issueStatements } from '../ledger/statement-store.ts'
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
  readNoticePosition,
  type Standing,
} from './notice-store.ts'
import { hasWebhooks, type Notice, queueNotices } from './webhook-store.ts'

const CHANGES_PER_ROUND = 1_000
/** An order that locks at once (EPP) must be folded before its lock is looked for. */
const FOLD_LAG_MS = 5 * 60_000

/** Queues notices of everything since the last run; how many were queued. */
export async function makeNotices(db: Db, now: Date): Promise<number> {
  const until = new Date(now.getTime() - FOLD_LAG_MS)
  const { at } = await readNoticePosition(db, 'locks')
  const after = at < until ? at : until // The clock was ahead.
  let queued = 0
  for (;;) {
    const position = await readNoticePosition(db, 'changes')
    const changes = await listChangedOrders(db, {
      after: position.changeId,
      limit: CHANGES_PER_ROUND,
    })
    if (changes.lastId === null) break
    // Asked after the changes: one that was there before them is told.
    if (await hasWebhooks(db)) {
      queued += await queueNotices(db, await noticesOf(db, changes.orders, { after }), now)
    }
    await moveNoticePosition(db, 'changes', { changeId: changes.lastId, at: now })
  }
  if (await hasWebhooks(db)) {
    const orders = await listLockedOrders(db, { after, until })
    queued += await queueNotices(db, orders.flatMap(lockNotices), now)
  }
  await moveNoticePosition(db, 'locks', { changeId: '0', at: until })
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
  const told = {
    event: isReturn ? 'order.returned' : 'order.attributed',
    key: `${isReturn ? 'returned' : 'attributed'}:${order.event_id}:${order.order_event_id}`,
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
