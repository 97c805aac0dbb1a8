import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from '../../test/support/fast-check.ts'
import {
  checkoutOf,
  orderEntry as order,
  startIntakeApp as start,
} from '../../test/support/intake-app.ts'
import { clickId, MoneyEvents } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { insertRates } from './rate-store.ts'
import { sumWarnings } from './warning-store.ts'

const SOCKS = { id: 'socks', name: 'Socks', price: '110.00', quantity: 5 }

const orderRows = sql`
  select order_id, source, currency, value, hold, revenue_micros::bigint as revenue
  from merchant_order order by order_id`

test('a signed batch of orders is accepted, durable, and folded', async (t) => {
  const app = await start(t)
  const answer = await app.post('orders', { orders: [order('o1'), order('o2', {}, [SOCKS])] })
  assert.equal(answer.status, 201)
  assert.deepEqual(answer.json.data, [
    { order_id: 'o1', held: null, ignored: null },
    { order_id: 'o2', held: null, ignored: null },
  ])
  await app.fold()
  assert.deepEqual(
    (await app.db.rows<{ order_id: string; revenue: string }>(orderRows)).map((row) => row.revenue),
    ['550000000', '550000000'],
  )
})

test('refuses a request whose signature, time or body does not match', async (t) => {
  const app = await start(t)
  const body = { orders: [order('o1')] }
  const nowSeconds = app.clock.nowMs / 1000
  const broken = [
    { secret: 'another secret' },
    { signature: '00'.repeat(32) },
    { signature: 'no hex' },
    { timestamp: String(nowSeconds - 301) },
    { timestamp: String(nowSeconds + 301) },
    { timestamp: 'yesterday' },
    { timestamp: '' },
  ]
  for (const changes of broken) {
    const answer = await app.post('orders', body, changes)
    assert.equal(answer.status, 401, JSON.stringify(changes))
    assert.equal(answer.json.error.code, 4306)
  }
  assert.equal(
    (await app.post('orders', body, { timestamp: String(nowSeconds - 299) })).status,
    201,
  )
  const kept = await app.db.rows<{ reason: string; body: string }>(
    sql`select reason, body from refused_intake order by refused_id`,
  )
  assert.equal(kept.length, broken.length)
  assert.ok(kept.every((row) => row.body === JSON.stringify(body)))
  assert.match(kept[0]?.reason ?? '', /X-Souk-Signature/)
})

test('a merchant’s new secret signs, and its old one no longer does', async (t) => {
  const app = await start(t)
  const changed = await updateMerchant(app.db, {
    merchId: app.merchant.merch_id,
    changes: {},
    isNewSecret: true,
  })
  const send = (secret: string) => app.post('orders', { orders: [order('o1')] }, { secret })
  assert.equal((await send(app.merchant.postback_secret)).status, 401)
  assert.equal((await send(changed.postback_secret)).status, 201)
})

test('refuses and stores a replayed request, and a retry under its key gets the first response', async (t) => {
  const app = await start(t)
  const body = { orders: [order('o1')] }
  assert.equal((await app.post('orders', body)).status, 201)
  const replay = await app.post('orders', body)
  assert.equal(replay.status, 409)
  assert.equal(replay.json.error.code, 4093)

  const first = await app.post('orders', { orders: [order('o2')] }, { key: 'k' })
  app.clock.nowMs += 60_000
  const retry = await app.post('orders', { orders: [order('o2')] }, { key: 'k', slash: '?' })
  assert.equal(retry.status, 201)
  assert.equal(retry.text, first.text)
  const other = await app.post('orders', { orders: [order('o3')] }, { key: 'k' })
  assert.equal(other.status, 409)
  assert.equal(other.json.error.code, 4090)
  const long = await app.post('orders', { orders: [order('o3')] }, { key: 'k'.repeat(256) })
  assert.equal(long.json.error.data[0].field, 'Idempotency-Key')
  const [kept] = await app.db.rows(sql`select count(*) from refused_intake`)
  assert.deepEqual(kept, { count: '2' })
  const events = await app.db.rows(sql`select body->>'order_id' as id from event order by seq`)
  assert.deepEqual(events, [{ id: 'o1' }, { id: 'o2' }])
})

test('a retry’s signature works once, and without its key or under another it is a replay', async (t) => {
  const app = await start(t)
  const body = { orders: [order('o1')] }
  assert.equal((await app.post('orders', body, { key: 'k' })).status, 201)
  app.clock.nowMs += 60_000
  assert.equal((await app.post('orders', body, { key: 'k' })).status, 201)
  for (const changes of [{}, { key: 'other' }]) {
    const replay = await app.post('orders', body, changes)
    assert.deepEqual([replay.status, replay.json.error?.code], [409, 4093])
  }
  assert.equal((await app.post('orders', body, { key: 'k' })).status, 201, 'its own is a retry')
  assert.deepEqual(await app.db.rows(sql`select count(*) from event`), [{ count: '1' }])
})

test('an Idempotency-Key of orders is free again after 24 hours, also for another body', async (t) => {
  const app = await start(t)
  const send = (id: string) => app.post('orders', { orders: [order(id)] }, { key: 'nightly' })
  assert.equal((await send('o1')).status, 201)
  app.clock.nowMs += DAY_MS - 1_000
  assert.equal((await send('o2')).status, 409)
  app.clock.nowMs += 2_000
  const next = await send('o2')
  assert.deepEqual([next.status, next.json.data?.[0]?.order_id], [201, 'o2'])
  assert.equal((await send('o3')).status, 409, 'and taken by its new body')
})

test('a key whose first request was refused may be used for the corrected one', async (t) => {
  const app = await start(t)
  const wrong = { orders: [order('o1', { currency: 'XYZ' })] }
  assert.equal((await app.post('orders', wrong, { key: 'k' })).status, 400)
  assert.equal((await app.post('orders', { orders: [order('o1')] }, { key: 'k' })).status, 201)
})

test('a click id of another system, however long, does not block an order', async (t) => {
  const app = await start(t)
  const ours = '00112233445566778899aabbccddeeff'
  const google = 'Cj0KCQ'.padEnd(100, 'x')
  const sent = { click_id: google, click_ids: [google, ours], cids: google }
  const answer = await app.post('orders', { orders: [order('o1', sent)] })
  assert.equal(answer.status, 201, answer.text)
  const { click_id: _, ...remembered } = sent
  const seen = await app.checkout(checkoutOf(app.merchant.merch_id, [order('o2', remembered)]))
  assert.equal(seen.status, 201, seen.text)
  const clicks = await app.db.rows(sql`
    select body->'remembered_click_ids' as ids, body->'exact_click_id' as id from event order by seq`)
  assert.deepEqual(clicks, Array(2).fill({ ids: [ours], id: null }))
})

test('one invalid order refuses and stores its whole batch, with every fault', async (t) => {
  const app = await start(t)
  const nowMs = app.clock.nowMs
  const future = new Date(nowMs + 10 * 60_000).toISOString()
  const wrong: [object, string][] = [
    [order('o', { currency: 'XYZ' }), 'order.currency'],
    [order('o', { currency: 'usd' }), 'order.currency'],
    [order('o', { currency: 'XAU' }), 'order.currency'],
    [order('o', { value: '-5.00' }), 'order.value'],
    [order('o', { value: 5 }), 'order.value'],
    [order('o', { value: '5.005' }), 'order.value'],
    [order('o', { value: '5.00', currency: 'JPY', ordered_at: future }), 'order.ordered_at'],
    [order('o', { ordered_at: future }), 'order.ordered_at'],
    [order('o', { ordered_at: '2026-02-30' }), 'order.ordered_at'],
    [order('o', { value: '999999999999.00' }), 'order.value'],
    [order('o', { value: '10000000.01' }), 'order.value'],
    [order('', {}), 'order.id'],
    [order('x'.repeat(51)), 'order.id'],
    [order('o', {}, [{ ...SOCKS, quantity: -1 }]), 'products[0].quantity'],
    [order('o', {}, [{ ...SOCKS, quantity: 0 }]), 'products[0].quantity'],
    [order('o', {}, [{ ...SOCKS, quantity: 1.5 }]), 'products[0].quantity'],
    [order('o', {}, [SOCKS, { ...SOCKS, price: 'free' }]), 'products[1].price'],
    [order('o', {}, [{ ...SOCKS, currency: 'EUR' }]), 'products[0].currency'],
    [order('o', {}, [{ ...SOCKS, id: 'x'.repeat(101) }]), 'products[0].id'],
  ]
  for (const [entry, field] of wrong) {
    const answer = await app.post('orders', { orders: [order('good'), entry] })
    assert.equal(answer.status, 400, `${field}: ${answer.text}`)
    const fields = answer.json.error.data.map((fault: { field: string }) => fault.field)
    assert.ok(fields.includes(`orders[1].${field}`), `${fields} lacks ${field}`)
    app.clock.nowMs += 1000 // Each request has its own signature.
  }
  const [counts] = await app.db.rows(sql`
    select (select count(*) from event) as events, (select count(*) from refused_intake) as kept`)
  assert.deepEqual(counts, { events: '0', kept: String(wrong.length) })
})

test('a client address stores at most 1 MiB of unsigned reports per hour, also in parallel', async (t) => {
  const app = await start(t)
  const body = { orders: [order('o1')], more: 'x'.repeat(100_000) }
  const race = async () => {
    const calls = Array.from({ length: 32 }, () =>
      app.post('orders', body, { secret: 'another secret' }),
    )
    assert.ok((await Promise.all(calls)).every(({ status }) => status === 401))
    const [row] = await app.db.rows<{ kept: string }>(sql`
      select count(*) as kept from refused_intake`)
    return Number(row?.kept)
  }
  assert.equal(await race(), 10)
  assert.equal(await race(), 10)
  app.clock.nowMs += 3_600_001
  assert.equal(await race(), 20)
})

test('a merchant’s refused reports take at most 8 MiB per day, also in parallel', async (t) => {
  const app = await start(t)
  const body = { orders: [], more: 'x'.repeat(1_000_000) }
  const calls = Array.from({ length: 12 }, (_, at) => app.post('orders', { ...body, at }))
  assert.ok((await Promise.all(calls)).every(({ status }) => status === 400))
  const [row] = await app.db.rows<{ kept: string; counted: string }>(sql`
    select (select count(*) from refused_intake) as kept, bytes as counted from stored_bytes`)
  assert.equal(row?.kept, '8')
  assert.ok(Number(row?.counted) <= 8 * 1_048_576)
})

test('an order may be worth up to ten million dollars, in any currency', async (t) => {
  const app = await start(t)
  const rate = { currency: 'JPY', usdPerBase: '1', currencyPerBase: '100', day: '2026-04-13' }
  await insertRates(app.db, 'ecb', [rate])
  const yen = (value: string) => ({ value, currency: 'JPY', ordered_at: '2026-04-13T08:00:00Z' })
  const most = [order('o', { value: '10000000.00' }), order('p', yen('1000000000'))]
  assert.equal((await app.post('orders', { orders: most })).status, 201)
  const answer = await app.post('orders', { orders: [order('q', yen('1000000001'))] })
  assert.deepEqual(answer.json.error.data, [
    { field: 'orders[0].order.value', rule: 'is more than ten million dollars' },
  ])
})

test('amounts become micro-dollars by the day’s rate, and without one the order is held', async (t) => {
  const app = await start(t)
  const rate = { currency: 'JPY', usdPerBase: '1.1684', currencyPerBase: '186.75' }
  await insertRates(app.db, 'ecb', [{ ...rate, day: '2026-04-13' }])
  const day = (text: string) => `${text}T08:00:00Z`
  const yen = (id: string, ordered_at: string) =>
    order(id, { value: '12800', currency: 'JPY', ordered_at: day(ordered_at) })
  const answer = await app.post('orders', {
    orders: [yen('o1', '2026-04-13'), yen('o2', '2026-04-12')],
  })
  assert.deepEqual(answer.json.data, [
    { order_id: 'o1', held: null, ignored: null },
    { order_id: 'o2', held: 'no_rate', ignored: null },
  ])
  await app.fold()
  assert.deepEqual(await app.db.rows(orderRows), [
    {
      order_id: 'o1',
      source: 's2s',
      currency: 'JPY',
      value: '12800',
      hold: null,
      revenue: '80083106',
    },
    {
      order_id: 'o2',
      source: 's2s',
      currency: 'JPY',
      value: '12800',
      hold: 'no_rate',
      revenue: '0',
    },
  ])
})

test('refuses a return of more than was bought at once, folded or not', async (t) => {
  const app = await start(t)
  await app.post('orders', { orders: [order('o1', {}, [SOCKS])] })
  const back = (id: string, quantity: number, changes: object = {}) => ({
    returns: [{ id, order_id: 'o1', product_id: 'socks', quantity, ...changes }],
  })
  assert.equal((await app.post('returns', back('r1', 6))).status, 400)
  assert.equal((await app.post('returns', back('r2', 3))).status, 201)
  await app.fold()
  const over = await app.post('returns', back('r3', 3))
  assert.equal(over.status, 400)
  assert.deepEqual(over.json.error.data, [
    { field: 'returns[0].quantity', rule: 'is more than was bought and not yet returned' },
  ])
  const unknown = await app.post('returns', back('r4', 1, { product_id: 'shoes' }))
  assert.equal(unknown.json.error.data[0].field, 'returns[0].product_id')
  assert.equal((await app.post('returns', back('r5', 2))).status, 201)
  assert.equal((await app.post('returns', back('r6', -2))).status, 400)
  app.clock.nowMs += 1000
  assert.equal((await app.post('returns', back('r5', 2))).status, 201, 'the same return again')
  await app.fold()
  const [line] = await app.db.rows(sql`select quantity, returned from order_line`)
  assert.deepEqual(line, { quantity: 5, returned: 5 })
  const [kept] = await app.db.rows(sql`
    select count(*) from refused_intake where endpoint = 'returns'`)
  assert.deepEqual(kept, { count: '4' })
})

test('refuses other goods under the id of an earlier return, folded or not', async (t) => {
  const app = await start(t)
  const products = [SOCKS, { id: 'shoes', price: '440.00' }]
  await app.post('orders', { orders: [order('o1', {}, products)] })
  const back = (product_id: string, quantity = 1) => {
    return { id: 'parcel', order_id: 'o1', product_id, quantity }
  }
  const parcel = await app.post('returns', { returns: [back('socks'), back('shoes')] })
  assert.equal(parcel.status, 400)
  assert.deepEqual(parcel.json.error.data, [
    {
      field: 'returns[1].id',
      rule: 'stands for other goods of this order already: each product needs its own',
    },
  ])
  assert.equal((await app.post('returns', { returns: [back('socks')] })).status, 201)
  for (const isFolded of [false, true]) {
    if (isFolded) await app.fold()
    app.clock.nowMs += 1000
    for (const goods of [back('shoes'), back('socks', 2)]) {
      assert.equal((await app.post('returns', { returns: [goods] })).status, 400)
    }
    assert.equal((await app.post('returns', { returns: [back('socks')] })).status, 201)
  }
})

/** What is left of an order in cents: revenue, and its commission of 10 %. */
async function leftOf(app: Awaited<ReturnType<typeof start>>, orderId: string) {
  await app.fold()
  const row = await app.db.row<{ sales: number; revenue: string; commission: string }>(sql`
    select net_sales as sales, net_revenue_micros / 10000 as revenue,
      net_commission_micros / 10000 as commission
    from merchant_order where order_id = ${orderId}`)
  return [row?.sales, Number(row?.revenue), Number(row?.commission)]
}

/** A shop whose orders name a click that pays a commission of 10 %. */
async function startWithClick(t: Parameters<typeof start>[0]) {
  const app = await start(t)
  const world = await makePublisherWorld(app.db)
  const { auctionId } = await world.addArticle('One')
  await app.deps.append([
    new MoneyEvents().click('a', app.clock.nowMs - 1_000, {
      ...{ auctionId, pubId: world.publisher.pub_id, merchId: app.merchant.merch_id },
      campaignId: null,
    }),
  ])
  return { ...app, click_id: clickId('a') }
}

test('of 15 concurrent returns of one unit, one is accepted and 14 are refused', async (t) => {
  const app = await startWithClick(t)
  const { click_id } = app
  await app.post('orders', { orders: [order('o1', { click_id }, [{ ...SOCKS, quantity: 1 }])] })
  const back = (id: string) => ({ id, order_id: 'o1', product_id: 'socks' })
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, index) => app.post('returns', { returns: [back(`r${index}`)] })),
  )
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [
    201,
    ...Array.from({ length: 14 }, () => 400),
  ])
  const refused = answers.find(({ status }) => status === 400)
  assert.match(refused?.json.error.message, /^returns\[0\]\.quantity: is more than was bought/)
  assert.deepEqual(await leftOf(app, 'o1'), [0, 0, 0])
})

test('concurrent refunds of amounts add up to at most what is left', async (t) => {
  const app = await startWithClick(t)
  const { click_id } = app
  await app.post('orders', { orders: [order('o1', { click_id }, [SOCKS])] })
  const refund = (id: string, amount: string, more: object = {}) =>
    app.post('returns', { returns: [{ id, order_id: 'o1', amount, ...more }] })
  assert.equal((await refund('r1', '50.00')).status, 201)
  assert.deepEqual(await leftOf(app, 'o1'), [1, 50_000, 5_000])
  const many = await Promise.all(
    Array.from({ length: 8 }, (_, index) => refund(`m${index}`, '100.00', { line: 0 })),
  )
  assert.equal(many.filter(({ status }) => status === 201).length, 5)
  const over = many.find(({ status }) => status === 400)
  assert.match(over?.json.error.message, /^returns\[0\]\.amount: is more than is left/)
  app.clock.nowMs += 1_000
  assert.equal((await refund('r1', '50')).status, 201, 'the same again changes nothing')
  assert.deepEqual(await leftOf(app, 'o1'), [0, 0, 0])
  assert.equal((await refund('r9', '0.01')).status, 400)
})

test('a refund is in the order’s currency, and has an amount or a quantity', async (t) => {
  const app = await startWithClick(t)
  await app.post('orders', { orders: [order('o1', {}, [SOCKS])] })
  const fieldsOf = async (back: object) => {
    const { json } = await app.post('returns', { returns: [{ id: 'r', order_id: 'o1', ...back }] })
    return json.error?.message ?? 'accepted'
  }
  assert.match(await fieldsOf({ amount: '5.00', currency: 'EUR' }), /amount: must be .* currency/)
  assert.match(await fieldsOf({ amount: '5.005' }), /amount: must be an amount in/)
  assert.match(await fieldsOf({ amount: '0.00' }), /amount: must be more than 0/)
  assert.match(await fieldsOf({ amount: '5.00', quantity: 1 }), /quantity: must be left out/)
  assert.match(await fieldsOf({}), /^returns\[0\]\.product_id: is required, or line: name the/)
  assert.equal(await fieldsOf({ amount: '5.00', currency: 'USD' }), 'accepted')
})

test('a refund and a revision to the net value count once', async (t) => {
  const app = await startWithClick(t)
  const { click_id } = app
  const report = (id: string, value: string, more: object = {}) => {
    app.clock.nowMs += 1_000
    return app.post('orders', { orders: [order(id, { click_id, value, ...more }, [SOCKS])] })
  }
  const refund = (order_id: string, id: string, amount: string) =>
    app.post('returns', { returns: [{ id, order_id, amount }] })
  const isNet = { value_is_net: true }
  await report('refund first', '550.00')
  await refund('refund first', 'r1', '50.00')
  await report('refund first', '500.00', isNet)
  assert.deepEqual(await leftOf(app, 'refund first'), [1, 50_000, 5_000])
  await report('revision first', '550.00')
  await report('revision first', '500.00', isNet)
  await refund('revision first', 'r1', '50.00')
  assert.deepEqual(await leftOf(app, 'revision first'), [1, 50_000, 5_000])
  await refund('revision first', 'r2', '500.00')
  assert.deepEqual(await leftOf(app, 'revision first'), [0, 0, 0])
  await report('not net', '550.00')
  await refund('not net', 'r1', '50.00')
  await report('not net', '500.00')
  assert.deepEqual(await leftOf(app, 'not net'), [1, 45_000, 4_500], 'value is before returns')
})

test('a test order is stored, shown as a test, and paid only after a report says it is real', async (t) => {
  const app = await startWithClick(t)
  const { click_id } = app
  const report = (more: object) => {
    app.clock.nowMs += 1_000
    return app.post('orders', { orders: [order('o1', { click_id, ...more })] })
  }
  assert.deepEqual((await report({ test: true })).json.warnings, [])
  assert.deepEqual(await leftOf(app, 'o1'), [0, 0, 0])
  const shown = await app.db.row(sql`
    select value, reject_reason, click_id is not null as is_owed from merchant_order`)
  assert.deepEqual(shown, { value: '550.00', reject_reason: 'test', is_owed: true })
  await report({})
  assert.deepEqual(await leftOf(app, 'o1'), [1, 55_000, 5_500])
})

test('a response warns of unknown fields and clicks, and of values that differ from the products’ sum', async (t) => {
  const app = await startWithClick(t)
  const { click_id } = app
  const warningsOf = async (body: { orders: object[] }) => {
    const { status, json } = await app.post('orders', body)
    assert.equal(status, 201)
    return json.warnings
  }
  assert.deepEqual(await warningsOf({ orders: [order('o1', { click_id }, [SOCKS])] }), [])
  const more = { ...order('o2', { click_id: `${click_id}&utm_source=x`, amount: '1' }, [SOCKS]) }
  const low = order('o3', { value: '549.99', click_ids: ['{cid}', 'f'.repeat(32)] }, [SOCKS])
  assert.deepEqual(await warningsOf({ ...{ now: true }, orders: [more, low] }), [
    { field: 'now', message: 'is not known and changes nothing' },
    { field: 'orders[0].order.amount', message: 'is not known and changes nothing' },
    {
      field: 'orders[0].order.click_id',
      message:
        'is unknown: something is appended to the 32 characters of a click id; check the template of the links',
    },
    {
      field: 'orders[1].order.click_ids[0]',
      message:
        'is unknown: it looks like a placeholder that nothing replaced; check the template of the links',
    },
    {
      field: 'orders[1].order.click_ids[1]',
      message: 'is unknown: no click on this merchant has this id',
    },
    {
      field: 'orders[1].order.value',
      message: '549.99 is below the sum of the products, 550.00; the value counts',
    },
  ])
  const back = { id: 'r1', order_id: 'o1', line: 0, reason: 'too small' }
  assert.deepEqual((await app.post('returns', { returns: [back] })).json.warnings, [
    { field: 'returns[0].reason', message: 'is not known and changes nothing' },
  ])
  const counted = await sumWarnings(app.db, new Date(app.clock.nowMs))
  assert.deepEqual(counted.get(app.merchant.merch_id), {
    ...{ unknown_field: 3, unknown_click_id: 3, value_of_lines: 1 },
  })
})

test('returned goods stay returned when their order is repeated without products', async (t) => {
  const app = await start(t)
  const products = [
    { ...SOCKS, quantity: 1 },
    { id: 'shoes', price: '440.00' },
  ]
  await app.post('orders', { orders: [order('o1', {}, products)] })
  await app.post('returns', { returns: [{ id: 'r1', order_id: 'o1', product_id: 'socks' }] })
  for (const changes of [{}, { status: 'cancelled' }]) {
    app.clock.nowMs += 1000
    assert.equal((await app.post('orders', { orders: [order('o1', changes)] })).status, 201)
    await app.fold()
    const rows = await app.db.rows(sql`
      select product_id, state, reason from order_line left join order_return
        using (merch_id, order_id, product_id) order by order_line.line`)
    assert.deepEqual(rows, [
      { product_id: 'socks', state: 'applied', reason: null },
      { product_id: 'shoes', state: null, reason: null },
    ])
  }
})

test('an unsigned call from a browser is stored with its page and without its reader’s address', async (t) => {
  const app = await start(t)
  const url = `/api/v1/merchants/${app.merchant.merch_id}/orders/`
  const page = 'https://shop.example'
  const calls = [{ origin: page }, {}].map((headers) => ({
    ...headers,
    'content-type': 'text/plain',
  }))
  for (const headers of calls) {
    const remoteAddress = '203.0.113.7'
    await app.http.inject({ method: 'POST', url, headers, payload: '{}', remoteAddress })
  }
  const kept = await app.db.rows(sql`select origin from refused_intake order by refused_id`)
  assert.deepEqual(kept, [{ origin: page }, { origin: '203.0.113.7' }])
})

test('the merchant can read its refused reports with body and reason', async (t) => {
  const app = await start(t)
  const body = { orders: [order('o1', { currency: 'XYZ' })] }
  await app.post('orders', body)
  const { merch_id: merchId, postback_secret: secret } = app.merchant
  const timestamp = String(app.clock.nowMs / 1000)
  const { signBody } = await import('./signed-request.ts')
  const get = (signature: string) =>
    app.http.inject({
      url: `/api/v1/merchants/${merchId}/refused/`,
      headers: { 'x-souk-timestamp': timestamp, 'x-souk-signature': signature },
    })
  const answer = await get(signBody(secret, timestamp, Buffer.alloc(0)).toString('hex'))
  assert.equal(answer.statusCode, 200)
  const [refusal] = answer.json().data
  assert.equal(refusal.body, JSON.stringify(body))
  assert.deepEqual(refusal.faults, [
    { field: 'orders[0].order.currency', rule: 'ISO 4217 has no XYZ' },
  ])
  assert.equal((await get('00'.repeat(32))).statusCode, 401)
})

test('a thousand concurrent reports of one order create one order', async (t) => {
  const app = await start(t)
  // On a busy machine some get a 503 and retry, as a merchant's server does.
  const report = async (attempt: number): Promise<number> => {
    const { status } = await app.post('orders', { orders: [order('o1', {}, [SOCKS])], attempt })
    if (status !== 503) return status
    await sleep(500)
    return report(attempt + 1_000) // With other bytes, because a signature works once.
  }
  const statuses = await Promise.all(Array.from({ length: 1000 }, (_, index) => report(index)))
  assert.deepEqual(new Set(statuses), new Set([201]))
  await app.fold()
  const rows = await app.db.rows(sql`
    select revenue_micros, (select count(*) >= 1000 from event) as is_each_logged
    from merchant_order`)
  assert.deepEqual(rows, [{ revenue_micros: '550000000', is_each_logged: true }])
})

test('any JSON gets a 201 or a 4xx, and nothing breaks', async (t) => {
  const app = await start(t)
  let attempt = 0
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (value, product) => {
      attempt += 1
      const bodies = [
        { orders: [{ order: { id: 'o', value, currency: 'USD' } }], attempt },
        { orders: [{ ...order('o'), products: [product] }], attempt },
        { orders: value, attempt },
      ]
      for (const body of bodies) {
        const { status } = await app.post('orders', body)
        assert.ok(status === 201 || status === 400, String(status))
      }
      const checked = await app.checkout(checkoutOf(app.merchant.merch_id, [value as object]))
      assert.ok(checked.status === 201 || checked.status === 400)
    }),
    { numRuns: 60 },
  )
  await app.fold()
})
