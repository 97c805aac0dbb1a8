import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../test/database.ts'
import { makePublisherWorld } from '../test/publisher-world.ts'
import { createApiKey } from './accounts/create-account.ts'
import { makeKeyGuard } from './accounts/require-key.ts'
import { noteKeyPlace } from './key-notices.ts'
import { makeLogger } from './platform/log.ts'
import { createWebhook } from './reports/create-webhook.ts'
import { listDeliveries } from './reports/webhook-store.ts'

test('a key used from a new place is told with the time of use in whole seconds', async () => {
  const database = await testDatabase()
  const { publisher } = await makePublisherWorld(database)
  const now = new Date('2026-03-02T10:00:00.123Z')
  const key = await createApiKey(database, {
    uid: publisher.uid,
    description: 'site',
    expiresAt: null,
    now,
  })
  const owner = { pubId: publisher.pub_id }
  const { webhook } = await createWebhook(database, {
    owner,
    url: 'https://hooks.example/',
    events: ['key.used_from_new_place'],
  })
  const onUsed = noteKeyPlace({ database, log: makeLogger({ level: 'silent' }) })
  const guard = makeKeyGuard({
    db: database,
    brandWords: ['service'],
    limits: null,
    now: () => now,
    onUsed,
  })
  const headers = { authorization: `SERVICE-API-KEY ${key.key}` }
  const told = () => listDeliveries(database, { webhookId: webhook.webhook_id, owner })
  // Noted beside the call: the second place is asked about until the first one is known.
  for (let octet = 0; (await told()).length === 0; octet += 1) {
    await guard.require({ method: 'GET', headers, clientAddress: `192.0.${octet}.1` })
  }
  const [delivery] = await told()
  const used_at = '2026-03-02T10:00:00Z'
  const token_id = key.row.token_id
  assert.deepEqual(delivery?.payload, { token_id, description: 'site', used_at })
})
