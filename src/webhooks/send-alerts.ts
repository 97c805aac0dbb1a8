/**
 * Sends publishers what needs their attention, by mail and by a Slack-compatible webhook: all new
 * events of one kind in one message, each event at most once a day.
 */
import type { Dispatcher } from 'undici'
import { queueMail } from '../accounts/mail-store.ts'
import { matchMerchantDebts } from '../ledger/debt-store.ts'
import { formatCents } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { DAY_MS, formatTimestamp, utcDay } from '../platform/time/timestamp.ts'
import { ALERT_KINDS, type AlertEvent, alertMail, alertPost } from './alert.ts'
import {
  addPost,
  deletePost,
  findLastTagReport,
  listEarningMerchants,
  listReadyPayouts,
  listStoppedLinks,
  listSubscribers,
  type Subscriber,
  takeAlertEvents,
  takeDuePosts,
  takeUnsent,
} from './alert-store.ts'

/** A merchant that owes something for longer is late. */
const LATE_DAYS = 30
const EARNING_DAYS = 14
const SILENT_MS = DAY_MS
/** A tag that is silent for longer has been taken away. */
const TAG_DAYS = 8
const ANSWER_MS = 10_000
/** With growing pauses: for more than a day. */
const ATTEMPTS_MAX = 8

/** Queues the messages of this moment; returns their number. */
export async function makeAlerts(
  db: Db,
  { now, baseUrl }: { readonly now: Date; readonly baseUrl: string },
): Promise<number> {
  let messages = 0
  for (const subscriber of await listSubscribers(db)) {
    const found = await gather(db, subscriber, now)
    messages += await db.transaction(async (tx) => {
      const events = [...found, ...(await takeAlertEvents(tx, subscriber.pub_id))]
      return queueAlerts(tx, subscriber, { events, now, baseUrl })
    })
  }
  return messages
}

async function queueAlerts(
  tx: Db,
  subscriber: Subscriber,
  batch: { readonly events: readonly AlertEvent[]; readonly now: Date; readonly baseUrl: string },
): Promise<number> {
  const { pub_id: pubId, name: publisherName, webhook_url, emails } = subscriber
  const { now, baseUrl } = batch
  let messages = 0
  for (const kind of ALERT_KINDS.filter((one) => subscriber.kinds.includes(one))) {
    const ofKind = batch.events.filter((event) => event.kind === kind)
    const fresh = await takeUnsent(tx, { pubId, kind, events: ofKind, now })
    if (fresh.length === 0) continue
    const lines = fresh.map(({ line }) => line)
    const message = { kind, publisherName, lines, baseUrl, pubId }
    for (const to of emails) await queueMail(tx, { ...alertMail(message, to), now })
    if (webhook_url !== null) await addPost(tx, { pubId, body: alertPost(message), now })
    messages += 1
  }
  return messages
}

async function gather(db: Db, subscriber: Subscriber, now: Date): Promise<AlertEvent[]> {
  const { pub_id: pubId } = subscriber
  const wants = (kind: AlertEvent['kind']) => subscriber.kinds.includes(kind)
  return [
    ...(wants('link_stopped') ? await stoppedLinks(db, pubId, now) : []),
    ...(wants('merchant_trouble') ? await troubledMerchants(db, pubId, now) : []),
    ...(wants('payout_ready') ? await readyPayouts(db, pubId, now) : []),
    ...(wants('no_tag_traffic') ? await silentTag(db, pubId, now) : []),
  ]
}

const HEALTH_WORDS: Readonly<Record<string, string>> = {
  no_bid: 'no merchant pays for it any more',
  out_of_stock: 'it is out of stock',
  dead: 'its page is gone',
}

async function stoppedLinks(db: Db, pubId: number, now: Date): Promise<AlertEvent[]> {
  const links = await listStoppedLinks(db, { pubId, since: new Date(now.getTime() - DAY_MS) })
  return links.map(({ auction_id: key, health, risk_micros, url, article_name }) => ({
    kind: 'link_stopped',
    key,
    line:
      `${url} in “${article_name}”: ${HEALTH_WORDS[health] ?? health}. ` +
      `It earned $${formatCents(risk_micros)} a day.`,
  }))
}

async function troubledMerchants(db: Db, pubId: number, now: Date): Promise<AlertEvent[]> {
  const kind = 'merchant_trouble'
  const dayFrom = utcDay(now.getTime() - EARNING_DAYS * DAY_MS)
  const events: AlertEvent[] = []
  for (const { merch_id: merchId, name, is_empty } of await listEarningMerchants(db, {
    pubId,
    dayFrom,
  })) {
    if (is_empty)
      events.push({ kind, key: `stock:${merchId}`, line: `${name} has nothing in stock.` })
    const { open } = await matchMerchantDebts(db, { merchId, until: now })
    const oldest = open[0]?.debt.dueAtMs
    if (oldest === undefined || now.getTime() - oldest < LATE_DAYS * DAY_MS) continue
    const since = utcDay(oldest)
    events.push({ kind, key: `late:${merchId}`, line: `${name} owes money since ${since}.` })
  }
  return events
}

async function readyPayouts(db: Db, pubId: number, now: Date): Promise<AlertEvent[]> {
  const since = new Date(now.getTime() - 7 * DAY_MS)
  const payouts = await listReadyPayouts(db, { pubId, since })
  return payouts.map(({ month, payout_micros }) => ({
    kind: 'payout_ready',
    key: month,
    line: `$${formatCents(payout_micros)} for ${month.slice(0, 7)} will be paid out.`,
  }))
}

async function silentTag(db: Db, pubId: number, now: Date): Promise<AlertEvent[]> {
  const dayFrom = utcDay(now.getTime() - TAG_DAYS * DAY_MS)
  const last = await findLastTagReport(db, { pubId, dayFrom })
  if (last === null || now.getTime() - last.getTime() < SILENT_MS) return []
  const line = `The last page view was reported at ${formatTimestamp(last)}.`
  return [{ kind: 'no_tag_traffic', key: 'tag', line }]
}

/** Posts what is due to webhooks; returns how many were delivered. */
export async function postAlerts(
  db: Db,
  { agent, now }: { readonly agent: Dispatcher; readonly now: Date },
): Promise<number> {
  let delivered = 0
  for (const post of await takeDuePosts(db, now)) {
    const isDelivered = await deliver(agent, post.webhook_url, post.body)
    if (isDelivered) delivered += 1
    if (isDelivered || post.attempts >= ATTEMPTS_MAX) await deletePost(db, post.alert_post_id)
  }
  return delivered
}

async function deliver(agent: Dispatcher, address: string, body: object): Promise<boolean> {
  const url = new URL(address)
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'souk-alerts' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    await answer.body.dump()
    return answer.statusCode >= 200 && answer.statusCode < 300
  } catch {
    // Refused, unreachable or too slow: tried again later.
    return false
  }
}
