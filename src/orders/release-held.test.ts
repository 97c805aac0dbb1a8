import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startIntakeApp as start } from '../../test/support/intake-app.ts'
import { EVENT_TYPE, MONEY_LANE, newEvent } from '../events/event.ts'
import { sql } from '../platform/postgres/sql.ts'
import { AMOUNTS_OPEN_MS } from './order-states.ts'
import { insertRates } from './rate-store.ts'
import { releaseHeldOrders } from './release-held.ts'

type App = Awaited<ReturnType<typeof start>>

const order = (id: string, value = '100.00') => ({ order: { id, value, currency: 'EUR' } })
const checkout = (app: App, event: ReturnType<typeof order>) =>
  app.checkout({
    organization_type: 'merchant',
    organization_id: app.merchant.merch_id,
    user: { source_url: 'https://shop.example/thanks' },
    events: [event],
  })

const importRate = (app: App) =>
  insertRates(app.db, 'ecb', [
    { day: '2026-04-13', currency: 'EUR', usdPerBase: '1.5', currencyPerBase: '1' },
  ])

const orders = (app: App) =>
  app.db.rows(sql`
    select order_id, hold, (revenue_micros / 1000000)::int as dollars from merchant_order
    order by order_id`)

test('an order counts once a rate arrives, even after its amounts would be final', async (t) => {
  const app = await start(t)
  await app.post('orders', { orders: [order('o1')] })
  await app.fold()
  app.clock.nowMs += AMOUNTS_OPEN_MS
  await importRate(app)
  assert.equal(await releaseHeldOrders(app.deps), 1)
  await app.fold()
  assert.deepEqual(await orders(app), [{ order_id: 'o1', hold: null, dollars: 150 }])
  assert.equal(await releaseHeldOrders(app.deps), 0)
})

test('an order that a rate does not change is neither released nor repeated', async (t) => {
  const app = await start(t)
  await app.post('orders', { orders: [order('rejected')] })
  const body = JSON.stringify({ order_id: 'rejected', kind: 'reject', reason: 'fraud' })
  const { merch_id: merchId } = app.merchant
  const shared = {
    atMs: app.clock.nowMs,
    lane: MONEY_LANE,
    type: EVENT_TYPE.orderDecision,
    merchId,
  }
  await app.deps.append([newEvent({ ...shared, id: app.deps.nextId(), body })])
  await app.fold()
  await importRate(app)
  assert.equal(await releaseHeldOrders(app.deps), 0)
  const logged = await app.db.row(sql`select count(*)::int as events from event`)
  assert.deepEqual(logged, { events: 2 })
})

test('an order from several sources without a rate is released once', async (t) => {
  const app = await start(t)
  await app.post('orders', { orders: [order('o1')] })
  await checkout(app, order('o1'))
  await app.fold()
  await importRate(app)
  assert.equal(await releaseHeldOrders(app.deps), 1)
  await app.fold()
  assert.deepEqual(await orders(app), [{ order_id: 'o1', hold: null, dollars: 150 }])
})

test('of two large orders released by a rate, the one known only from a browser stays held', async (t) => {
  const app = await start(t)
  await app.post('orders', { orders: [order('by server', '9000.00')] })
  await checkout(app, order('by browser', '9000.00'))
  await app.fold()
  await importRate(app)
  assert.equal(await releaseHeldOrders(app.deps), 1)
  await app.fold()
  assert.deepEqual(await orders(app), [
    { order_id: 'by browser', hold: 'review', dollars: 13_500 },
    { order_id: 'by server', hold: null, dollars: 13_500 },
  ])
})

test('a released order is repeated unchanged, and keeps its products', async (t) => {
  const app = await start(t)
  const products = [{ id: 'socks', price: '100.00' }]
  await app.post('orders', { orders: [{ ...order('o1'), products }] })
  app.clock.nowMs += 1000
  await app.post('orders', { orders: [order('o1')] })
  await app.fold()
  await importRate(app)
  assert.equal(await releaseHeldOrders(app.deps), 1)
  await app.fold()
  assert.deepEqual(await app.db.rows(sql`select product_id from order_line`), [
    { product_id: 'socks' },
  ])
  const [last] = await app.db.rows<{ report: object }>(sql`
    select body->'report' as report from event order by seq desc limit 1`)
  assert.deepEqual(
    Object.entries(last?.report ?? {}).find(([key]) => key === 'lines'),
    ['lines', []],
  )
  assert.ok(!('listed' in (last?.report ?? {})))
})
