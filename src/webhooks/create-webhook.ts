/** Creates a webhook with its secret, for the API and the operator. */

import { newSecret } from '../platform/crypto/secrets.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { readEvents, type WebhookOwner, webhookFaults } from './webhook.ts'
import { countWebhooks, insertWebhook, lockOwner, type Webhook } from './webhook-store.ts'

/** Each webhook receives all its events, so nobody needs more. */
const WEBHOOKS_MAX = 100

/** Throws a 400 that names every fault. The secret is returned only here. */
export async function createWebhook(
  db: Db,
  wanted: {
    readonly owner: WebhookOwner
    readonly url: string
    readonly events: readonly string[]
  },
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  const faults = webhookFaults(wanted)
  if (faults.length > 0) throw badRequest(faults)
  const secret = newSecret()
  const events = readEvents(wanted.events)
  return db.transaction(async (tx) => {
    // Otherwise concurrent calls would not count each other's webhooks.
    await lockOwner(tx, wanted.owner)
    if ((await countWebhooks(tx, wanted.owner)) >= WEBHOOKS_MAX) {
      throw badRequest([{ field: 'url', rule: `would be of more than ${WEBHOOKS_MAX} webhooks` }])
    }
    return { webhook: await insertWebhook(tx, { ...wanted, events, secret }), secret }
  })
}
