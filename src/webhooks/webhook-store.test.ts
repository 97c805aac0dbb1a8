import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { sql } from '../platform/postgres/sql.ts'
import { createWebhook } from './create-webhook.ts'
import {
  countWebhooks,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  findWebhook,
  hasWebhooks,
  listDeliveries,
  listDueDeliveries,
  listWebhooks,
  queueNotices,
  recordAttempt,
  replayDelivery,
  takeDelivery,
} from './webhook-store.ts'

const NOW = new Date('2026-03-02T12:00:00Z')

test("an owner's webhooks and deliveries are invisible and immutable to others", async (t) => {
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
  // A merchant with the same number is another owner. Each has its own webhook.
  const strangers = [{ pubId: other.publisher.pub_id }, { merchId: one.publisher.pub_id }]
  for (const stranger of strangers) {
    const own = { owner: stranger, url, events: ['order.locked'] }
    const { webhook: theirs } = await createWebhook(db, own)
    assert.deepEqual(await listWebhooks(db, stranger), [theirs])
    assert.equal(await countWebhooks(db, stranger), 1)
    assert.equal(await findWebhook(db, { webhookId, owner: stranger }), null)
    assert.deepEqual(await listDeliveries(db, { webhookId, owner: stranger }), [])
    assert.equal(await enableWebhook(db, { ...wanted, owner: stranger }), null)
    assert.equal(await replayDelivery(db, { ...wanted, owner: stranger }), null)
    assert.equal(await deleteWebhook(db, { webhookId, owner: stranger }), false)
  }
  assert.equal((await listWebhooks(db, owner)).length, 1)
  assert.equal(await replayDelivery(db, { ...wanted, owner }), webhookId)
})

test('concurrent calls create no more webhooks of one owner than sequential ones', async (t) => {
  const db = await testDatabase(t)
  const owner = { pubId: (await makePublisherWorld(db)).publisher.pub_id }
  const create = () =>
    createWebhook(db, { owner, url: 'https://hooks.example/', events: ['payout.ready'] })
  while ((await countWebhooks(db, owner)) < 99) await create()
  // A concurrent change of the publisher delays both, so that neither finishes first.
  const made = await db.transaction(async (tx) => {
    await tx.run(sql`select from publisher where pub_id = ${owner.pubId} for update`)
    const calls = [create(), create()] as const
    await untilWaiting(db, Promise.race(calls))
    return { outcomes: Promise.allSettled(calls) }
  })
  const outcomes = (await made.outcomes).map(({ status }) => status)
  assert.deepEqual(outcomes.toSorted(), ['fulfilled', 'rejected'])
  assert.equal(await countWebhooks(db, owner), 100)
})

const LATER = new Date('2026-03-03T12:00:00Z')

/** A publisher's two webhooks, each with deliveries `a` and `b` due. */
async function makeWaiting(t: TestContext) {
  const db = await testDatabase(t)
  const owner = { pubId: (await makePublisherWorld(db)).publisher.pub_id }
  const notify = (key: string) => {
    const payout = { event: 'payout.ready', merchId: null, payload: {} } as const
    return queueNotices(db, [{ ...payout, ...owner, key }], NOW)
  }
  const url = 'https://hooks.example/'
  const make = async () => {
    const { webhook } = await createWebhook(db, { owner, url, events: ['payout.ready'] })
    return webhook.webhook_id
  }
  const hooks = [await make(), await make()] as const
  await notify('a')
  await notify('b')
  const shown = async (webhookId: number) => {
    const rows = await listDeliveries(db, { webhookId, owner })
    return rows.map(({ attempts, due_at, delivered_at }) => ({ attempts, due_at, delivered_at }))
  }
  const ids = async (webhookId: number) =>
    (await listDeliveries(db, { webhookId, owner })).map(({ delivery_id }) => delivery_id)
  /** An attempt at NOW that succeeds or is not retried. */
  const attempt = async (webhookId: number, deliveryId: string, error: string | null) => {
    assert.equal(await takeDelivery(db, { deliveryId, now: NOW, until: LATER }), 0)
    const result = { deliveryId, webhookId, takenUntil: LATER, now: NOW, status: null, error }
    return recordAttempt(db, { ...result, dueAt: null })
  }
  return { db, owner, notify, hooks, shown, ids, attempt }
}

test('an enabled webhook restarts with the events that it missed', async (t) => {
  const { db, owner, hooks, shown, ids, attempt } = await makeWaiting(t)
  const [webhookId, other] = hooks
  const [b = '', a = ''] = await ids(webhookId)
  const [, otherA = ''] = await ids(other)
  assert.deepEqual([await attempt(webhookId, a, null), await attempt(webhookId, b, 'down')], [0, 1])
  await attempt(other, otherA, 'down')
  assert.equal(await disableWebhook(db, { webhookId, notice: 'down' }), true)
  assert.equal(await disableWebhook(db, { webhookId, notice: 'again' }), false)
  const before = await shown(other)
  const enabled = await enableWebhook(db, { webhookId, owner, now: LATER })
  assert.deepEqual([enabled?.state, enabled?.failures, enabled?.notice], ['active', 0, null])
  assert.deepEqual(await shown(webhookId), [
    { attempts: 0, due_at: LATER, delivered_at: null },
    { attempts: 1, due_at: null, delivered_at: NOW },
  ])
  assert.deepEqual(await shown(other), before, 'those of the other are left as they were')
})

test('a disabled webhook is not notified, and its due deliveries are not sent', async (t) => {
  const { db, notify, hooks, ids } = await makeWaiting(t)
  const [webhookId, other] = hooks
  const [b = ''] = await ids(webhookId)
  await disableWebhook(db, { webhookId, notice: 'down' })
  assert.equal(await notify('c'), 1)
  const due = await listDueDeliveries(db, { now: LATER, limit: 10 })
  assert.deepEqual([...new Set(due.map(({ webhook_id }) => webhook_id))], [other])
  assert.equal(await takeDelivery(db, { deliveryId: b, now: LATER, until: LATER }), null)
  assert.equal(await hasWebhooks(db), true)
  await disableWebhook(db, { webhookId: other, notice: 'down' })
  assert.equal(await hasWebhooks(db), false)
})

test('a delivery taken by one run belongs to no other until its time is over', async (t) => {
  const { db, hooks, ids } = await makeWaiting(t)
  const [deliveryId = ''] = await ids(hooks[0])
  const take = (now: Date) => takeDelivery(db, { deliveryId, now, until: LATER })
  assert.deepEqual([await take(NOW), await take(NOW), await take(LATER)], [0, null, 0])
})

test('a success ends a series of failures, and a replay counts as a first attempt', async (t) => {
  const { db, owner, hooks, shown, ids, attempt } = await makeWaiting(t)
  const [webhookId] = hooks
  const [b = '', a = ''] = await ids(webhookId)
  assert.equal(await attempt(webhookId, b, 'down'), 1)
  assert.equal(await attempt(webhookId, a, null), 0)
  for (const deliveryId of [a, b]) {
    assert.ok(await replayDelivery(db, { deliveryId, owner, now: LATER }))
  }
  const again = { attempts: 0, due_at: LATER, delivered_at: null }
  assert.deepEqual(await shown(webhookId), [again, again])
})
