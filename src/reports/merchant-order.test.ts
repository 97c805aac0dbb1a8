import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { foldBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase } from '../../test/support/database.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { MICROS_PER_DOLLAR } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'
import { merchantRoutes } from './merchant-routes.ts'

const NOW = new Date('2026-08-01T00:00:00Z')
const microsOf = (dollars: string) => Math.round(Number(dollars) * MICROS_PER_DOLLAR)

const db = await testDatabase()
const { one, other } = await foldBusyLog({ after }, db)
const http = await startQuietHttp({ after })
const keys = makeKeyGuard({
  db,
  brandWords: ['service'],
  limits: null,
  baseUrl: 'http://127.0.0.1',
  now: () => NOW,
})
await http.register(merchantRoutes({ db, keys, now: () => NOW }))
const { merch_id: merchId } = one.merchant
await updateMerchant(db, { merchId, changes: { uid: one.publisher.uid } })

function get(orderId: string, { id = merchId, headers = one.headers as object } = {}) {
  const url = `/api/v1/merchants/${id}/orders/${encodeURIComponent(orderId)}/`
  return http.inject({ url, headers: { ...headers } })
}

async function everyOrder() {
  const ids = await db.rows<{ order_id: string; owed: string; is_reported: boolean }>(sql`
    select order_id, accepted_at is not null as is_reported,
      coalesce((
        select -sum(amount_micros) from ledger_line join ledger_transaction using (transaction_id)
        where account = 'merchant' and merch_id = bought.merch_id
          and 'order:' || merch_id || ':' || order_id in (idempotency_key, corrects)
      ), 0)::text as owed
    from merchant_order bought where merch_id = ${merchId} order by order_id`)
  return Promise.all(
    ids.map(async (row) => {
      const answer = await get(row.order_id)
      assert.equal(answer.statusCode, 200, answer.body)
      return { ...row, body: answer.body, order: answer.json().data[0] }
    }),
  )
}

test('a merchant can compute the cost of each order and finds exactly that in its account', async () => {
  const orders = await everyOrder()
  for (const { order_id, owed, is_reported, order } of orders) {
    assert.equal(order.checkout_id, order_id)
    assert.equal(order.order_id !== null, is_reported)
    const sum = (rows: Record<string, string>[], column: string) =>
      rows.reduce((total, row) => total + microsOf(row[column] ?? ''), 0)
    assert.equal(microsOf(order.net_commission_usd), Number(owed), order_id)
    assert.equal(0 - sum(order.entries, 'amount_usd'), Number(owed), order_id)
    assert.equal(sum(order.lines, 'line_commission_usd'), microsOf(order.commission_usd), order_id)
    if (order.net_commission_usd !== '0.00') {
      const back = sum(order.returns, 'return_commission_usd')
      assert.equal(microsOf(order.commission_usd) + back, Number(owed), order_id)
    }
    if (order.terms?.model === 'cpa') {
      // None of these is a tie, so any rounding to the nearest gives the same.
      const exact = microsOf(order.revenue_usd) * order.terms.rate
      assert.equal(microsOf(order.commission_usd), Math.round(exact), order_id)
    }
    if (order.terms?.model === 'epp') assert.equal(order.commission_usd, order.terms.payment_usd)
  }
  const models = new Set(orders.map(({ order }) => order.terms?.model))
  assert.deepEqual([...models].sort(), ['cpa', 'cpc', 'epp', undefined])
  assert.ok(orders.some(({ order }) => order.returns.length > 0))
})

test('a merchant sees nothing of an order that concerns only its publisher', async () => {
  for (const { body, order } of await everyOrder()) {
    assert.doesNotMatch(body, /earnings|share/)
    for (const { account, merch_id } of order.entries) {
      assert.deepEqual([account, merch_id], ['merchant', merchId])
    }
  }
})

test('a merchant does not see the time of a click that led to another shop', async () => {
  const id = '0123456789abcdef'.repeat(2)
  const evidence = JSON.stringify([
    { id, at_ms: NOW.getTime(), verdict: 'other_merchant' },
    { id, at_ms: NOW.getTime(), verdict: 'outside_window' },
  ])
  await db.run(sql`
    update merchant_order set account = jsonb_set(account, '{evidence}', ${evidence}::jsonb)
    where merch_id = ${merchId} and order_id = 'odd/ö'`)
  assert.deepEqual((await get('odd/ö')).json().data[0].evidence, [
    { click_id: id, clicked_at: null, verdict: 'other_merchant' },
    { click_id: id, clicked_at: '2026-08-01T00:00:00Z', verdict: 'outside_window' },
  ])
})

test("only the key of the merchant's user can read an order", async () => {
  assert.equal((await get('odd/ö')).statusCode, 200)
  assert.equal((await get('odd/ö', { headers: {} })).statusCode, 401)
  assert.equal((await get('odd/ö', { headers: other.headers })).statusCode, 403)
  assert.equal((await get('odd/ö', { id: other.merchant.merch_id })).statusCode, 403)
  assert.equal((await get('nobody’s')).statusCode, 404)
})
