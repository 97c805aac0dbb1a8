import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { startServer } from '../../test/support/local-server.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { MODEL, type StoredEvent } from '../events/event.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, verifySignature } from '../orders/signed-request.ts'
import { micros } from '../platform/money/money.ts'
import { guardedAgent } from '../platform/net/fetch-guard.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { createWebhook } from './create-webhook.ts'
import { deliverWebhooks } from './deliver-webhooks.ts'
import { makeNotices, queuePayouts } from './make-notices.ts'
import {
  ATTEMPTS_MAX,
  FAILURES_MAX,
  nextAttemptAt,
  RETRIED_HOURS,
  WEBHOOK_EVENTS,
} from './webhook.ts'
import {
  enableWebhook,
  listDeliveries,
  listWebhooks,
  queueNotices,
  replayDelivery,
} from './webhook-store.ts'

interface Heard {
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

async function start(t: TestContext) {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const world = await makePublisherWorld(db)
  const article = await world.addArticle('Ten mugs')
  const heard: Heard[] = []
  const listener = { status: 200, tookMs: 0 }
  const server = await startServer(t, async (request, response) => {
    heard.push({ headers: request.headers, body: Buffer.concat(await request.toArray()) })
    clock.now = new Date(clock.now.getTime() + listener.tookMs)
    response.writeHead(listener.status).end('thanks')
  })
  const agent = guardedAgent({ allowPrivate: true })
  t.after(() => agent.close())
  const url = `${server.url}/hook?x=1`
  const clock = { now: new Date(START_MS) }
  const disabled: string[] = []
  const { pub_id: pubId } = world.publisher
  const { merch_id: merchId } = world.merchant
  const events = new MoneyEvents()
  return {
    ...world,
    db,
    url,
    heard,
    listener,
    clock,
    disabled,
    pubId,
    events,
    own: <T extends StoredEvent>(event: T) => ({ ...event, merchId }),
    click: (name: string, fields: Partial<StoredEvent> = {}) =>
      events.click(name, START_MS, { merchId, pubId, auctionId: article.auctionId, ...fields }),
    record: log.record,
    deliver: () =>
      deliverWebhooks({
        db,
        agent,
        now: () => clock.now,
        onDisabled: (_, notice) => disabled.push(notice),
      }),
  }
}

test('a sale, its return and its lock are notified once each, signed for each webhook', async (t) => {
  const s = await start(t)
  const owner = { pubId: s.pubId }
  const { secret } = await createWebhook(s.db, { owner, url: s.url, events: [...WEBHOOK_EVENTS] })
  const forMerchant = { merchId: s.merchant.merch_id }
  await createWebhook(s.db, { owner: forMerchant, url: s.url, events: ['order.returned'] })
  await s.record(
    s.click('a', { sharePpm: 800_000 }),
    s.own(s.events.order('o1', START_MS, { click: 'a' })),
    s.own(s.events.goodsBack('o1', START_MS + DAY_MS, { quantity: 2 })),
  )
  assert.equal(await makeNotices(s.db, s.clock.now), 3)
  assert.equal(await makeNotices(s.db, s.clock.now), 0)
  assert.equal(await s.deliver(), 3)
  assert.equal(await s.deliver(), 0)
  const notices = s.heard.map(({ body }) => JSON.parse(body.toString()))
  assert.deepEqual(
    notices.map(({ event, data }) => [event, data.earnings_usd, data.commission_usd]).sort(),
    [
      ['order.attributed', '44.00', undefined],
      ['order.returned', undefined, '-20.00'],
      ['order.returned', '-16.00', undefined],
    ],
    'the publisher what it earns, the merchant what it owes',
  )
  const first = s.heard.find(({ headers }) => headers['x-souk-event'] === 'order.attributed')
  const request = {
    signature: first?.headers[SIGNATURE_HEADER] as string,
    timestamp: first?.headers[TIMESTAMP_HEADER] as string,
    body: first?.body ?? Buffer.alloc(0),
  }
  assert.ok(
    'signature' in verifySignature(request, { secrets: [secret], nowMs: s.clock.now.getTime() }),
  )

  s.clock.now = new Date(START_MS + 91 * DAY_MS)
  assert.equal(await makeNotices(s.db, s.clock.now), 1)
  await s.deliver()
  assert.equal(JSON.parse(s.heard.at(-1)?.body.toString() ?? '').event, 'order.locked')
})

test('a lock is notified even if a later report is held, or the order arrived late', async (t) => {
  const s = await start(t)
  await createWebhook(s.db, { owner: { pubId: s.pubId }, url: s.url, events: ['order.locked'] })
  const minute = (count: number) => START_MS + count * 60_000
  const noticesAt = (count: number) => makeNotices(s.db, new Date(minute(count)))
  const epp = { model: MODEL.epp, termsAmount: micros(1_500_000) }
  await s.record(s.click('a', epp), s.own(s.events.order('o1', minute(1), { click: 'a' })))
  const doubtful = { source: 'import', currency: 'JPY', value_micros: null } as const
  const waits = { ...doubtful, hold: 'no_rate', updated_at_ms: minute(2) } as const
  await s.record(
    s.own(s.events.order('o2', minute(1), { click: 'a', report: { source: 'import' } })),
  )
  await s.record(s.own(s.events.order('o2', minute(2), { click: 'a', report: waits })))
  assert.equal(await noticesAt(10), 2)
  await s.record(s.own(s.events.order('late', minute(1), { click: 'a' })))
  assert.equal(await noticesAt(11), 1)
  await s.record(s.own(s.events.goodsBack('late', minute(12), {})))
  assert.equal(await noticesAt(20), 0, 'reported once')
  await noticesAt(1_000_000)
  await s.record(s.own(s.events.order('o3', minute(22), { click: 'a' })))
  assert.equal(await noticesAt(23), 0, 'by a clock that was ahead it had been locked')
  assert.equal(await noticesAt(30), 1)
})

test('returns from before an order counted are notified with it', async (t) => {
  const s = await start(t)
  await createWebhook(s.db, { owner: { pubId: s.pubId }, url: s.url, events: [...WEBHOOK_EVENTS] })
  const early = s.own(s.events.goodsBack('o1', START_MS, { return_id: 'early' }))
  await s.record(s.click('a'), early)
  assert.equal(await makeNotices(s.db, s.clock.now), 0)
  await s.record(s.own(s.events.order('o1', START_MS, { click: 'a' })))
  await s.record(s.own(s.events.goodsBack('o1', START_MS + 1, { return_id: 'late' })))
  assert.equal(await makeNotices(s.db, s.clock.now), 3)
  await s.deliver()
  const notices = s.heard.map(({ body }) => JSON.parse(body.toString()))
  assert.deepEqual(notices.map(({ event, data }) => [event, data.earnings_usd]).sort(), [
    ['order.attributed', '55.00'],
    ['order.returned', '-10.00'],
    ['order.returned', '-10.00'],
  ])
})

test("an order that moves to another publisher's click is notified to that publisher", async (t) => {
  const s = await start(t)
  const other = await makePublisherWorld(s.db, 'other')
  const pubId = other.publisher.pub_id
  const { auctionId } = await other.addArticle('Nine mugs')
  for (const owner of [{ pubId }, { merchId: s.merchant.merch_id }]) {
    await createWebhook(s.db, { owner, url: s.url, events: ['order.attributed'] })
  }
  await s.record(
    s.click('guessed'),
    s.click('named', { pubId, auctionId }),
    s.own(s.events.order('o1', START_MS, { click: 'guessed' })),
  )
  assert.equal(await makeNotices(s.db, s.clock.now), 1, 'the merchant')
  await s.record(s.own(s.events.order('o1', START_MS + 1, { exact: 'named' })))
  assert.equal(await makeNotices(s.db, s.clock.now), 2, 'the new publisher, and the merchant')
  await s.record(
    s.own(s.events.order('o1', START_MS + 2, { exact: 'named', report: { value: '1' } })),
  )
  assert.equal(await makeNotices(s.db, s.clock.now), 0, 'a revision of it is nobody’s new sale')
})

test("nobody is notified of another publisher's sales", async (t) => {
  const s = await start(t)
  const other = await makePublisherWorld(s.db, 'other')
  const owner = { pubId: other.publisher.pub_id }
  await createWebhook(s.db, { owner, url: s.url, events: ['order.attributed'] })
  await s.record(s.click('a'), s.own(s.events.order('o1', START_MS, { click: 'a' })))
  assert.equal(await makeNotices(s.db, s.clock.now), 0)
})

test('a failed delivery is retried, and after long enough given up', async (t) => {
  const s = await start(t)
  const owner = { pubId: s.pubId }
  const { webhook } = await createWebhook(s.db, { owner, url: s.url, events: ['payout.ready'] })
  const webhookId = webhook.webhook_id
  const statement = {
    pubId: s.pubId,
    month: '2026-03',
    openingMicros: micros(0),
    releasedMicros: micros(60_000_000),
    reversedMicros: micros(0),
    payoutMicros: micros(60_000_000),
    closingMicros: micros(0),
    issuedAt: s.clock.now,
  }
  assert.equal(await queuePayouts(s.db, [statement], s.clock.now), 1)
  s.listener.status = 500
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    assert.equal(await s.deliver(), 0)
    assert.equal(s.heard.length, attempt)
    await s.deliver()
    assert.equal(s.heard.length, attempt, 'not before its time')
    const [delivery] = await listDeliveries(s.db, { webhookId, owner })
    assert.deepEqual([delivery?.attempts, delivery?.status], [attempt, 500])
    const due = nextAttemptAt(attempt, s.clock.now)
    assert.deepEqual(delivery?.due_at, due)
    s.clock.now = due ?? new Date(s.clock.now.getTime() + 100 * DAY_MS)
  }
  await s.deliver()
  assert.equal(s.heard.length, ATTEMPTS_MAX)

  s.listener.status = 204
  const [given] = await listDeliveries(s.db, { webhookId, owner })
  const deliveryId = given?.delivery_id ?? ''
  const stranger = { pubId: s.pubId + 1 }
  assert.ok(!(await replayDelivery(s.db, { deliveryId, owner: stranger, now: s.clock.now })))
  assert.ok(await replayDelivery(s.db, { deliveryId, owner, now: s.clock.now }))
  assert.equal(await s.deliver(), 1)
  assert.deepEqual(s.heard[0]?.body, s.heard.at(-1)?.body, 'a replay sends the same notices')
})

test('a failed delivery is retried for as many hours as the reference says', () => {
  let last = new Date(START_MS)
  let attempts = 0
  for (let next: Date | null = last; next !== null; next = nextAttemptAt(attempts, last)) {
    last = next
    attempts += 1
  }
  assert.equal(attempts, ATTEMPTS_MAX)
  assert.equal(Math.trunc((last.getTime() - START_MS) / HOUR_MS), RETRIED_HOURS)
})

const payouts = (pubId: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ event: 'payout.ready' as const, key: `n${index}` },
    ...{ pubId, merchId: null, payload: {} },
  }))

test('a receiver that is down for a while misses nothing', async (t) => {
  const s = await start(t)
  await createWebhook(s.db, { owner: { pubId: s.pubId }, url: s.url, events: ['payout.ready'] })
  await queueNotices(s.db, payouts(s.pubId, 2 * FAILURES_MAX), s.clock.now)
  s.listener.status = 503
  await s.deliver()
  s.listener.status = 200
  s.clock.now = new Date(s.clock.now.getTime() + 60_000)
  assert.equal(await s.deliver(), 2 * FAILURES_MAX)
})

test('a silent webhook is disabled with a reason and can be enabled again', async (t) => {
  const s = await start(t)
  const owner = { pubId: s.pubId }
  await createWebhook(s.db, { owner, url: s.url, events: ['payout.ready'] })
  s.listener.status = 404
  const notices = payouts(s.pubId, 20)
  await queueNotices(s.db, notices, s.clock.now)
  for (let run = 0; run < ATTEMPTS_MAX; run += 1) {
    assert.equal((await listWebhooks(s.db, owner))[0]?.state, 'active')
    await s.deliver()
    s.clock.now = new Date(s.clock.now.getTime() + DAY_MS / 4)
  }
  const [webhook] = await listWebhooks(s.db, owner)
  assert.equal(webhook?.state, 'disabled')
  assert.match(webhook?.notice ?? '', /answered 404/)
  assert.equal(s.disabled.length, 1)
  const heard = s.heard.length
  await s.deliver()
  assert.equal(s.heard.length, heard)

  s.listener.status = 200
  await enableWebhook(s.db, { webhookId: webhook?.webhook_id ?? 0, owner, now: s.clock.now })
  assert.equal(await s.deliver(), notices.length)
})

test('a run ends before the next one starts, and events that slow receivers left are sent once', async (t) => {
  const s = await start(t)
  await createWebhook(s.db, { owner: { pubId: s.pubId }, url: s.url, events: ['payout.ready'] })
  const notices = payouts(s.pubId, 40)
  await queueNotices(s.db, notices, s.clock.now)
  s.listener.tookMs = 9_000
  const first = await s.deliver()
  assert.ok(first > 0 && first < notices.length, `${first} in the first run`)
  while (s.heard.length < notices.length) assert.notEqual(await s.deliver(), 0)
  assert.equal(await s.deliver(), 0)
  assert.equal(new Set(s.heard.map(({ headers }) => headers['x-souk-delivery'])).size, 40)
  assert.equal(s.heard.length, 40)
})
