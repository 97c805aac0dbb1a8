import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startIntakeApp as start } from '../../test/intake-app.ts'
import { clickId, MoneyEvents } from '../../test/money-events.ts'
import { retellOrders } from '../attribution/retell-orders.ts'
import { EVENT_TYPE, MONEY_LANE, newEvent } from '../events/event.ts'
import { sql } from '../platform/sql.ts'
import { reconcile } from './reconcile.ts'

type App = Awaited<ReturnType<typeof start>>

/** A shop that pays a commission of 10 % for what its clicks bring. */
async function startShop(t: Parameters<typeof start>[0]) {
  const app = await start(t)
  const { merch_id: merchId } = app.merchant
  await app.db.run(sql`
    insert into campaign (merch_id, model, rate_ppm) values (${merchId}, 'cpa', 100000)`)
  const clicks = new MoneyEvents()
  const click = (name: string, of = merchId) =>
    app.deps.append([clicks.click(name, app.clock.nowMs - 60_000, { merchId: of })])
  const order = (id: string, name: string) =>
    app.post('orders', {
      orders: [{ order: { id, value: '100.00', currency: 'USD', click_id: clickId(name) } }],
    })
  return { app, merchId, click, order }
}

const orders = ({ db }: App) =>
  db.rows(sql`
    select order_id, attribution, (earnings_micros / 1000000)::int as dollars from merchant_order
    order by order_id`)

test('an order that came into the log before its click is owed to it, and reconciles', async (t) => {
  const { app, click, order } = await startShop(t)
  await order('early', 'kept in the spool of another node')
  await order('foreign', 'of another system')
  await app.fold()
  assert.equal(await retellOrders(app.deps), 0)

  await click('kept in the spool of another node')
  await app.fold()
  assert.equal(await retellOrders(app.deps), 1)
  await app.fold()
  assert.deepEqual(await orders(app), [
    { order_id: 'early', attribution: 'exact', dollars: 10 },
    { order_id: 'foreign', attribution: null, dollars: 0 },
  ])
  assert.equal(await retellOrders(app.deps), 0)
  const { differences } = await reconcile(app.db, { from: null, to: null })
  assert.deepEqual(differences, [])
})

test('an order is told again once, also where its late click earns nothing', async (t) => {
  const { app, merchId, click, order } = await startShop(t)
  await order('of another shop', 'a')
  await app.fold()
  await click('a', merchId + 1)
  await app.fold()
  assert.equal(await retellOrders(app.deps), 1)
  await app.fold()
  assert.equal(await retellOrders(app.deps), 0)
  assert.deepEqual(await orders(app), [
    { order_id: 'of another shop', attribution: null, dollars: 0 },
  ])
})

test('an order that was rejected meanwhile is not told again', async (t) => {
  const { app, merchId, click, order } = await startShop(t)
  await order('o1', 'a')
  const body = JSON.stringify({ order_id: 'o1', kind: 'reject', reason: 'fraud' })
  const shared = { atMs: app.clock.nowMs, lane: MONEY_LANE, merchId }
  const decision = { ...shared, type: EVENT_TYPE.orderDecision, id: app.deps.nextId(), body }
  await app.deps.append([newEvent(decision)])
  await click('a')
  await app.fold()
  assert.equal(await retellOrders(app.deps), 0)
})
