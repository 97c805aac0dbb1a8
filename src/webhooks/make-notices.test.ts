import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Type from 'typebox'
import { Check } from 'typebox/value'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { MODEL, type StoredEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { createWebhook } from './create-webhook.ts'
import { makeNotices } from './make-notices.ts'
import { NOTICES } from './notice-schema.ts'
import type { WebhookEvent } from './webhook.ts'
import { listDeliveries, queueNotices } from './webhook-store.ts'

/** A publisher's article with a link, a merchant, and helpers that send and fold events of both. */
async function start(t: TestContext) {
  const db = await testDatabase(t)
  const { record } = openFoldedLog(t, db)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId } = await addArticle('Ten mugs')
  return { db, record, pubId: publisher.pub_id, merchId: merchant.merch_id, auctionId }
}

test('a webhook created during a run is notified of later events', async (t) => {
  const { db, record, pubId, merchId, auctionId } = await start(t)
  const events = new MoneyEvents()
  let isMade = false
  const meanwhile: Db = {
    ...db,
    row: async (query) => {
      if (!isMade && query.text.includes('max(change_id)')) {
        isMade = true
        const url = 'https://hooks.example/'
        await createWebhook(db, { owner: { pubId }, url, events: ['order.attributed'] })
        await record(events.click('a', START_MS, { merchId, pubId, auctionId }), {
          ...events.order('o1', START_MS, { click: 'a' }),
          merchId,
        })
      }
      return db.row(query)
    },
  }
  assert.equal(await makeNotices(meanwhile, new Date(START_MS)), 1)
})

test('a lock notifies each side of the final amounts; every event has its described data', async (t) => {
  const { db, record, pubId, merchId, auctionId } = await start(t)
  const url = 'https://hooks.example/'
  const all = ['order.attributed', 'order.locked', 'order.returned']
  for (const owner of [{ pubId }, { merchId }]) {
    await createWebhook(db, { owner, url, events: all })
  }
  const events = new MoneyEvents()
  const own = (event: StoredEvent) => ({ ...event, merchId })
  const revised = { updated_at_ms: START_MS + 1, lines: [orderLine('A1', 10_000, 3)] }
  await record(
    events.click('a', START_MS, { merchId, pubId, auctionId, sharePpm: 800_000 }),
    own(events.order('o1', START_MS, { click: 'a' })),
    own(
      events.order('o1', START_MS + 1, {
        click: 'a',
        report: { ...revised, value_micros: 300_000_000 },
      }),
    ),
    own(events.goodsBack('o1', START_MS + DAY_MS, { quantity: 1 })),
  )
  await makeNotices(db, new Date(START_MS + 91 * DAY_MS))
  const queued = await db.rows(sql`
    select pub_id, payload->>'net_revenue_usd' as revenue, payload->>'net_earnings_usd' as earns,
      payload->>'net_commission_usd' as owes
    from webhook_delivery join webhook using (webhook_id)
    where event = 'order.locked' order by pub_id`)
  assert.deepEqual(queued, [
    { pub_id: pubId, revenue: '200.00', earns: '16.00', owes: null },
    { pub_id: null, revenue: '200.00', earns: null, owes: '20.00' },
  ])
  const sent = await db.rows<{ event: WebhookEvent; pub_id: number | null; payload: object }>(sql`
    select event, pub_id, payload from webhook_delivery join webhook using (webhook_id)`)
  assert.equal(new Set(sent.map(({ event }) => event)).size, all.length)
  for (const { event, pub_id, payload } of sent) {
    const described = NOTICES[event][pub_id === null ? 'merchant' : 'publisher']
    assert.deepEqual(
      Object.keys(payload).toSorted(),
      Object.keys(described ?? {}).toSorted(),
      event,
    )
    assert.ok(Check(Type.Object(described ?? {}), payload), event)
  }
})

/** A publisher with a webhook for locks, and orders that lock. */
async function startLocks(t: TestContext) {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { articleId } = await addArticle('Ten mugs')
  const [{ pub_id: pubId }, { merch_id: merchId }] = [publisher, merchant]
  const url = 'https://hooks.example/'
  await createWebhook(db, { owner: { pubId }, url, events: ['order.locked'] })
  const lock = ({ orders, at }: { orders: number; at: number }) =>
    db.run(sql`
      insert into merchant_order (merch_id, order_id, account, is_posted, event_id, pub_id,
        article_id, click_id, locks_at)
      select ${merchId}, n::text, '{}', true, n, ${pubId}, ${articleId}, '\\x00', ${new Date(at)}
      from generate_series(1, ${orders}::int) as n`)
  return { db, lock }
}

test('a return is notified with its own order, and never for a time before the webhook existed', async (t) => {
  const { db, record, pubId, merchId, auctionId } = await start(t)
  const hook = { owner: { pubId }, url: 'https://hooks.example/', events: ['order.returned'] }
  const listen = () => createWebhook(db, hook)
  const returned = (webhookId: number) =>
    db.rows(sql`
      select payload->>'checkout_id' as id, payload->>'revenue_usd' as revenue
      from webhook_delivery where webhook_id = ${webhookId} order by 1`)
  const events = new MoneyEvents()
  const order = (id: string, cents: number, report = {}) =>
    events.order(id, START_MS, {
      ...{ click: 'a' },
      report: { lines: [orderLine('A1', cents, 3)], value_micros: cents * 30_000, ...report },
    })
  const recordOwn = (...all: StoredEvent[]) =>
    record(...all.map((event) => ({ ...event, merchId })))
  const later = new Date(START_MS + DAY_MS)

  const first = await listen()
  await recordOwn(
    events.click('a', START_MS, { pubId, auctionId }),
    ...[order('o1', 10_000), order('o2', 20_000)],
    ...[events.goodsBack('o1', START_MS + 1, { return_id: 'r1', quantity: 1 })],
    ...[events.goodsBack('o2', START_MS + 1, { return_id: 'r1', quantity: 2 })],
  )
  await makeNotices(db, later)
  const both = [
    { id: 'o1', revenue: '-100.00' },
    { id: 'o2', revenue: '-400.00' },
  ]
  assert.deepEqual(await returned(first.webhook.webhook_id), both)

  // A person's decision makes it count; by then it has a return.
  const second = await listen()
  await recordOwn(
    order('o3', 30_000, { hold: 'review' }),
    events.goodsBack('o3', START_MS + 2, { return_id: 'r1', quantity: 1 }),
    events.decision('o3', START_MS + 3, { kind: 'approve' }),
  )
  await makeNotices(db, later)
  const late = { id: 'o3', revenue: '-300.00' }
  assert.deepEqual(await returned(second.webhook.webhook_id), [late])
  assert.deepEqual(await returned(first.webhook.webhook_id), [...both, late])
})

test('a lock is notified in time even if the clock was ahead for a while', async (t) => {
  const { db, lock } = await startLocks(t)
  await makeNotices(db, new Date(START_MS + 30 * DAY_MS))
  await makeNotices(db, new Date(START_MS))
  await lock({ orders: 1, at: START_MS + DAY_MS })
  assert.equal(await makeNotices(db, new Date(START_MS + 2 * DAY_MS)), 1)
})

test('any number of locks is notified in batches, and an interrupted run continues', async (t) => {
  const { db, lock } = await startLocks(t)
  // All at one instant, as from a file of orders.
  await lock({ orders: 2500, at: START_MS })
  await db.run(sql`
    alter table webhook_delivery add constraint cut check (notice_key <> 'locked:2400')`)
  const now = new Date(START_MS + DAY_MS)
  await assert.rejects(makeNotices(db, now), { constraint: 'cut' })
  await db.run(sql`alter table webhook_delivery drop constraint cut`)
  assert.equal(await makeNotices(db, now), 500)
  const counted = sql`select count(*)::int as orders from webhook_delivery`
  assert.deepEqual(await db.row(counted), { orders: 2500 })
})

test('an order that never locks notifies no lock, and a revision no second sale', async (t) => {
  const { db, record, pubId, merchId, auctionId } = await start(t)
  const wanted = ['order.attributed', 'order.returned', 'order.locked'] as const
  await createWebhook(db, { owner: { pubId }, url: 'https://hooks.example/', events: wanted })
  const events = new MoneyEvents()
  const orderOf = (id: string, report = {}, click = 'a') =>
    events.order(id, START_MS, { click, report })
  const all = [
    events.click('a', START_MS, { pubId, auctionId }),
    ...[
      orderOf('plain'),
      orderOf('plain', { updated_at_ms: START_MS + 1, value_micros: 300_000_000 }),
    ],
    ...[orderOf('cancelled'), orderOf('cancelled', { is_cancelled: true }), orderOf('rejected')],
    ...[orderOf('again'), orderOf('again', { is_cancelled: true, updated_at_ms: START_MS + 1 })],
    orderOf('again', { updated_at_ms: START_MS + 2 }),
    events.decision('rejected', START_MS + 1, { kind: 'reject', reason: 'fraud' }),
    ...[orderOf('held', { hold: 'review' }), orderOf('nobody', {}, 'unknown')],
    events.goodsBack('plain', START_MS + DAY_MS, { return_id: 'too many', quantity: 9 }),
  ]
  await record(...all.map((event) => ({ ...event, merchId })))
  await makeNotices(db, new Date(START_MS + 91 * DAY_MS))
  const rows = await db.rows(sql`
    select event, payload->>'checkout_id' as id from webhook_delivery order by 1, 2`)
  assert.deepEqual(rows, [
    ...['again', 'cancelled', 'plain', 'rejected'].map((id) => ({ event: 'order.attributed', id })),
    ...['again', 'plain'].map((id) => ({ event: 'order.locked', id })),
  ])
})

test("an order that moves to a click and locks at once is notified as that click's, and as locked", async (t) => {
  const { db, record, pubId, merchId, auctionId } = await start(t)
  const wanted = ['order.attributed', 'order.locked'] as const
  await createWebhook(db, { owner: { pubId }, url: 'https://hooks.example/', events: wanted })
  const events = new MoneyEvents()
  const order = (atMs: number, by: object) => ({ ...events.order('o1', atMs, by), merchId })
  const epp = { model: MODEL.epp, termsAmount: 1_500_000 }
  await record(
    events.click('guessed', START_MS, { merchId, pubId, auctionId }),
    events.click('named', START_MS, { merchId, pubId, auctionId, ...epp }),
    order(START_MS + 1, { click: 'guessed' }),
  )
  const later = new Date(START_MS + DAY_MS)
  assert.equal(await makeNotices(db, later), 1)
  // Accepted right after the first report, but in a spool for a day.
  await record(order(START_MS + 2, { exact: 'named' }))
  assert.equal(await makeNotices(db, later), 2)
  const queued = await db.rows(sql`
    select event, payload->>'click_id' as click from webhook_delivery order by 1, 2`)
  const [guessed, named] = ['guessed', 'named'].map(clickId)
  const clicks = [guessed, named].sort()
  assert.deepEqual(queued, [
    ...clicks.map((click) => ({ event: 'order.attributed', click })),
    { event: 'order.locked', click: named },
  ])
  const revised = { exact: 'named', report: { updated_at_ms: START_MS + 3, value_micros: 1 } }
  await record(order(START_MS + 3, revised))
  await db.run(sql`delete from webhook_delivery`) // As after a month.
  assert.equal(await makeNotices(db, later), 0, 'no news')
})

test('a restored database gives no notification the id of one sent since the backup', async (t) => {
  const db = await testDatabase(t)
  const { publisher } = await makePublisherWorld(db)
  const owner = { pubId: publisher.pub_id }
  const hook = { owner, url: 'https://hooks.example/', events: ['payout.ready'] }
  const { webhook } = await createWebhook(db, hook)
  const notice = { event: 'payout.ready', pubId: owner.pubId, merchId: null, payload: {} } as const
  const queue = async (key: string) => {
    await queueNotices(db, [{ ...notice, key }], new Date(START_MS))
    return (await listDeliveries(db, { webhookId: webhook.webhook_id, owner }))[0]?.delivery_id
  }
  const lost = await queue('one')
  await db.run(sql`delete from webhook_delivery`)
  await db.run(sql`select setval('webhook_delivery_delivery_id_seq', 1, false)`)
  assert.notEqual(await queue('two'), lost)
})
