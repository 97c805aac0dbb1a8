import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { importOffers } from '../../test/support/catalogue.ts'
import { until } from '../../test/support/market.ts'
import { makeMerchantWorld } from '../../test/support/merchant-roles.ts'
import { signBody } from '../orders/signed-request.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

const api = await startApi({ after })
const shop = await makeMerchantWorld(api, { name: 'Shop', is_confirming: true })
const other = await makeMerchantWorld(api, { name: 'Other' })

interface Listed {
  readonly checkout_id: string
  readonly order_id: string
  readonly state: string
  readonly hold: string | null
  readonly [name: string]: unknown
}

const list = async (query = '') => {
  const answer = await shop.call(`orders/${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ data: Listed[]; next_cursor: string | null }>()
}
const ids = async (query = '') => (await list(query)).data.map(({ checkout_id }) => checkout_id)
const act = (id: string, verb: string, options = {}) =>
  shop.call(`orders/${encodeURIComponent(id)}/${verb}/`, { method: 'POST', ...options })

/** The tag of the shop reports an order, which is held, because the shop confirms all. */
async function report(...orderIds: string[]) {
  for (const id of orderIds) {
    const answer = await api.call('/api/v1/events/conversions/checkout/', {
      headers: { origin: 'https://shop.example' },
      body: {
        organization_type: 'merchant',
        organization_id: shop.merchId,
        user: { source_url: 'https://shop.example/thanks' },
        events: [{ order: { id, value: '50.00', currency: 'USD' } }],
      },
    })
    assert.equal(answer.status, 201, answer.text)
  }
  await api.app.untilFolded()
}

test('held orders are listed with their reports', async () => {
  await report('one', 'two/2', 'three')
  const { data } = await list('?state=HELD')
  assert.equal(data.length, 3)
  const one = data.find(({ checkout_id }) => checkout_id === 'one')
  assert.deepEqual(
    [one?.state, one?.hold, one?.value, one?.currency, one?.net_commission_usd, one?.attribution],
    ['PENDING', 'review', '50.00', 'USD', '0.00', null],
  )
})

test('a held order is approved once, and can then not be rejected', async () => {
  const approved = await act('one', 'approve')
  assert.equal(approved.status, 200, approved.text)
  assert.deepEqual([approved.entry().hold, approved.entry().state], [null, 'PENDING'])
  for (const verb of ['approve', 'reject']) {
    const again = await act('one', verb)
    assert.deepEqual([again.status, again.failure().code], [409, 4091], verb)
  }
  assert.ok(!(await ids('?state=HELD')).includes('one'))
})

test('a held order is rejected with a reason, by its own id or by ours', async () => {
  assert.equal((await act('two/2', 'reject', { body: { reason: '' } })).status, 400)
  const rejected = await act('two/2', 'reject', { body: { reason: 'a test' } })
  assert.equal(rejected.status, 200, rejected.text)
  assert.deepEqual([rejected.entry().state, rejected.entry().reject_reason], ['REJECTED', 'a test'])
  assert.equal((await act('two/2', 'approve')).status, 409)
  const { data } = await list('?state=HELD')
  const ours = String(data[0]?.order_id)
  assert.equal((await act(ours, 'reject')).status, 200, 'without a reason')
  assert.deepEqual((await ids('?state=REJECTED')).toSorted(), ['three', 'two/2'])
  const actions = (await shop.audit()).map(({ action, target }) => `${action} ${target}`)
  assert.deepEqual(actions, [
    'order.approve order:one',
    'order.reject order:two/2',
    'order.reject order:three',
  ])
  assert.equal((await act('nothing', 'approve')).status, 404)
  assert.equal((await other.call('orders/one/approve/', { method: 'POST' })).status, 404)
})

test('orders are listed newest first by pages, and by day and state', async () => {
  const all = await ids()
  assert.deepEqual(all.toSorted(), ['one', 'three', 'two/2'])
  const first = await list('?limit=2')
  assert.deepEqual(
    first.data.map(({ checkout_id }) => checkout_id),
    all.slice(0, 2),
  )
  assert.deepEqual(await ids(`?limit=2&cursor=${first.next_cursor}`), all.slice(2))
  const [today, tomorrow] = [0, 1].map((days) => utcDay(Date.now() + days * DAY_MS))
  assert.equal((await ids(`?date_from=${today}&date_to=${today}`)).length, 3)
  assert.deepEqual(await ids(`?date_from=${tomorrow}`), [])
  assert.deepEqual(await ids('?state=PENDING'), ['one'])
  assert.deepEqual(await ids('?state=LOCKED'), [])
  const wrong = await shop.call(`orders/?date_from=${tomorrow}&date_to=${today}`)
  assert.deepEqual(wrong.failure().fields, ['date_to'])
  assert.deepEqual((await shop.call('orders/?state=OPEN')).failure().fields, ['state'])
})

test('the tag status says when each part last reported, and what was refused', async () => {
  const refusedCall = await api.call('/api/v1/events/conversions/checkout/', {
    headers: { origin: 'https://stranger.example' },
    body: {
      organization_type: 'merchant',
      organization_id: shop.merchId,
      user: { source_url: 'https://stranger.example/' },
      events: [{ order: { id: 'x', value: '1', currency: 'USD' } }],
    },
  })
  assert.equal(refusedCall.status, 403)
  await until(async () => (await shop.call('tag_status/')).entry().last_checkout !== null)
  const status = (await shop.call('tag_status/')).entry<{
    readonly refused: { readonly reason: string }[]
    readonly [name: string]: unknown
  }>()
  assert.deepEqual(
    [status.last_page, status.last_server_order, status.refused_24h, status.refused.length],
    [null, null, 1, 1],
  )
  assert.match(status.refused[0]?.reason ?? '', /origin/)
})

test('offers are found by words, SKU and GTIN, with their matches and state', async () => {
  const GTIN = '9521000000018'
  const offer = (id: string, title: string, more = {}) => ({
    ...{ id, title, link: `https://shop.example/${id}` },
    ...more,
  })
  await importOffers(api.db, shop.merchId, [
    offer('K-1', 'The Red Kettle', { gtin: GTIN }),
    offer('K-2', 'The 100% Blue Kettle', { availability: 'out of stock' }),
    offer('P-1', 'A Pan'),
  ])
  await importOffers(api.db, other.merchId, [
    { id: 'x', link: 'https://other.example/x', gtin: GTIN },
  ])
  const found = async (query: string) => {
    const answer = await shop.call(`offers/?${query}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ data: Listed[] }>().data
  }
  const skus = async (query: string) => (await found(query)).map(({ sku }) => sku)
  assert.deepEqual(await skus(''), ['K-1', 'K-2', 'P-1'])
  assert.deepEqual(await skus('q=kettle%20red'), ['K-1'])
  assert.deepEqual(await skus('q=P-1'), ['P-1'])
  assert.deepEqual(await skus(`q=${GTIN}`), ['K-1'])
  assert.deepEqual(await skus('q=100%25'), ['K-2'], 'a wildcard is a character')
  assert.deepEqual(await skus('state=out_of_stock'), ['K-2'])
  assert.deepEqual(await skus('state=in_stock'), ['K-1', 'P-1'])
  assert.deepEqual(await skus('state=unmatched'), ['K-2', 'P-1'])
  const [kettle] = await found('q=K-1')
  assert.deepEqual(
    [kettle?.matches, kettle?.clicks, kettle?.cost, kettle?.price],
    [1, 0, '0.00', '49.99'],
  )
  await api.db.run(sql`
    insert into click (event_id, click_id, result_number, day, at, pub_id, article_id, auction_id,
      merch_id, offer_id, model, terms_amount, share_ppm, merchant_cost_micros,
      publisher_earnings_micros, reason,
      is_reserved)
    select 1, '\\x01', '\\x01', current_date, now(), 1, 1, 1, ${shop.merchId},
      ${String(kettle?.offer_id)}::bigint, 1, 600000, 750000, 600000, 450000, 0, true`)
  const [clicked] = await found('q=K-1')
  assert.deepEqual([clicked?.clicks, clicked?.cost], [1, '0.60'])
  await api.db.run(sql`
    with run as (
      insert into feed_run (merch_id, source, is_dry_run, state, ended_at, result)
      values (${shop.merchId}, 'upload', false, 'done', now(), '{}') returning import_id
    )
    insert into feed_reject select import_id, 1, 7, 'R-1', 'price', 'free', 'price_unparsable', 'it'
    from run`)
  const [rejected] = await found('state=rejected')
  assert.deepEqual(
    [rejected?.sku, rejected?.line, rejected?.reject_reason, rejected?.offer_id],
    ['R-1', 7, 'price_unparsable', null],
  )
  assert.deepEqual(await skus('state=rejected&q=R-2'), [])
})

test('returns are listed with their goods and state, the latest first', async () => {
  const order = { id: 'four', value: '30.00', currency: 'USD' }
  const products = [{ id: 'K-1', name: 'Kettle', quantity: 2, price: '15.00' }]
  await shopReports('orders', { orders: [{ order, products }] })
  const back = (id: string, quantity: number) => ({ id, order_id: 'four', line: 0, quantity })
  await shopReports('returns', { returns: [back('b-1', 1)] })
  await shopReports('returns', { returns: [{ ...back('b-2', 1), order_id: 'unknown' }] })
  const returns = async (query = '') =>
    (await shop.call(`returns/${query}`)).json<{ data: Listed[]; next_cursor: string | null }>()
  const { data } = await returns()
  assert.deepEqual(
    data.map((one) => [one.return_id, one.checkout_id, one.state, one.products, one.quantity]),
    [
      ['b-2', 'unknown', 'waiting', null, 1],
      ['b-1', 'four', 'applied', 'Kettle', 1],
    ],
  )
  const first = await returns('?limit=1')
  const rest = await returns(`?limit=1&cursor=${first.next_cursor}`)
  assert.deepEqual([...first.data, ...rest.data], data)
  assert.equal(rest.next_cursor, null)
  assert.deepEqual((await returns('?date_to=2020-01-01')).data, [])
})

/** Sends a signed report as the shop's server does. */
async function shopReports(of: 'orders' | 'returns', body: object): Promise<void> {
  const secret = await api.db.row<{ postback_secret: string }>(
    sql`select postback_secret from merchant where merch_id = ${shop.merchId}`,
  )
  const timestamp = String(Math.floor(api.app.node.now() / 1000))
  const payload = Buffer.from(JSON.stringify(body))
  const signature = signBody(secret?.postback_secret ?? '', timestamp, payload).toString('hex')
  const answer = await api.call(`/api/v1/merchants/${shop.merchId}/${of}/`, {
    body,
    headers: { 'x-souk-timestamp': timestamp, 'x-souk-signature': signature },
  })
  assert.equal(answer.status, 201, answer.text)
  await api.app.untilFolded()
}
