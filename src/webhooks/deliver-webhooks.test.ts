import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { LookupFunction } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Agent } from 'undici'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import { startServer } from '../../test/support/local-server.ts'
import { until } from '../../test/support/market.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { guardedAgent } from '../platform/net/fetch-guard.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { createWebhook } from './create-webhook.ts'
import { deliverWebhooks } from './deliver-webhooks.ts'
import {
  deleteWebhook,
  listDeliveries,
  listDueDeliveries,
  listWebhooks,
  queueNotices,
  replayDelivery,
} from './webhook-store.ts'

const NOW = new Date('2026-04-13T12:00:00Z')

/** Two publishers with a webhook each, at `/slow` and at `/fast`. */
async function start(t: TestContext) {
  const db = await testDatabase(t)
  const [slow, fast] = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')]
  const held: ServerResponse[] = []
  const heardBoth = Promise.withResolvers<void>()
  let heardFast = 0
  const { url: base } = await startServer(t, (request, response) => {
    if (request.url === '/slow') held.push(response)
    else {
      response.end()
      heardFast += 1
      if (heardFast === 2) heardBoth.resolve()
    }
  })
  const agent = guardedAgent({ allowPrivate: true })
  t.after(() => agent.close())
  const owners = [
    { owner: { pubId: slow.publisher.pub_id }, path: '/slow', notices: 20, at: NOW },
    { owner: { pubId: fast.publisher.pub_id }, path: '/fast', notices: 2, at: NOW },
  ] as const
  for (const { owner, path, notices, at } of owners) {
    await createWebhook(db, { owner, url: base + path, events: ['order.locked'] })
    const queued = Array.from({ length: notices }, (_, n) => ({
      ...{ event: 'order.locked' as const, key: `${n}`, merchId: null, payload: {} },
      pubId: owner.pubId,
    }))
    await queueNotices(db, queued, at)
  }
  const [slowPubId, fastPubId] = [slow.publisher.pub_id, fast.publisher.pub_id]
  return { db, agent, base, held, untilFast: heardBoth.promise, slowPubId, fastPubId }
}

test("a slow receiver does not delay another publisher's deliveries", async (t) => {
  const { db, agent, held, untilFast } = await start(t)
  const options = { db, agent, now: () => NOW, onDisabled: () => undefined }
  const delivered = deliverWebhooks(options)
  await untilFast
  assert.ok(held.length <= 3, `${held.length} of the slow one are on their way`)
  // Each answer frees a slot for the next delivery.
  answerAll(t, held)
  assert.equal(await delivered, 22)
})

test('slow receivers of many publishers do not delay others either', async (t) => {
  const { db, agent, base, held, untilFast } = await start(t)
  const notice = { event: 'order.locked', key: 'k', merchId: null, payload: {} } as const
  for (let n = 0; n < 9; n += 1) {
    const { publisher } = await makePublisherWorld(db, `slow-${n}`)
    const owner = { pubId: publisher.pub_id }
    await createWebhook(db, { owner, url: `${base}/slow`, events: ['order.locked'] })
    await queueNotices(db, [{ ...notice, ...owner }], new Date(NOW.getTime() - 1))
  }
  const delivered = deliverWebhooks({ db, agent, now: () => NOW, onDisabled: () => undefined })
  await untilFast
  answerAll(t, held)
  assert.equal(await delivered, 31)
})

/** Ends every pending response, now and from now on. */
function answerAll(t: TestContext, held: ServerResponse[]): void {
  const answering = setInterval(() => {
    for (const response of held.splice(0)) response.end()
  }, 1)
  t.after(() => clearInterval(answering))
}

test('any 2xx response counts as delivered and no other does, and the URL is called unchanged', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const asked: (string | undefined)[] = []
  const statuses = [200, 204, 299, 300, 302, 404, 500]
  const server = await startServer(t, (request, response) => {
    response.writeHead(statuses[asked.push(request.url) - 1] ?? 0, { location: '/other' }).end()
  })
  const agent = guardedAgent({ allowPrivate: true })
  t.after(() => agent.close())
  const url = `${server.url}/hook?of=me&as=json`
  const owner = { pubId: publisher.pub_id }
  const { webhook } = await createWebhook(db, { owner, url, events: ['order.locked'] })
  const { webhook_id: webhookId } = webhook
  const delivered: boolean[] = []
  for (const status of statuses) {
    const notice = { event: 'order.locked', key: `${status}`, merchId: null, payload: {} } as const
    await queueNotices(db, [{ ...notice, ...owner }], NOW)
    const sent = await deliverWebhooks({ db, agent, now: () => NOW, onDisabled: () => undefined })
    delivered.push(sent === 1)
  }
  assert.deepEqual(delivered, [true, true, true, false, false, false, false])
  assert.deepEqual([...new Set(asked)], ['/hook?of=me&as=json'])
  const rows = await listDeliveries(db, { webhookId, owner: null })
  assert.deepEqual(
    rows.map(({ status, error, attempts }) => [status, error, attempts]),
    statuses.toReversed().map((code) => [code, code < 300 ? null : `answered ${code}`, 1]),
  )
})

test('an attempt that cannot be recorded fails no other delivery', async (t) => {
  const { db, held } = await start(t)
  answerAll(t, held)
  let written = 0
  const run: Db['run'] = async (query) => {
    if (query.text.includes('set attempts =')) written += 1
    if (written === 1) throw new Error('Connection terminated')
    return db.run(query)
  }
  const agent = guardedAgent({ allowPrivate: true })
  const options = { db: { ...db, run }, agent, now: () => NOW, onDisabled: () => undefined }
  await assert.rejects(
    deliverWebhooks(options).finally(() => agent.close()),
    /^Error: Connection terminated$/,
  )
  await until(() => written === 22)
  const webhooks = await listWebhooks(db, null)
  assert.deepEqual(
    webhooks.map(({ failures, state }) => [failures, state]),
    webhooks.map(() => [0, 'active']),
  )
})

test('two concurrent runs send each delivery once', async (t) => {
  const { db, agent, held } = await start(t)
  const options = { db, agent, now: () => NOW, onDisabled: () => undefined }
  const runs = [deliverWebhooks(options), deliverWebhooks(options)]
  answerAll(t, held)
  const [one = 0, other = 0] = await Promise.all(runs)
  assert.equal(one + other, 22)
})

test('a webhook that is deleted during a run receives nothing more', async (t) => {
  const { db, agent, held } = await start(t)
  const delivered = deliverWebhooks({ db, agent, now: () => NOW, onDisabled: () => undefined })
  await until(() => held.length === 3)
  const [slow] = await listWebhooks(db, null)
  await deleteWebhook(db, { webhookId: slow?.webhook_id ?? 0, owner: null })
  answerAll(t, held)
  assert.equal(await delivered, 5)
})

test('a replay that is requested during an attempt is made', async (t) => {
  const { db, agent, held } = await start(t)
  const options = { db, agent, now: () => NOW, onDisabled: () => undefined }
  const delivered = deliverWebhooks(options)
  await until(() => held.length === 3)
  const deliveryId = String(held[0]?.req.headers['x-souk-delivery'])
  assert.ok(await replayDelivery(db, { deliveryId, owner: null, now: NOW }))
  answerAll(t, held)
  assert.equal(await delivered, 22)
  assert.equal(await deliverWebhooks(options), 1)
})

test('a webhook that is being deleted does not block others', async (t) => {
  const { db, fastPubId } = await start(t)
  const [slow] = await listWebhooks(db, null)
  const notice = { event: 'order.locked' as const, key: 'both', merchId: null, payload: {} }
  const notices = [slow?.pub_id ?? 0, fastPubId].map((pubId) => ({ ...notice, pubId }))
  let queued: Promise<number> = Promise.resolve(0)
  await db.transaction(async (tx) => {
    await deleteWebhook(tx, { webhookId: slow?.webhook_id ?? 0, owner: null })
    queued = queueNotices(db, notices, NOW)
    await untilWaiting(db, queued)
  })
  assert.equal(await queued, 1)
})

test("many due deliveries of one publisher do not delay another's", async (t) => {
  const { db, fastPubId } = await start(t)
  const due = await listDueDeliveries(db, { now: NOW, limit: 6 })
  assert.deepEqual(
    due.map(({ pub_id }) => pub_id === fastPubId),
    [false, true, false, true, false, false],
  )
})

test("many due deliveries of one webhook do not delay its owner's other webhooks", async (t) => {
  const { db, slowPubId: pubId } = await start(t)
  const url = 'http://127.0.0.1:9/second'
  const second = await createWebhook(db, { owner: { pubId }, url, events: ['payout.ready'] })
  const notice = { event: 'payout.ready' as const, pubId, merchId: null, payload: {} }
  await queueNotices(db, [{ ...notice, key: 'later' }], NOW)
  const due = await listDueDeliveries(db, { now: NOW, limit: 4 })
  assert.ok(due.some(({ webhook_id }) => webhook_id === second.webhook.webhook_id))
})

test("a silent webhook leaves its owner's other webhooks a slot", async (t) => {
  const { db, agent, base, held, slowPubId: pubId } = await start(t)
  const url = `${base}/second`
  const { webhook } = await createWebhook(db, { owner: { pubId }, url, events: ['payout.ready'] })
  const notice = { event: 'payout.ready' as const, pubId, merchId: null, payload: {} }
  const notices = Array.from({ length: 20 }, (_, n) => ({ ...notice, key: `second ${n}` }))
  await queueNotices(db, notices, NOW)
  const delivered = deliverWebhooks({ db, agent, now: () => NOW, onDisabled: () => undefined })
  await until(async () => {
    const deliveries = await listDeliveries(db, { webhookId: webhook.webhook_id, owner: null })
    return deliveries.every(({ delivered_at }) => delivered_at !== null)
  })
  const failures = (await listWebhooks(db, null)).map((one) => one.failures)
  assert.deepEqual(failures, [0, 0, 0], 'nobody was given up for it')
  answerAll(t, held)
  assert.equal(await delivered, 42)
})

test("an error message does not reveal names of the operator's network", async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const owner = { pubId: publisher.pub_id }
  const url = 'http://localhost:9/'
  const { webhook } = await createWebhook(db, { owner, url, events: ['order.locked'] })
  const notice = { event: 'order.locked' as const, key: 'k', merchId: null, payload: {}, ...owner }
  await queueNotices(db, [notice], NOW)
  const isNowhere = Object.assign(new Error('getaddrinfo ENOTFOUND db'), { code: 'ENOTFOUND' })
  const lookup: LookupFunction = (_host, _options, done) => done(isNowhere, [])
  for (const agent of [guardedAgent({ allowPrivate: false }), new Agent({ connect: { lookup } })]) {
    t.after(() => agent.close())
    await db.run(sql`update webhook_delivery set due_at = ${NOW}, error = null`)
    await deliverWebhooks({ db, agent, now: () => NOW, onDisabled: () => undefined })
    const [delivery] = await listDeliveries(db, { webhookId: webhook.webhook_id, owner })
    assert.equal(delivery?.error, 'its host has no public address')
  }
})

test('a publisher has at most a hundred webhooks', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant } = await makePublisherWorld(db)
  const make = (owner: { pubId: number } | { merchId: number }) =>
    createWebhook(db, { owner, url: 'https://x.example/', events: ['order.locked'] })
  const pubId = publisher.pub_id
  for (let n = 0; n < 100; n += 1) await make({ pubId })
  await assert.rejects(make({ pubId }), { status: 400 })
  await make({ merchId: merchant.merch_id })
})
