/** Imports of orders from files: accepted entries, and rejected ones with line and reason. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileOf, startIntakeApp as start } from '../../test/support/intake-app.ts'
import { sql } from '../platform/postgres/sql.ts'
import { importOrders, importReturns } from './import-orders.ts'

const HEADER =
  'order_id,value,currency,status,click_id,click_ids,ordered_at,updated_at,product_id,price'

test('rejects rows of one order that contradict each other', async (t) => {
  const { deps, merchant, db, fold } = await start(t)
  const rows = [
    'a,30.00,USD,placed,,,,,A,30.00',
    'a,20.00,USD,cancelled,,,,,B,20.00',
    'b,30.00,USD,,c1,c2,2026-04-12,2026-04-13,A,30.00',
    'b,30.00,EUR,,c2,c3,2026-04-13,2026-04-12,A,30.00',
    'c,30.00,usd,placed,,,2026-04-12,,A,10.00',
    'c,,,,,,,,B,10.00',
    'c,30,USD,placed,,,2026-04-12,,C,10.00',
    'd,,USD,,,,,,A,10.00',
    'd,20.00,,,,,,,B,10.00',
  ]
  const file = [HEADER, ...rows].join('\n')
  const { imported, rejected } = await importOrders(deps, merchant, fileOf(deps, file))
  assert.equal(imported, 2)
  const differ = (lines: string, ...fields: string[]) =>
    fields.map((field) => ({
      field: `order.${field}`,
      rule: `line ${lines}; it is the whole order’s`,
    }))
  assert.deepEqual(rejected, [
    { line: 2, id: 'a', faults: differ('3 differs from line 2', 'value', 'status') },
    {
      ...{ line: 4, id: 'b' },
      faults: differ(
        '5 differs from line 4',
        ...['currency', 'click_id', 'click_ids', 'ordered_at', 'updated_at'],
      ),
    },
  ])
  await fold()
  const stored = await db.rows(sql`
    select order_id, value, count(*)::int as lines from merchant_order
      join order_line using (merch_id, order_id)
    group by order_id, value order by order_id`)
  assert.deepEqual(stored, [
    { order_id: 'c', value: '30.00', lines: 3 },
    { order_id: 'd', value: '20.00', lines: 2 },
  ])
})

test('a fault names a field of its entry and the entry itself', async (t) => {
  const { deps, merchant } = await start(t)
  const orders = await importOrders(
    deps,
    merchant,
    fileOf(
      deps,
      [
        'order_id,value,currency,status,product_id,quantity,price',
        'a,many,USD,,,,',
        'b,1.00,USD,gone,A,none,1.00',
        'c,10000000.01,USD,,,,',
        'd,5.00,USD,,socks,1,5.00',
      ].join('\n'),
    ),
  )
  const returns = await importReturns(
    deps,
    merchant,
    fileOf(
      deps,
      'return_id,order_id,product_id,quantity\nx,d,,1\nok,d,socks,1\ny,d,socks,1\nz,d,shoes,0\n',
    ),
  )
  const rejected = [...orders.rejected, ...returns.rejected].map(({ id, faults }) => [
    id,
    ...faults.map(({ field }) => field),
  ])
  assert.deepEqual(rejected, [
    ['a', 'order.value'],
    ['b', 'order.status', 'products[0].quantity'],
    ['c', 'order.value'],
    ['x', 'product_id'],
    ['y', 'quantity'],
    ['z', 'quantity'],
  ])
})
