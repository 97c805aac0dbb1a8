import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { EVENT_TYPE, MODEL, type StoredEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { acceptOrders } from '../orders/intake.ts'
import { readOrder } from '../orders/read-order.ts'
import type { ServerOrder } from '../orders/schema.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { reconcile } from '../reconcile/reconcile.ts'
import { deleteSeenLinks } from './fold-seen-links.ts'

const MINUTE_MS = 60_000
const RATE_PPM = 30_000

/**
 * A page of one publisher that shows offers of two shops. Its reader clicks the other shop's offer.
 */
async function start(t: TestContext, { ratePpm = RATE_PPM as number | null } = {}) {
  const db = await testDatabase(t)
  const [one, other] = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')]
  const { auctionId, articleId } = await one.addArticle('Mugs')
  const merchId = one.merchant.merch_id
  const changes = { post_impression_rate_ppm: ratePpm }
  const merchant = await updateMerchant(db, { merchId, changes })
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const { pub_id: pubId } = one.publisher
  const inSession = { pubId, auctionId, sessionKey: Buffer.from('session'.padEnd(16)) }
  const append = (...added: StoredEvent[]) => log.append(added)
  const view = (type: StoredEvent['type'], atMs: number, fields: Partial<StoredEvent> = {}) =>
    events.at(atMs, { type, lane: viewLane(pubId), ...inSession, ...fields })
  const order = async (
    id: string,
    atMs: number,
    ids: Partial<ServerOrder['order']>,
    by = merchant,
  ) => {
    const entry = { order: { id, value: '550.00', currency: 'USD', ...ids } }
    const read = [readOrder(entry, { source: 's2s', nowMs: atMs })]
    const intake = { append: log.append, nextId: () => events.at(atMs, {}).id, now: () => atMs }
    await acceptOrders({ db, ...intake }, by, { orders: read, listName: 'orders' })
    await log.fold()
  }
  await append(
    events.click('there', START_MS, {
      ...inSession,
      ...{ merchId: other.merchant.merch_id, campaignId: null, sharePpm: 750_000 },
    }),
    view(EVENT_TYPE.placement, START_MS, { merchId }),
    view(EVENT_TYPE.linkViewable, START_MS + MINUTE_MS),
  )
  await log.fold()
  return { db, merchId, pubId, articleId, auctionId, events, log, append, order, view }
}

function find(db: Db, id: string) {
  return db.row<Record<string, unknown>>(sql`
    select attribution, pub_id, article_id, campaign_id, model, net_commission_micros as commission,
      net_earnings_micros as earnings, locks_at, account->'evidence' as evidence
    from merchant_order where order_id = ${id}`)
}

test('an order after a viewed link pays the merchant’s own rate, and reconciles', async (t) => {
  const { db, order, pubId, articleId } = await start(t)
  const atMs = START_MS + 2 * MINUTE_MS
  await order('seen', atMs, { click_ids: [clickId('there')] })
  const found = await find(db, 'seen')
  assert.deepEqual(found, {
    attribution: 'impression',
    pub_id: pubId,
    article_id: articleId,
    campaign_id: null,
    model: MODEL.cpa,
    commission: '16500000', // 3 % of 550
    earnings: '12375000', // three quarters of it
    locks_at: new Date(atMs + 90 * DAY_MS),
    evidence: [
      { id: clickId('there'), at_ms: START_MS, verdict: 'other_merchant' },
      { id: '3', at_ms: START_MS + MINUTE_MS, verdict: 'won' },
    ],
  })
  const taught = await db.rows(sql`select from pair_evidence where orders > 0`)
  assert.deepEqual(taught, [], 'it says nothing about clicks')
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
})

test('the latest of several views gets the order, also when they are folded together', async (t) => {
  const { db, log, order, append, view } = await start(t)
  const at = (minutes: number) => view(EVENT_TYPE.linkViewable, START_MS + minutes * MINUTE_MS)
  const [before, latest, between] = [at(2), at(4), at(3)]
  await append(before, latest, between)
  await log.fold()
  await order('seen', START_MS + 5 * MINUTE_MS, { click_ids: [clickId('there')] })
  const evidence = (await find(db, 'seen'))?.evidence as { id: string; verdict: string }[]
  assert.deepEqual(evidence.find(({ verdict }) => verdict === 'won')?.id, latest.id)
})

test('a view earns only if the merchant pays for views, and if it was in view, in time, by its visitor', async (t) => {
  const off = await start(t, { ratePpm: null })
  await off.order('off', START_MS + 2 * MINUTE_MS, { click_ids: [clickId('there')] })
  assert.equal((await find(off.db, 'off'))?.attribution, null)

  const on = await start(t)
  await on.order('stranger', START_MS + 2 * MINUTE_MS, {})
  await on.order('before', START_MS + 30_000, { click_ids: [clickId('there')] })
  await on.order('late', START_MS + 24 * 60 * MINUTE_MS + MINUTE_MS + 1, {
    click_ids: [clickId('there')],
  })
  for (const id of ['stranger', 'before', 'late']) {
    assert.equal((await find(on.db, id))?.attribution, null, id)
  }
  assert.deepEqual((await reconcile(on.db, { from: null, to: null })).differences, [])
})

test('a viewed link gets orders only of the merchant whose offer it showed', async (t) => {
  const { db, order } = await start(t)
  const { merch_id: merchId } = (await makePublisherWorld(db, 'another')).merchant
  const changes = { post_impression_rate_ppm: RATE_PPM }
  const another = await updateMerchant(db, { merchId, changes })
  await order('elsewhere', START_MS + 2 * MINUTE_MS, { click_ids: [clickId('there')] }, another)
  assert.equal((await find(db, 'elsewhere'))?.attribution, null)
})

test('any click replaces a view while the order is pending, in either order of arrival', async (t) => {
  const { db, append, events, order, merchId, auctionId, pubId } = await start(t)
  const atMs = START_MS + 2 * MINUTE_MS
  await append(events.click('here', atMs, { merchId, auctionId, pubId, campaignId: null }))
  await order('one', atMs + 1, { click_ids: [clickId('there')] })
  assert.equal((await find(db, 'one'))?.attribution, 'impression')
  await order('one', atMs + 2, { click_ids: [clickId('here')] })
  await order('other', atMs + 2, { click_ids: [clickId('here')] })
  await order('other', atMs + 3, { click_ids: [clickId('there')] })
  for (const id of ['one', 'other']) {
    const found = await find(db, id)
    assert.deepEqual([found?.attribution, found?.commission], ['visitor', '55000000'], id)
  }
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
})

test('reconcile finds an order that names an impression missing from the log', async (t) => {
  const { db, order } = await start(t)
  await order('seen', START_MS + 2 * MINUTE_MS, { click_ids: [clickId('there')] })
  await db.run(sql`
    update event set session_key = ${Buffer.from('somebody else'.padEnd(16))}
    where type = ${EVENT_TYPE.linkViewable}`)
  const { differences } = await reconcile(db, { from: null, to: null })
  const attribution = differences.find(({ column }) => column === 'attribution')
  assert.deepEqual([attribution?.expected, attribution?.found], [null, 'impression'])
})

test('reversing the click that identified a visitor reverses the commission', async (t) => {
  const { db, append, events, log, order } = await start(t)
  await order('seen', START_MS + 2 * MINUTE_MS, { click_ids: [clickId('there')] })
  const body = JSON.stringify({ click_id: clickId('there'), reason: 'bought' })
  await append(events.at(START_MS + 3 * MINUTE_MS, { type: EVENT_TYPE.reversal, body }))
  await log.fold()
  assert.equal((await find(db, 'seen'))?.commission, '0')
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
})

test('a reversal covers the orders of two shops with the same order id', async (t) => {
  const { db, append, events, log, order } = await start(t)
  const atMs = START_MS + 2 * MINUTE_MS
  await order('1001', atMs, { click_ids: [clickId('there')] })
  const [there] = await db.rows<{ merch_id: number }>(sql`select merch_id from click`)
  const merchId = there?.merch_id ?? 0
  const body = JSON.stringify({ click_id: clickId('there'), reason: 'bought' })
  await append(
    events.order('1001', atMs, { merchId, exact: 'there' }),
    events.at(START_MS + 3 * MINUTE_MS, { type: EVENT_TYPE.reversal, body }),
  )
  await log.fold()
  const orders = await db.rows(sql`
    select attribution, net_commission_micros as commission from merchant_order
    order by attribution`)
  assert.deepEqual(orders, [
    { attribution: 'exact', commission: '0' },
    { attribution: 'impression', commission: '0' },
  ])
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
})

test('views are recorded only for such merchants, not for robots, and deleted soon', async (t) => {
  const { db, append, view, log, merchId } = await start(t)
  const key = (name: string) => ({ sessionKey: Buffer.from(name.padEnd(16)) })
  await append(
    view(EVENT_TYPE.placement, START_MS, { merchId, ...key('robot'), reason: REASON.robot }),
    view(EVENT_TYPE.placement, START_MS, { merchId: merchId + 1, ...key('another shop') }),
    view(EVENT_TYPE.linkViewable, START_MS, key('nobody knows')),
  )
  await log.fold()
  const rows = () => db.rows(sql`select seen_at from seen_link`)
  assert.deepEqual(await rows(), [{ seen_at: new Date(START_MS + MINUTE_MS) }])
  assert.equal(await deleteSeenLinks(db, new Date(START_MS)), 0)
  assert.equal(await deleteSeenLinks(db, new Date(START_MS + 1)), 1)
})
