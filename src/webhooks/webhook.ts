/** Rules for webhooks, and when a failed delivery is retried. */

import type { Fault } from '../platform/errors/api-errors.ts'
import { parseWebUrl } from '../platform/net/url.ts'
import { characterCount } from '../platform/text/characters.ts'

export const WEBHOOK_EVENTS = [
  'order.attributed',
  'order.locked',
  'order.returned',
  'payout.ready',
  'key.used_from_new_place',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** Sent on request only, so nobody subscribes to it. */
export const TEST_EVENT = 'webhook.test'
export type SentEvent = WebhookEvent | typeof TEST_EVENT

/** The owner: a publisher or a merchant. */
export type WebhookOwner = { readonly pubId: number } | { readonly merchId: number }

export const URL_LENGTH_MAX = 2048

/** Every reason to refuse a webhook. */
export function webhookFaults(wanted: {
  readonly owner: WebhookOwner
  readonly url: string
  readonly events: readonly string[]
}): Fault[] {
  const known: readonly string[] = WEBHOOK_EVENTS
  const unknown = wanted.events.filter((event) => !known.includes(event))
  const url = parseWebUrl(wanted.url)
  return [
    ...(url !== null && characterCount(wanted.url) <= URL_LENGTH_MAX
      ? []
      : [
          {
            field: 'url',
            rule: `must be an http(s) address of at most ${URL_LENGTH_MAX} characters`,
          },
        ]),
    ...(url !== null && (url.username !== '' || url.password !== '')
      ? [{ field: 'url', rule: 'must not hold a password: deliveries are signed' }]
      : []),
    ...(wanted.events.length === 0 || unknown.length > 0
      ? [{ field: 'events', rule: `one or more of ${WEBHOOK_EVENTS.join(', ')}` }]
      : []),
    ...('merchId' in wanted.owner && wanted.events.includes('payout.ready')
      ? [
          {
            field: 'events',
            rule: 'payout.ready goes to publishers only: merchants are paid nothing',
          },
        ]
      : []),
  ]
}

/** The events in a checked list, each once. */
export function readEvents(events: readonly string[]): WebhookEvent[] {
  return WEBHOOK_EVENTS.filter((known) => events.includes(known))
}

const FIRST_RETRY_MS = 30_000
const RETRY_MS_MAX = 6 * 3_600_000
export const ATTEMPTS_MAX = 15
/** From the first attempt to the last; the pauses double up to six hours. */
export const RETRIED_HOURS = 32

/** When to retry after `attempts` failures; null for never. */
export function nextAttemptAt(attempts: number, now: Date): Date | null {
  if (attempts >= ATTEMPTS_MAX) return null
  const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), RETRY_MS_MAX)
  return new Date(now.getTime() + waitMs)
}

/** A delivery can be viewed and resent as long as its order may change. */
export const DELIVERY_DAYS = 180

/** Consecutive failures, of any deliveries. */
export const FAILURES_MAX = 30

/**
 * Whether nobody listens: after this many failures, one was a delivery's last attempt. The number
 * alone says nothing: during a minute's outage a busy shop misses dozens, and events while a
 * webhook is disabled is never sent.
 */
export function isDeserted({ dueAt, failures }: { dueAt: Date | null; failures: number }): boolean {
  return dueAt === null && failures >= FAILURES_MAX
}
