import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, orderEntry as order, startIntakeApp } from '../../test/support/intake-app.ts'
import { orderFaults, returnFaults } from './intake-faults.ts'

test('reports faults of orders and returns that a schema cannot express', async (t) => {
  const app = await startIntakeApp(t)
  const fieldsOf = ({ status, json }: Answer): string[] => {
    assert.equal(status, 400)
    return json.error.data.map(({ field }: { field: string }) => field).toSorted()
  }
  const products = [{ price: 'free', currency: 'EUR' }, { id: 'socks', price: 5 }, null]
  const wrong = { id: 'x'.repeat(51), value: '-1', currency: 'USD' }
  const atCheckout = {
    organization_type: 'merchant',
    organization_id: app.merchant.merch_id,
    events: [
      { order: wrong, products },
      order('o1', { value: 'many', currency: 'XYZ' }),
      order('o2', { value: 7 }),
    ],
  }
  assert.deepEqual(fieldsOf(await app.checkout(atCheckout)), [
    'events[0].order.id',
    'events[0].order.value',
    'events[0].products[0].currency',
    'events[0].products[0].id',
    'events[0].products[0].price',
    'events[0].products[1].price',
    'events[0].products[2]',
    'events[1].order.currency',
    'events[1].order.value',
    'events[2].order.value',
  ])
  const future = new Date(app.clock.nowMs + 600_000).toISOString()
  const times = { ordered_at: 'soon', updated_at: future, status: 'gone' }
  assert.deepEqual(fieldsOf(await app.post('orders', { orders: [order('o', times)] })), [
    'orders[0].order.ordered_at',
    'orders[0].order.status',
    'orders[0].order.updated_at',
  ])
  const returns = [{ id: 'r', returned_at: future }, 5, { id: 'r', order_id: 'o', quantity: 0 }]
  assert.deepEqual(fieldsOf(await app.post('returns', { returns })), [
    'returns[0].order_id',
    'returns[0].product_id',
    'returns[0].returned_at',
    'returns[1]',
    'returns[1].product_id',
    'returns[2].product_id',
    'returns[2].quantity',
  ])
})

test('leaves a currency that is not a text to the schema', () => {
  const entry = { ...order('o', { currency: { toString: 1 } }), products: [{ price: '1.00' }] }
  assert.deepEqual(orderFaults(entry, { nowMs: 0 }), [])
})

test('an order and a return may be dated on the day that has started in the far east', () => {
  const context = { nowMs: Date.parse('2026-03-02T12:00:00Z') } // Midnight in Auckland.
  const fieldsOf = (day: string) => [
    ...orderFaults(order('o', { ordered_at: day }), context).map(({ field }) => field),
    ...returnFaults({ line: 0, returned_at: day }, context).map(({ field }) => field),
  ]
  assert.deepEqual(fieldsOf('2026-03-03'), [])
  for (const future of ['2026-03-04', '2026-03-03T00:00:00Z']) {
    assert.deepEqual(fieldsOf(future), ['order.ordered_at', 'returned_at'], future)
  }
})

test('refuses an id that is blank', () => {
  const context = { nowMs: 0 }
  const fields = (faults: readonly { field: string }[]) => faults.map(({ field }) => field)
  assert.deepEqual(fields(orderFaults(order(' \n'), context)), ['order.id'])
  const blank = { id: ' ', order_id: '\t', product_id: ' ' }
  assert.deepEqual(fields(returnFaults(blank, context)), ['id', 'order_id', 'product_id'])
  assert.deepEqual(
    returnFaults({ id: 'r1', order_id: 'o1', product_id: ' ', line: 0 }, context),
    [],
  )
})
