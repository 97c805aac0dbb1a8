/**
 * Creates notifications from events: sales and returns from changes of figures, locks from
 * the orders' dates, payouts from statements.
 *
 * Each source is read from where the last run stopped. A notification has its own key, so creating
 * it twice queues it once.
 */
import { statementId } from '../ledger/statement.ts'
import { type IssuedStatement, issueStatements } from '../ledger/statement-store.ts'
import { MAX_ID } from '../platform/ids.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import {
  type Change,
  type ChangedOrder,
  type LockedOrder,
  listChangedOrders,
  listLockedOrders,
  listReturnsOf,
  moveNoticePosition,
  type NetAmounts,
  type NoticePosition,
  readNoticePosition,
} from './notice-store.ts'
import { hasWebhooks, type Notice, queueNotices } from './webhook-store.ts'

/** Changes or locks: after a week without a worker there may be any number. */
const PER_BATCH = 1_000
/** An order that locks at once (EPP) must be folded before its lock is looked for. */
const FOLD_LAG_MS = 5 * 60_000

/** Queues notifications of everything since the last run; returns how many. */
export async function makeNotices(db: Db, now: Date): Promise<number> {
  const until = new Date(now.getTime() - FOLD_LAG_MS)
  const locks = await readNoticePosition(db, 'locks')
  // Otherwise the clock was ahead. MAX_ID: after every order that locked at the same instant.
  const after = locks.at < until ? locks : { changeId: MAX_ID, at: until }
  let queued = 0
  for (;;) {
    const position = await readNoticePosition(db, 'changes')
    const changes = await listChangedOrders(db, { after: position.changeId, limit: PER_BATCH })
    if (changes.lastId === null) break
    // Checked after the changes, so a webhook that existed before them is notified.
    if (await hasWebhooks(db)) {
      const notices = await noticesOf(db, changes.orders, { after: after.at })
      queued += await queueNotices(db, notices, now)
    }
    await moveNoticePosition(db, 'changes', { changeId: changes.lastId, at: now })
  }
  return queued + (await queueLocks(db, { after, until, now }))
}

/** Queues notifications of locked orders in batches; returns how many. */
async function queueLocks(
  db: Db,
  { after, until, now }: { after: NoticePosition; until: Date; now: Date },
): Promise<number> {
  let queued = 0
  let position = after
  do {
    const orders = (await hasWebhooks(db))
      ? await listLockedOrders(db, { after: position, until, limit: PER_BATCH })
      : []
    queued += await queueNotices(db, orders.flatMap(lockNotices), now)
    const last = orders.length < PER_BATCH ? undefined : orders.at(-1)
    position = { changeId: last?.event_id ?? MAX_ID, at: last?.locks_at ?? until }
    await moveNoticePosition(db, 'locks', position)
  } while (position.at < until)
  return queued
}

/**
 * Notifications from changes of orders. An order that starts to count may have a past: returns from
 * before (while it was held), and a lock before `after`, which is not looked for again (it was in a
 * spool for long). Keys prevent repetition.
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
  // One attribution per click: a cancelled or rejected sale may become valid again.
  const by = isReturn ? order.event_id : order.click_id.toString('hex')
  const head = {
    event: isReturn ? 'order.returned' : 'order.attributed',
    key: `${isReturn ? 'returned' : 'attributed'}:${by}:${order.order_event_id}`,
  } as const
  return toBothSides(order, head, {
    all: { event_id: order.event_id, revenue_usd: formatExact(order.change_revenue) },
    publisher: { earnings_usd: formatExact(order.change_earnings) },
    merchant: { commission_usd: formatExact(order.change_commission) },
  })
}

/** A revision or cancellation has no notification; the lock's contains the final amounts. */
function lockNotices(order: LockedOrder): Notice[] {
  const head = { event: 'order.locked', key: `locked:${order.order_event_id}` } as const
  return toBothSides(order, head, {
    all: {
      locked_at: formatTimestamp(order.locks_at),
      net_revenue_usd: formatExact(order.net_revenue_micros),
    },
    publisher: { net_earnings_usd: formatExact(order.net_earnings_micros) },
    merchant: { net_commission_usd: formatExact(order.net_commission_micros) },
  })
}

/** Each side learns its own money: the publisher its earnings, the merchant its cost. */
function toBothSides(
  order: Omit<ChangedOrder, keyof Change>,
  head: Pick<Notice, 'event' | 'key'>,
  data: { readonly all: object; readonly publisher: object; readonly merchant: object },
): Notice[] {
  const { pub_id: pubId, merch_id: merchId } = order
  const shared = { ...orderPayload(order), ...data.all }
  return [
    { ...head, pubId, merchId: null, payload: { ...shared, ...data.publisher } },
    { ...head, pubId: null, merchId, payload: { ...shared, ...data.merchant } },
  ]
}

function orderPayload(order: Omit<ChangedOrder, keyof Change | keyof NetAmounts>) {
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

/** Queues a notification for each statement with a payout. */
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

/**
 * Issues missing statements together with their notifications, so an interrupted run loses none.
 */
export function issueWithNotices(db: Db, now: Date): Promise<IssuedStatement[]> {
  return issueStatements(db, {
    now,
    onIssued: (tx, issued) => queuePayouts(tx, issued, now),
  })
}
