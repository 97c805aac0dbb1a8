/** Repeated reports of one order: its time and its money stay. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkoutOf,
  fileOf,
  orderEntry,
  startIntakeApp as start,
} from '../../test/support/intake-app.ts'
import { EVENT_TYPE, MONEY_LANE, newEvent } from '../events/event.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { importOrders } from './import-orders.ts'
import { AMOUNTS_OPEN_MS } from './order-states.ts'
import { insertRates } from './rate-store.ts'

const order = (id: string, changes: object = {}) =>
  orderEntry(id, { value: '100.00', currency: 'EUR', ...changes })
const euroRate = (day: string, usdPerBase: string) => ({
  ...{ day, usdPerBase, currency: 'EUR', currencyPerBase: '1' },
})

type App = Awaited<ReturnType<typeof start>>

/** Each order's checkout time and its dollars, in the order of their ids. */
async function foldedOrders(app: App) {
  await app.fold()
  const rows = await app.db.rows<{ at: Date; revenue: string }>(sql`
    select ordered_at as at, revenue_micros::bigint as revenue from merchant_order
    order by order_id`)
  return rows.map(({ at, revenue }) => [at.getTime(), Number(revenue) / 1e6])
}

test('a repeated order keeps its checkout time and its rate, folded or not (P47)', async (t) => {
  const app = await start(t)
  const { clock, merchant } = app
  await insertRates(app.db, 'ecb', [euroRate('2026-04-13', '1.5')])
  const firstMs = clock.nowMs
  const report = async () => {
    await app.checkout(checkoutOf(merchant.merch_id, [order('page')]))
    await app.post('orders', { orders: [order('server')] })
  }
  await report()
  clock.nowMs += 4_000
  await report()
  const once = [
    [firstMs, 150],
    [firstMs, 150],
  ]
  assert.deepEqual(await foldedOrders(app), once, 'the first report was not folded yet')

  clock.nowMs += DAY_MS
  await insertRates(app.db, 'ecb', [euroRate('2026-04-14', '1.2')])
  await report()
  assert.deepEqual(await foldedOrders(app), once)

  clock.nowMs += 4_000
  await app.post('orders', { orders: [order('server', { value: '50.00' })] })
  assert.deepEqual(
    await foldedOrders(app),
    [
      [firstMs, 150],
      [firstMs, 75],
    ],
    'another amount is converted by the same rate',
  )
})

test('ignores spaces around an id, in orders and returns of every source', async (t) => {
  const app = await start(t)
  const { deps, merchant } = app
  const click_id = '00112233445566778899aabbccddeeff'
  const products = [{ id: ' socks ', price: '100.00' }]
  const printed = orderEntry('\n o1 ', { click_id: `${click_id}\n`, currency: 'USD' }, products)
  await app.checkout(checkoutOf(merchant.merch_id, [printed]))
  await app.post('orders', { orders: [printed] })
  await importOrders(deps, merchant, fileOf(deps, 'order_id,value,currency\n o1 ,100.00,USD'))
  const back = { id: 'r1 ', order_id: 'o1 ', product_id: 'socks\t' }
  assert.equal((await app.post('returns', { returns: [back] })).status, 201)
  await app.fold()
  const [stored, ...others] = await app.db.rows(sql`
    select order_id, return_id, state, product_id, (
      select jsonb_agg(distinct body->'exact_click_id') from event where body ? 'exact_click_id'
    ) as clicks
    from merchant_order full join order_return using (merch_id, order_id)`)
  assert.deepEqual(stored, {
    ...{ order_id: 'o1', return_id: 'r1', state: 'applied', product_id: 'socks' },
    clicks: [null, click_id],
  })
  assert.deepEqual(others, [])
})

test('a reported time applies from then on, with the rate of its day', async (t) => {
  const app = await start(t)
  const rates = [euroRate('2026-04-12', '1.2'), euroRate('2026-04-13', '1.5')]
  await insertRates(app.db, 'ecb', rates)
  const ordered_at = '2026-04-12T10:00:00.000Z'
  for (const times of [{}, { ordered_at }, {}]) {
    await app.post('orders', { orders: [order('o1', times)] })
    app.clock.nowMs += 1000
  }
  assert.deepEqual(await foldedOrders(app), [[Date.parse(ordered_at), 120]])
})

test('time and money of an order do not depend on which source reports first (P41)', async (t) => {
  const app = await start(t)
  const firstMs = app.clock.nowMs
  await insertRates(app.db, 'ecb', [euroRate('2026-04-13', '1.5')])
  const reportByPage = (id: string) => app.checkout(checkoutOf(app.merchant.merch_id, [order(id)]))
  const reportByServer = (id: string) => app.post('orders', { orders: [order(id)] })
  await reportByPage('page first')
  await reportByServer('server first')
  app.clock.nowMs += DAY_MS
  await insertRates(app.db, 'ecb', [euroRate('2026-04-14', '1.2')])
  await reportByPage('server first')
  await reportByServer('page first')
  assert.deepEqual(await foldedOrders(app), [
    [firstMs, 150],
    [firstMs, 150],
  ])
})

test('a corrected rate applies to later orders, and earlier ones keep theirs', async (t) => {
  const app = await start(t)
  const report = (id: string) => app.post('orders', { orders: [order(id)] })
  const imported = async (usdPerBase: string) =>
    insertRates(app.db, 'ecb', [euroRate('2026-04-13', usdPerBase)])
  assert.deepEqual(await imported('1.1'), { new: 1, changed: 0, same: 0 })
  await report('before')
  assert.deepEqual(await imported('1.10'), { new: 0, changed: 0, same: 1 })
  assert.deepEqual(await imported('1.5'), { new: 0, changed: 1, same: 0 })
  await report('later')
  app.clock.nowMs += 1000
  await report('before')
  await app.fold()
  const rows = await app.db.rows(sql`
    select order_id, usd_per_base, revenue_micros::bigint / 1000000 as dollars
    from merchant_order join exchange_rate rate on rate.rate_id::text = merchant_order.rate_id
    order by order_id`)
  assert.deepEqual(rows, [
    { order_id: 'before', usd_per_base: '1.1', dollars: '110' },
    { order_id: 'later', usd_per_base: '1.5', dollars: '150' },
  ])
  assert.deepEqual(await imported('1.1'), { new: 0, changed: 1, same: 0 }, 'and back')
})

test('of two rates of one day in one import the last counts', async (t) => {
  const app = await start(t)
  const twice = [euroRate('2026-04-13', '1.1'), euroRate('2026-04-13', '1.5')]
  assert.deepEqual(await insertRates(app.db, 'ecb', twice), { new: 1, changed: 0, same: 0 })
  assert.deepEqual(await insertRates(app.db, 'ecb', twice), { new: 0, changed: 0, same: 1 })
  await app.post('orders', { orders: [order('o1')] })
  assert.deepEqual(await foldedOrders(app), [[app.clock.nowMs, 150]])
})

const SOCKS = { id: 'socks', price: '40.00' }
const CLOSED = 'amounts closed on 2026-07-12; only a return changes it'

/** An order of 100 dollars, reported after its amounts were final. */
async function startClosed(t: Parameters<typeof start>[0]) {
  const app = await start(t)
  await app.post('orders', { orders: [order('o1', { currency: 'USD' })] })
  await app.fold()
  app.clock.nowMs += AMOUNTS_OPEN_MS
  const report = async (changes: object, more: object = {}) => {
    app.clock.nowMs += 1000
    const changed = { ...order('o1', { currency: 'USD', ...changes }), ...more }
    const answer = await app.post('orders', {
      orders: [order('new', { currency: 'USD' }), changed],
    })
    assert.equal(answer.json.data[0].ignored, null, 'the batch is taken')
    return answer.json.data[1].ignored
  }
  return { app, report }
}

test('names a change that comes after the amounts are final, and accepts the rest of the batch', async (t) => {
  const { app, report } = await startClosed(t)
  assert.equal(await report({ status: 'cancelled' }), `order.status: ${CLOSED}`)
  assert.equal(await report({ value: '50.00' }), `order.value: ${CLOSED}`)
  assert.equal(await report({}, { products: [SOCKS] }), `products: ${CLOSED}`)
  await insertRates(app.db, 'ecb', [euroRate('2026-04-13', '1.5')])
  assert.equal(await report({ currency: 'EUR' }), `order.currency: ${CLOSED}`)
  const revenues = (await foldedOrders(app)).map(([, revenue]) => revenue)
  assert.deepEqual(revenues, [100, 100])
})

test('after that day, a repeat, an older report and a browser’s report are not faults', async (t) => {
  const { app, report } = await startClosed(t)
  assert.equal(await report({}), null)
  assert.equal(await report({ value: '100' }), null)
  assert.equal(await report({ value: '50.00', updated_at: '2026-04-13T11:00:00Z' }), null)
  const page = checkoutOf(app.merchant.merch_id, [order('o1', { currency: 'USD', value: '7.00' })])
  assert.equal((await app.checkout(page)).status, 201)
  const file = await importOrders(
    app.deps,
    app.merchant,
    fileOf(app.deps, 'order_id,value,currency\no1,50,USD\n'),
  )
  assert.equal(file.imported, 1, 'a file does not override the server’s earlier report')
})

test('a server that changes a rejected order learns so at once', async (t) => {
  const app = await start(t)
  const report = (changes: object = {}) =>
    app.post('orders', { orders: [order('o1', { currency: 'USD', ...changes })] })
  await report()
  await app.deps.append([
    newEvent({
      ...{ id: app.deps.nextId(), atMs: app.clock.nowMs, lane: MONEY_LANE },
      ...{ type: EVENT_TYPE.orderDecision, merchId: app.merchant.merch_id },
      body: JSON.stringify({ order_id: 'o1', kind: 'reject', reason: 'fraud' }),
    }),
  ])
  const rejected = 'order.value: rejected on 2026-04-13: fraud; no report changes it'
  for (const moment of ['the fold is behind', 'all is folded']) {
    app.clock.nowMs += 1000
    assert.equal((await report()).json.data[0].ignored, null, `${moment}: the same again`)
    assert.equal((await report({ value: '50.00' })).json.data[0].ignored, rejected, moment)
    await app.fold()
  }
})

test('a report may withdraw a cancellation until the order would have locked', async (t) => {
  const app = await start(t)
  for (const status of ['placed', 'cancelled', 'placed', 'cancelled']) {
    app.clock.nowMs += 1000
    const sent = order('o1', { currency: 'USD', status })
    assert.equal((await app.post('orders', { orders: [sent] })).status, 201)
    await app.fold()
  }
})

test('an import leaves out orders with final amounts, and says why', async (t) => {
  const { app } = await startClosed(t)
  const rows = 'order_id,value,currency,status\no1,100.00,USD,cancelled\nnew,5.00,USD,\n'
  const { imported, rejected } = await importOrders(app.deps, app.merchant, fileOf(app.deps, rows))
  assert.deepEqual([imported, rejected], [2, []], 'the server is believed more')
  const csv = 'order_id,value,currency\nfiled,5.00,USD\n'
  await importOrders(app.deps, app.merchant, fileOf(app.deps, csv))
  await app.fold()
  app.clock.nowMs += AMOUNTS_OPEN_MS
  const later = await importOrders(
    app.deps,
    app.merchant,
    fileOf(app.deps, csv.replace('5.00', '6.00')),
  )
  assert.equal(later.imported, 0)
  assert.match(later.rejected[0]?.faults[0]?.rule ?? '', /amounts closed on 2026-10-10/)
})
