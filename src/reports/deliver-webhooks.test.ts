import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { guardedAgent } from '../platform/fetch-guard.ts'
import { createWebhook } from './create-webhook.ts'
import { deliverWebhooks } from './deliver-webhooks.ts'
import { listDeliveries, listDueDeliveries, queueNotices } from './webhook-store.ts'

const NOW = new Date('2026-04-13T12:00:00Z')

/** Two publishers with a webhook each, at `/slow` and at `/fast`. */
async function start(t: TestContext) {
  const db = await testDatabase(t)
  const [slow, fast] = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')]
  const held: ServerResponse[] = []
  const told = Promise.withResolvers<void>()
  let heardFast = 0
  const server = createServer((request, response) => {
    if (request.url === '/slow') held.push(response)
    else {
      response.end()
      heardFast += 1
      if (heardFast === 2) told.resolve()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const agent = guardedAgent({ allowPrivate: true })
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await agent.close()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const owners = [
    { owner: { pubId: slow.publisher.pub_id }, path: '/slow', notices: 20, at: NOW },
    { owner: { pubId: fast.publisher.pub_id }, path: '/fast', notices: 2, at: NOW },
  ] as const
  for (const { owner, path, notices, at } of owners) {
    await createWebhook(db, { owner, url: base + path, events: ['order.locked'] })
    const told = Array.from({ length: notices }, (_, n) => ({
      ...{ event: 'order.locked' as const, key: `${n}`, merchId: null, payload: {} },
      pubId: owner.pubId,
    }))
    await queueNotices(db, told, at)
  }
  return { db, agent, held, untilFast: told.promise, fastPubId: fast.publisher.pub_id }
}

test('a receiver that is slow to answer keeps no other publisher’s waiting', async (t) => {
  const { db, agent, held, untilFast } = await start(t)
  const options = { db, agent, now: () => NOW, onDisabled: () => undefined }
  const delivered = deliverWebhooks(options)
  await untilFast
  assert.ok(held.length <= 4, `${held.length} of the slow one are on their way`)
  // Each answer makes room for the next.
  const answering = setInterval(() => {
    for (const response of held.splice(0)) response.end()
  }, 1)
  t.after(() => clearInterval(answering))
  assert.equal(await delivered, 22)
})

test('however much is due to one publisher, another’s is among what is sent next', async (t) => {
  const { db, fastPubId } = await start(t)
  const due = await listDueDeliveries(db, { now: NOW, limit: 6 })
  assert.deepEqual(
    due.map(({ pub_id }) => pub_id === fastPubId),
    [false, true, false, true, false, false],
  )
})

test('a webhook does not tell its owner which names our network has', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const owner = { pubId: publisher.pub_id }
  const url = 'http://localhost:9/'
  const { webhook } = await createWebhook(db, { owner, url, events: ['order.locked'] })
  const told = { event: 'order.locked' as const, key: 'k', merchId: null, payload: {}, ...owner }
  await queueNotices(db, [told], NOW)
  const agent = guardedAgent({ allowPrivate: false })
  t.after(() => agent.close())
  await deliverWebhooks({ db, agent, now: () => NOW, onDisabled: () => undefined })
  const [delivery] = await listDeliveries(db, { webhookId: webhook.webhook_id, owner })
  assert.equal(delivery?.error, 'its host has no public address')
})

test('a publisher has a hundred webhooks at most', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant } = await makePublisherWorld(db)
  const make = (owner: { pubId: number } | { merchId: number }) =>
    createWebhook(db, { owner, url: 'https://x.example/', events: ['order.locked'] })
  const pubId = publisher.pub_id
  for (let n = 0; n < 100; n += 1) await make({ pubId })
  await assert.rejects(make({ pubId }), { status: 400 })
  await make({ merchId: merchant.merch_id })
})
