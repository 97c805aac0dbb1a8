import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startIntakeApp as start } from '../../test/support/intake-app.ts'
import { clickId, MoneyEvents } from '../../test/support/money-events.ts'
import { EVENT_TYPE, MONEY_LANE, newEvent } from '../events/event.ts'
import { insertRates } from '../orders/rate-store.ts'
import { reattributeOrders } from '../orders/reattribute-orders.ts'
import { releaseHeldOrders } from '../orders/release-held.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import { reconcile } from './reconcile.ts'

const DOLLARS = { value: '100.00', currency: 'USD' }

type App = Awaited<ReturnType<typeof start>>

/** A shop that pays 10 % commission for its clicks. */
async function startShop(t: Parameters<typeof start>[0]) {
  const app = await start(t)
  const { merch_id: merchId } = app.merchant
  await app.db.run(sql`
    insert into campaign (merch_id, model, rate_ppm) values (${merchId}, 'cpa', 100000)`)
  const clicks = new MoneyEvents()
  const click = (name: string, of = merchId) =>
    app.deps.append([clicks.click(name, app.clock.nowMs - 60_000, { merchId: of })])
  const order = (id: string, name: string, more = {}) =>
    app.post('orders', {
      orders: [{ order: { id, ...DOLLARS, click_id: clickId(name), ...more } }],
    })
  const decide = (order_id: string, decision: object) => {
    const body = JSON.stringify({ order_id, ...decision })
    const shared = { atMs: app.clock.nowMs, lane: MONEY_LANE, merchId }
    const event = { ...shared, type: EVENT_TYPE.orderDecision, id: app.deps.nextId(), body }
    return app.deps.append([newEvent(event)])
  }
  return { app, merchId, click, order, decide }
}

const orders = ({ db }: App) =>
  db.rows(sql`
    select order_id, attribution, (earnings_micros / 1000000)::int as dollars from merchant_order
    order by order_id`)

test('an order that reached the log before its click is attributed to it, and reconciles', async (t) => {
  const { app, click, order } = await startShop(t)
  await order('early', 'kept in the spool of another node')
  await order('foreign', 'of another system')
  await app.fold()
  assert.equal(await reattributeOrders(app.deps), 0)

  await click('kept in the spool of another node')
  await app.fold()
  assert.equal(await reattributeOrders(app.deps), 1)
  await app.fold()
  assert.deepEqual(await orders(app), [
    { order_id: 'early', attribution: 'exact', dollars: 10 },
    { order_id: 'foreign', attribution: null, dollars: 0 },
  ])
  assert.equal(await reattributeOrders(app.deps), 0)
  const { differences } = await reconcile(app.db, { from: null, to: null })
  assert.deepEqual(differences, [])
})

test('an order with a plain date is attributed to a click of that day, named or remembered', async (t) => {
  const { app, click, order } = await startShop(t)
  const ordered_at = utcDay(app.clock.nowMs)
  for (const name of ['named', 'remembered']) await click(name)
  await order('exact', 'named', { ordered_at })
  await order('guess', 'of another system', { ordered_at, click_ids: [clickId('remembered')] })
  await app.fold()
  assert.deepEqual(await orders(app), [
    { order_id: 'exact', attribution: 'exact', dollars: 10 },
    { order_id: 'guess', attribution: 'visitor', dollars: 10 },
  ])
  const { differences } = await reconcile(app.db, { from: null, to: null })
  assert.deepEqual(differences, [])
})

test("a plain date is the shop's own day, which ends later in the far west", async (t) => {
  const { app, click, order } = await startShop(t)
  const ordered_at = utcDay(app.clock.nowMs - DAY_MS) // It is noon: at UTC-12 the day ends.
  await click('of its last minute')
  app.clock.nowMs += 60_000
  await click('of the next day')
  for (const name of ['of its last minute', 'of the next day']) {
    await order(name, '', { click_id: null, click_ids: [clickId(name)], ordered_at })
  }
  await app.fold()
  assert.deepEqual(await orders(app), [
    { order_id: 'of its last minute', attribution: 'visitor', dollars: 10 },
    { order_id: 'of the next day', attribution: null, dollars: 0 },
  ])
  const { differences } = await reconcile(app.db, { from: null, to: null })
  assert.deepEqual(differences, [])
})

test('a plain date covers its whole day even if the clicks arrive later', async (t) => {
  const { app, click, order } = await startShop(t)
  const ordered_at = utcDay(app.clock.nowMs)
  const guess = { click_id: null, click_ids: [clickId('a')] }
  await order('clicks reported later', '', { click_id: null, ordered_at })
  await order('click comes later', '', guess)
  await order('click comes later', '', { click_id: null, ordered_at })
  await app.fold()
  await click('a')
  await app.fold()
  await order('clicks reported later', '', guess)
  assert.equal(await reattributeOrders(app.deps), 1)
  await app.fold()
  assert.deepEqual(await orders(app), [
    { order_id: 'click comes later', attribution: 'visitor', dollars: 10 },
    { order_id: 'clicks reported later', attribution: 'visitor', dollars: 10 },
  ])
  const { differences } = await reconcile(app.db, { from: null, to: null })
  assert.deepEqual(differences, [])
})

test('an order is resubmitted once, even if its late click earns nothing', async (t) => {
  const { app, merchId, click, order } = await startShop(t)
  await order('of another shop', 'a')
  await app.fold()
  await click('a', merchId + 1)
  await app.fold()
  assert.equal(await reattributeOrders(app.deps), 1)
  await app.fold()
  assert.equal(await reattributeOrders(app.deps), 0)
  assert.deepEqual(await orders(app), [
    { order_id: 'of another shop', attribution: null, dollars: 0 },
  ])
})

test('a late click that the shop named takes an open order over from a guess', async (t) => {
  const { app, merchId, click, order } = await startShop(t)
  await click('guessed')
  const guessed = { click_ids: [clickId('guessed')] }
  await order('late', 'named', guessed)
  await order('of another shop', 'foreign', guessed)
  await order('guessed late', 'guessed', { click_ids: [clickId('only remembered')] })
  await app.fold()
  assert.equal(await reattributeOrders(app.deps), 0)

  await click('named')
  await click('only remembered')
  await click('foreign', merchId + 1)
  await app.fold()
  assert.equal(await reattributeOrders(app.deps), 2)
  await app.fold()
  assert.deepEqual(await orders(app), [
    { order_id: 'guessed late', attribution: 'exact', dollars: 10 },
    { order_id: 'late', attribution: 'exact', dollars: 10 },
    { order_id: 'of another shop', attribution: 'visitor', dollars: 10 },
  ])
  assert.equal(await reattributeOrders(app.deps), 0, 'each once')
  const { differences } = await reconcile(app.db, { from: null, to: null })
  assert.deepEqual(differences, [])
})

test('an order that was rejected meanwhile is not resubmitted', async (t) => {
  const { app, click, order, decide } = await startShop(t)
  await order('o1', 'a')
  await decide('o1', { kind: 'reject', reason: 'fraud' })
  await click('a')
  await app.fold()
  assert.equal(await reattributeOrders(app.deps), 0)
})

test('an order is attributed to its late click with everything known by then', async (t) => {
  const { app, click, order, decide } = await startShop(t)
  await order('with a rate', 'a', { value: '10000', currency: 'JPY' })
  await order('revised', 'a', { value: '200.00' })
  await app.fold()
  const yen = { currency: 'JPY', usdPerBase: '1', currencyPerBase: '100' }
  await insertRates(app.db, 'bank', [{ day: utcDay(app.clock.nowMs), ...yen }])
  assert.equal(await releaseHeldOrders(app.deps), 1)
  app.clock.nowMs += 1_000
  await app.post('orders', { orders: [{ order: { id: 'revised', ...DOLLARS } }] })
  const { merch_id: organization_id } = app.merchant
  const user = { source_url: 'https://www.shop.example/thanks' }
  const held = { id: 'approved', ...DOLLARS, value: '9000000.00', click_ids: [clickId('a')] }
  const checkout = {
    organization_type: 'merchant',
    organization_id,
    user,
    events: [{ order: held }],
  }
  assert.equal((await app.checkout(checkout)).status, 201)
  await app.fold()
  assert.deepEqual(await app.db.rows(sql`select hold from merchant_order where hold is not null`), [
    { hold: 'review' },
  ])
  await decide('approved', { kind: 'approve' })
  await click('a')
  await app.fold()

  assert.equal(await reattributeOrders(app.deps), 3)
  await app.fold()
  assert.deepEqual(await orders(app), [
    { order_id: 'approved', attribution: 'visitor', dollars: 900_000 },
    { order_id: 'revised', attribution: 'exact', dollars: 10 },
    { order_id: 'with a rate', attribution: 'exact', dollars: 10 },
  ])
  assert.equal(await reattributeOrders(app.deps), 0)
  const { differences } = await reconcile(app.db, { from: null, to: null })
  assert.deepEqual(differences, [])
})
