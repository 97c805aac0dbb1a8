import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { createWebhook } from './create-webhook.ts'
import {
  countWebhooks,
  deleteWebhook,
  enableWebhook,
  listDeliveries,
  listWebhooks,
  queueNotices,
  replayDelivery,
} from './webhook-store.ts'

const NOW = new Date('2026-03-02T12:00:00Z')

test('webhooks and deliveries of one owner are nobody else’s, to see or to change', async (t) => {
  const db = await testDatabase(t)
  const [one, other] = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')]
  const owner = { pubId: one.publisher.pub_id }
  const url = 'https://hooks.example/'
  const { webhook } = await createWebhook(db, { owner, url, events: ['payout.ready'] })
  const { webhook_id: webhookId } = webhook
  const payout = { event: 'payout.ready', key: 'k', merchId: null, payload: {} } as const
  await queueNotices(db, [{ ...payout, ...owner }], NOW)
  const [{ delivery_id: deliveryId } = { delivery_id: '' }] = await listDeliveries(db, {
    ...{ webhookId, owner },
  })
  assert.notEqual(deliveryId, '')
  const wanted = { webhookId, deliveryId, now: NOW }
  // A merchant of the same number is another one, too.
  const strangers = [{ pubId: other.publisher.pub_id }, { merchId: one.publisher.pub_id }]
  for (const stranger of strangers) {
    assert.deepEqual(await listWebhooks(db, stranger), [])
    assert.equal(await countWebhooks(db, stranger), 0)
    assert.deepEqual(await listDeliveries(db, { webhookId, owner: stranger }), [])
    assert.equal(await enableWebhook(db, { ...wanted, owner: stranger }), null)
    assert.equal(await replayDelivery(db, { ...wanted, owner: stranger }), false)
    assert.equal(await deleteWebhook(db, { webhookId, owner: stranger }), false)
  }
  assert.equal((await listWebhooks(db, owner)).length, 1)
  assert.equal(await replayDelivery(db, { ...wanted, owner }), true)
})
