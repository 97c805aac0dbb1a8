import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkoutOf,
  orderEntry as order,
  startIntakeApp as start,
} from '../../test/support/intake-app.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { appendMoney } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { sql } from '../platform/postgres/sql.ts'
import { listRefusals } from './intake-store.ts'
import { insertRates } from './rate-store.ts'
import { releaseHeldOrders } from './release-held.ts'
import { sumWarnings } from './warning-store.ts'

test('accepts a browser’s checkout call as text, and answers with an empty body', async (t) => {
  const app = await start(t)
  const click_ids = ['00112233445566778899aabbccddeeff']
  const cids = 'ffeeddccbbaa99887766554433221100,not-one-of-ours'
  const event = order('o1', { click_ids, cids, is_new_customer: true }, [
    { id: 'socks', name: 'Socks', price: '550.00', currency: 'USD' },
  ])
  const answer = await app.checkout(checkoutOf(app.merchant.merch_id, [event]))
  assert.deepEqual([answer.status, answer.text], [201, ''])
  await app.fold()
  const [row] = await app.db.rows(sql`
    select source, account->'evidence' as evidence,
      account->'reports'->'pixel'->'is_new_customer' as is_new_customer
    from merchant_order`)
  assert.deepEqual(row, {
    source: 'pixel',
    is_new_customer: true,
    evidence: [...click_ids, 'ffeeddccbbaa99887766554433221100'].map((id) => ({
      id,
      at_ms: null,
      verdict: 'unknown_click',
    })),
  })
})

test('only the merchant’s own pages may report, by Origin or else by the page they name', async (t) => {
  const app = await start(t)
  const call = async (origin: string | null, source_url: string) =>
    (
      await app.checkout(
        checkoutOf(app.merchant.merch_id, [order('o1')], { source_url }),
        origin === null ? { origin: 'null' } : { origin },
      )
    ).status
  const own = 'https://shop.example/thanks'
  const foreign = 'https://other.example/'
  assert.equal(await call('https://shop.example', foreign), 201)
  assert.equal(await call('https://checkout.shop.example', foreign), 201)
  // the final dot of a fully qualified name
  assert.equal(await call('https://shop.example.', foreign), 201)
  assert.equal(await call('https://other.example', own), 403)
  assert.equal(await call('https://notshop.example', own), 403)
  assert.equal(await call(null, own), 201)
  assert.equal(await call('', own), 201) // as some proxies forward it
  assert.equal(await call(null, foreign), 403)
  const [kept] = await app.db.rows(sql`
    select count(*) from refused_intake where endpoint = 'checkout'`)
  assert.deepEqual(kept, { count: '3' })
})

test('holds a browser’s unusually large order until the merchant’s server confirms it', async (t) => {
  const app = await start(t)
  const usual = Array.from({ length: 30 }, (_, index) => order(`u${index}`, { value: '50.00' }))
  await app.post('orders', { orders: usual })
  await app.fold()
  const report = (id: string, value: string) =>
    app.checkout(checkoutOf(app.merchant.merch_id, [order(id, { value })]))
  await report('o1', '150.00')
  await report('o2', '150.01')
  await app.fold()
  const holdOf = async (id: string) =>
    (
      await app.db.row<{ hold: string | null }>(
        sql`select hold from merchant_order where order_id = ${id}`,
      )
    )?.hold
  assert.equal(await holdOf('o1'), null)
  assert.equal(await holdOf('o2'), 'review')
  await app.post('orders', { orders: [order('o2', { value: '150.01' })] })
  await app.fold()
  assert.equal(await holdOf('o2'), null)
})

test('where a merchant confirms its orders, browsers’ orders count only after that', async (t) => {
  const app = await start(t)
  const { merch_id: merchId } = app.merchant
  await updateMerchant(app.db, { merchId, changes: { is_confirming: true } })
  // A small order, a free one, and one whose rate arrives later.
  const orders = [order('o1'), order('free', { value: '0.00' }), order('o2', { currency: 'EUR' })]
  await app.checkout(checkoutOf(merchId, orders))
  await app.fold()
  const holds = async () => {
    const rows = await app.db.rows<{ order_id: string; hold: string | null }>(
      sql`select order_id, hold from merchant_order`,
    )
    return Object.fromEntries(rows.map(({ order_id, hold }) => [order_id, hold]))
  }
  assert.deepEqual(await holds(), { o1: 'review', free: 'review', o2: 'no_rate' })
  await insertRates(app.db, 'ecb', [
    { day: '2026-04-13', currency: 'EUR', usdPerBase: '1.5', currencyPerBase: '1' },
  ])
  assert.equal(await releaseHeldOrders(app.deps), 0)
  await app.post('orders', { orders: [order('o1')] })
  await app.fold()
  assert.deepEqual(await holds(), { o1: null, free: 'review', o2: 'review' })
})

test('an order that counts still counts when its browser repeats it', async (t) => {
  const app = await start(t)
  const { merch_id: merchId } = app.merchant
  const report = async (id: string, changes: object = {}, products?: readonly object[]) => {
    app.clock.nowMs += 60_000
    await app.checkout(checkoutOf(merchId, [order(id, changes, products)]))
  }
  const hold = async (id: string) => {
    await app.fold()
    return app.db.row(sql`select value, hold from merchant_order where order_id = ${id}`)
  }
  const socks = [{ id: 'socks', price: '550.00' }]
  await report('counts', {}, socks)
  await report('free', { value: '0.00' })
  await updateMerchant(app.db, { merchId, changes: { is_confirming: true } })
  await report('counts', {}, socks)
  await report('free', { value: '0' })
  assert.deepEqual(await hold('counts'), { value: '550.00', hold: null })
  assert.deepEqual(await hold('free'), { value: '0.00', hold: null })
  await report('counts', {}, [...socks, ...socks])
  assert.deepEqual(await hold('counts'), { value: '550.00', hold: 'review' }, 'other goods')

  await report('waits')
  await report('waits')
  assert.deepEqual(await hold('waits'), { value: '550.00', hold: 'review' }, 'nobody has looked')
  const approval = { merchId, body: { order_id: 'waits', kind: 'approve' } }
  await appendMoney(app.deps, EVENT_TYPE.orderDecision, [approval])
  await report('waits') // Before the fold has processed the decision.
  assert.deepEqual(await hold('waits'), { value: '550.00', hold: null })
  await report('waits', { value: '551.00' })
  assert.deepEqual(await hold('waits'), { value: '551.00', hold: 'review' })
})

test('ignores fields from a browser that only a merchant’s server may send', async (t) => {
  const app = await start(t)
  const call = (changes: object) =>
    app.checkout(checkoutOf(app.merchant.merch_id, [order('o1', changes)]))
  await call({})
  const spoofed = {
    status: 'cancelled',
    updated_at: '2026-04-13T12:04:00Z',
    ordered_at: '2020-01-01',
    click_id: '00112233445566778899aabbccddeeff',
  }
  assert.equal((await call(spoofed)).status, 201)
  for (const name of Object.keys(spoofed)) {
    for (const value of [5, {}, 'x']) assert.equal((await call({ [name]: value })).status, 201)
  }
  await app.fold()
  const rows = await app.db.rows(sql`
    select rejected_at, ordered_at, account->'evidence' as evidence from merchant_order`)
  const orderedAt = new Date(app.clock.nowMs)
  assert.deepEqual(rows, [{ rejected_at: null, ordered_at: orderedAt, evidence: [] }])
})

test('refuses invalid checkout calls with the documented error, and stores them', async (t) => {
  const app = await start(t)
  const { merch_id: id } = app.merchant
  const good = checkoutOf(id, [order('o1')])
  const wrong: [object | string, number][] = [
    ['{"organization_type":', 400],
    [{ ...good, organization_type: 'publisher' }, 400],
    [{ ...good, organization_id: String(id) }, 400],
    [{ ...good, organization_id: 999_999 }, 404],
    [{ ...good, organization_id: 2_147_483_648 }, 404],
    [{ ...good, events: [] }, 400],
    [{ ...good, events: Array.from({ length: 101 }, () => order('o1')) }, 400],
    [checkoutOf(id, [{}]), 400],
    [checkoutOf(id, [order('o1', { click_ids: 'abc' })]), 400],
  ]
  for (const [body, status] of wrong) {
    const answer = await app.checkout(body)
    assert.equal(answer.status, status, answer.text)
    assert.equal(answer.json.info.error, true)
  }
  const kept = await app.db.rows<{ merch_id: number | null }>(
    sql`select merch_id from refused_intake order by refused_id`,
  )
  const named = [null, id, null, null, null, id, id, id, id]
  assert.deepEqual(
    kept,
    named.map((merch_id) => ({ merch_id })),
    'with the merchant it names',
  )
})

test('stores a refused call without the queries of its URLs, otherwise unchanged', async (t) => {
  const app = await start(t)
  const bodyWith = (tail: string) => `{"user": {"previous_url": "https://pay.example/done${tail}",
    "source_url": "https:\\/\\/shop.example\\/thanks${tail}"}, "events": "what? #1"`
  await app.checkout(bodyWith('?email=jane%40mail.example&token=5f#jane'))
  const [kept] = await app.db.rows<{ body: string }>(sql`select body from refused_intake`)
  assert.equal(kept?.body, bodyWith(''))
  const many = 'https://'.repeat(100_000)
  const startedMs = performance.now()
  await app.checkout(many)
  assert.ok(performance.now() - startedMs < 5_000, 'in linear time')
})

test('accepts a browser’s order with an invalid click id, with a warning', async (t) => {
  const app = await start(t)
  const merchId = app.merchant.merch_id
  const event = order('o1', { click_ids: ['{cid}'], colour: 'red' })
  const answer = await app.checkout(checkoutOf(merchId, [event]))
  assert.deepEqual([answer.status, answer.text], [201, ''])
  const [listed] = await listRefusals(app.db, { merchId, limit: 5 })
  assert.equal(listed?.is_accepted, true)
  assert.deepEqual(
    listed?.faults.map(({ field }) => field),
    ['events[0].order.colour', 'events[0].order.click_ids[0]'],
  )
  const counted = await sumWarnings(app.db, new Date(app.clock.nowMs))
  assert.equal(counted.get(merchId)?.unknown_click_id, 1)
  for (let sent = 0; sent < 30; sent += 1) await app.checkout(checkoutOf(merchId, [event]))
  assert.equal((await listRefusals(app.db, { merchId, limit: 100 })).length, 20)
})
