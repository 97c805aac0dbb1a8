/**
 * Sends due webhook deliveries: signed, a few per owner at a time, retried on failure, and disabled
 * after long silence. Slow receivers of one owner do not delay others.
 *
 * A delivery is a POST of JSON with `X-Souk-Event`, `X-Souk-Delivery`, and the same two headers as
 * merchants' signed requests (signed-request.ts), keyed with the webhook's secret. Any 2xx response
 * within ten seconds is a success. Redirects are not followed, because a signature is meant for one
 * URL.
 */
import type { Dispatcher } from 'undici'
import { SIGNATURE_HEADER, signBody, TIMESTAMP_HEADER } from '../orders/signed-request.ts'
import { FairLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import { formatError } from '../platform/errors/format-error.ts'
import { PrivateAddressError } from '../platform/net/fetch-guard.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { isDeserted, nextAttemptAt } from './webhook.ts'
import {
  type DueDelivery,
  disableWebhook,
  listDueDeliveries,
  recordAttempt,
  takeDelivery,
} from './webhook-store.ts'

const ANSWER_MS = 10_000
/**
 * Nearly all of them only wait. With eight slots, the receivers of two owners could take them all.
 */
const AT_ONCE = 64
/** Per publisher or merchant. */
const AT_ONCE_EACH = 4
/** Per webhook, so that a silent one leaves a slot for its owner's others. */
const AT_ONCE_ONE = 3
/** The work of one run; the rest is due in the next. */
const DELIVERIES_PER_RUN = 1_000
/** After this time a run starts no more deliveries: the next run starts a minute after this one. */
const RUN_MS = 40_000
/** Longer than an attempt takes. After it, the delivery of a dead process is retried. */
const TAKEN_MS = 60_000
const ERROR_LENGTH_MAX = 500

export interface DeliverOptions {
  readonly db: Db
  readonly agent: Dispatcher
  readonly now: () => Date
  /** Called with each disabled webhook, for the operator's log. */
  readonly onDisabled: (webhookId: number, notice: string) => void
}

/** Sends everything that is due; returns how many were delivered. */
export async function deliverWebhooks(options: DeliverOptions): Promise<number> {
  const startedAt = options.now()
  const due = await listDueDeliveries(options.db, { now: startedAt, limit: DELIVERIES_PER_RUN })
  const work = async (delivery: DueDelivery): Promise<boolean> => {
    if (options.now().getTime() - startedAt.getTime() > RUN_MS) return false
    return deliver(options, delivery)
  }
  const owners = new FairLimiter(AT_ONCE, { each: AT_ONCE_EACH })
  const webhooks = new FairLimiter(DELIVERIES_PER_RUN, { each: AT_ONCE_ONE })
  const attempts = due.map((delivery) =>
    webhooks.run(delivery.webhook_id, () => owners.run(ownerOf(delivery), () => work(delivery))),
  )
  // The caller then closes the agent: later attempts would count as the receivers' failures.
  await Promise.allSettled(attempts)
  return (await Promise.all(attempts)).filter(Boolean).length
}

const ownerOf = ({ pub_id, merch_id }: DueDelivery): string => `${pub_id} ${merch_id}`

async function deliver(
  { db, agent, now, onDisabled }: DeliverOptions,
  delivery: DueDelivery,
): Promise<boolean> {
  const { delivery_id: deliveryId, webhook_id: webhookId } = delivery
  const startedAt = now()
  const takenUntil = new Date(startedAt.getTime() + TAKEN_MS)
  const attempts = await takeDelivery(db, { deliveryId, now: startedAt, until: takenUntil })
  if (attempts === null) return false
  const { status, error } = await post(agent, delivery, startedAt)
  const at = now()
  const dueAt = error === null ? null : nextAttemptAt(attempts + 1, at)
  const attempt = { deliveryId, takenUntil, webhookId, now: at, status, error, dueAt }
  const failures = await recordAttempt(db, attempt)
  if (error === null) return true
  if (isDeserted({ dueAt, failures })) {
    const notice = `Switched off after ${failures} failures in a row; the last one: ${error}`
    if (await disableWebhook(db, { webhookId, notice })) onDisabled(webhookId, notice)
  }
  return false
}

async function post(
  agent: Dispatcher,
  delivery: DueDelivery,
  now: Date,
): Promise<{ readonly status: number | null; readonly error: string | null }> {
  const url = new URL(delivery.url)
  const body = Buffer.from(
    JSON.stringify({
      event: delivery.event,
      delivery_id: delivery.delivery_id,
      created_at: formatTimestamp(delivery.created_at),
      data: delivery.payload,
    }),
  )
  const timestamp = String(Math.floor(now.getTime() / 1000))
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'souk-webhook',
        'x-souk-event': delivery.event,
        'x-souk-delivery': delivery.delivery_id,
        [TIMESTAMP_HEADER]: timestamp,
        [SIGNATURE_HEADER]: signBody(delivery.secret, timestamp, body).toString('hex'),
      },
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    // The body is ignored, but reading it frees the connection for reuse.
    await answer.body.dump()
    const { statusCode: status } = answer
    return { status, error: status >= 200 && status < 300 ? null : `answered ${status}` }
  } catch (cause) {
    return { status: null, error: whyUnreached(cause).slice(0, ERROR_LENGTH_MAX) }
  }
}

/** The message for the webhook's owner, who must not learn names of the operator's network. */
function whyUnreached(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  const isUnknown = code === 'ENOTFOUND' || code === 'ENODATA'
  if (cause instanceof PrivateAddressError || isUnknown) return 'its host has no public address'
  return formatError(cause)
}
