import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { createApiKey } from '../accounts/create-account.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { makeLogger } from '../platform/process/log.ts'
import { createWebhook } from '../webhooks/create-webhook.ts'
import { noteKeyPlace } from './key-notices.ts'

test('notifies the owners when a key is used from a new place, with the time in whole seconds', async () => {
  const database = await testDatabase()
  const { publisher, merchant } = await makePublisherWorld(database)
  const { merch_id: merchId } = merchant
  await updateMerchant(database, { merchId, changes: { uid: publisher.uid } })
  const now = new Date('2026-03-02T10:00:00.123Z')
  const key = await createApiKey(database, {
    uid: publisher.uid,
    description: 'site',
    expiresAt: null,
    now,
  })
  const weekly = await makePublisherWorld(database, 'weekly')
  const owners = [
    ...[{ pubId: publisher.pub_id }, { merchId }],
    // Other owners are not notified.
    ...[{ pubId: weekly.publisher.pub_id }, { merchId: weekly.merchant.merch_id }],
  ]
  for (const owner of owners) {
    const events = ['key.used_from_new_place'] as const
    await createWebhook(database, { owner, url: 'https://hooks.example/', events })
  }
  const onUsed = noteKeyPlace({ database, log: makeLogger({ level: 'silent' }) })
  const guard = makeKeyGuard({
    db: database,
    brandWords: ['service'],
    limits: null,
    baseUrl: 'http://127.0.0.1',
    now: () => now,
    onUsed,
  })
  const headers = { authorization: `SERVICE-API-KEY ${key.key}` }
  const notices = () =>
    database.rows<{ payload: object }>(
      sql`select payload from webhook_delivery order by webhook_id`,
    )
  // Recorded beside the call: a second place is requested until the first one is known.
  for (let octet = 0; (await notices()).length === 0; octet += 1) {
    await guard.require({ method: 'GET', headers, clientAddress: `192.0.${octet}.1` })
  }
  const used_at = '2026-03-02T10:00:00Z'
  const payload = { token_id: key.row.token_id, description: 'site', used_at }
  assert.deepEqual(await notices(), [{ payload }, { payload }])
})
