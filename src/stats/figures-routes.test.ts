import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hold } from '../../test/support/auction-world.ts'
import { importOffers } from '../../test/support/catalogue.ts'
import { startDashboard } from '../../test/support/dashboard-session.ts'
import { testDatabase } from '../../test/support/database.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { scopeOf } from '../../test/support/scope.ts'
import type { KeyGuard } from '../accounts/require-key.ts'
import { packReceipt } from '../auction/receipt.ts'
import { EVENT_TYPE, MODEL, type StoredEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { foldMoney } from '../fold/fold-money.ts'
import { foldViews } from '../fold/fold-views.ts'
import { keyOfUrl } from '../platform/net/url.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import type { ClickPage, OrderPage, Overview, Receipt, ReturnPage } from './dashboard-schema.ts'
import { figuresRoutes } from './figures-routes.ts'

const MARCH = 'date_from=2026-03-01&date_to=2026-03-04'

async function start(t: TestContext) {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const world = await makePublisherWorld(db)
  const other = await makePublisherWorld(db, 'rival')
  const now = () => new Date(START_MS + DAY_MS)
  const routes = (keys: KeyGuard) => [figuresRoutes({ db, keys, now })]
  const dashboard = await startDashboard(scope, { db, routes })
  const { publisher, merchant } = world
  const events = new MoneyEvents()
  const click = (
    name: string,
    auctionId: string,
    fields: Partial<StoredEvent> = {},
    atMs = START_MS,
  ) =>
    events.click(name, atMs, {
      auctionId,
      pubId: publisher.pub_id,
      merchId: merchant.merch_id,
      model: MODEL.cpc,
      termsAmount: 333_333,
      reservedMicros: fields.reason ? 0 : 333_333,
      sharePpm: 750_000,
      ...fields,
    })
  const view = (url: string, session: string, atMs = START_MS) =>
    events.at(atMs, {
      type: EVENT_TYPE.pageImpression,
      lane: viewLane(publisher.pub_id),
      pubId: publisher.pub_id,
      sessionKey: Buffer.from(session.padEnd(16)),
      urlKey: keyOfUrl(new URL(url)),
    })
  return {
    ...world,
    db,
    other,
    dashboard,
    own: await dashboard.logIn('gazette@example.com'),
    path: `publishers/${publisher.pub_id}`,
    click,
    view,
    order: (id: string, fields: Parameters<MoneyEvents['order']>[2], atMs = START_MS) =>
      events.order(id, atMs, { merchId: merchant.merch_id, ...fields }),
    back: (id: string, atMs: number, fields: Parameters<MoneyEvents['goodsBack']>[2] = {}) => ({
      ...events.goodsBack(id, atMs, fields),
      merchId: merchant.merch_id,
    }),
    reversal: (name: string, reason: string) => {
      const body = JSON.stringify({ click_id: clickId(name), reason })
      return events.at(START_MS + 1000, { type: EVENT_TYPE.reversal, body })
    },
    money: (...batch: StoredEvent[]) => db.transaction((tx) => foldMoney(tx, batch)),
    views: (...batch: StoredEvent[]) => db.transaction((tx) => foldViews(tx, batch)),
  }
}

test('the overview sums micros, not rounded rows, and counts a view once across merchants', async (t) => {
  const s = await start(t)
  const mugs = await s.addArticle('Mugs')
  await s.views(s.view(mugs.url, 'a'), s.view(mugs.url, 'b', START_MS + DAY_MS))
  const { merch_id: otherMerchant } = s.other.merchant
  const tiny = { termsAmount: 2_667, reservedMicros: 2_667 } // The publisher's share: 0.002.
  await s.money(
    s.click('a', mugs.auctionId, tiny),
    s.click('b', mugs.auctionId, { ...tiny, merchId: otherMerchant }),
    s.click('c', mugs.auctionId, tiny, START_MS + DAY_MS),
    s.click('d', mugs.auctionId, { reason: REASON.robot }),
  )
  const { status, json } = await s.own.call<Overview>(`${s.path}/overview/?${MARCH}`)
  assert.equal(status, 200)
  const { totals, days, rows } = json.data[0]
  assert.deepEqual(totals, {
    impressions: 2,
    clicks: 3,
    sales: 0,
    revenue: '0.00',
    earnings: '0.01',
    unpaid_clicks: 1,
    earnings_per_click: '0.002',
  })
  assert.deepEqual(
    days.map((day) => [day.event_date, day.clicks, day.unpaid_clicks, day.earnings]),
    [
      ['2026-03-01', 0, 0, '0.00'],
      ['2026-03-02', 2, 1, '0.00'],
      ['2026-03-03', 1, 0, '0.00'],
      ['2026-03-04', 0, 0, '0.00'],
    ],
  )
  assert.deepEqual(
    rows.map((row) => [row.merchant_name, row.clicks, row.impressions]),
    [
      [s.merchant.name, 2, 2],
      [s.other.merchant.name, 1, 2],
    ],
  )
})

test('lists every click, newest first, with its earnings or the reason for none', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  await s.money(
    s.click('paid', auctionId),
    s.click('robot', auctionId, { reason: REASON.robot }),
    s.click('robot again', auctionId, { reason: REASON.robot }),
    s.click('twice', auctionId, {
      resultNumber: Buffer.from(clickId('result paid'), 'hex'),
      visitorKey: null,
    }),
  )
  const listed = async (query = '') => {
    const { json } = await s.own.call<ClickPage>(`${s.path}/clicks/?${MARCH}${query}`)
    return json.data[0]
  }
  const { clicks, reasons, next } = await listed()
  assert.equal(next, null)
  assert.deepEqual(
    clicks.map((one) => [one.reason, one.is_counted, one.earnings]),
    [
      ['duplicate_result', false, '0.00'],
      ['robot', false, '0.00'],
      ['robot', false, '0.00'],
      ['ok', true, '0.249999'],
    ],
  )
  const counted = reasons.map((one) => [one.reason, one.clicks])
  assert.deepEqual(
    counted,
    [
      ['ok', 1],
      ['robot', 2],
      ['duplicate_result', 1],
    ],
    'valid ones first',
  )
  assert.equal((await listed('&outcome=counted')).clicks.length, 1)
  assert.equal((await listed('&outcome=unpaid')).clicks.length, 3)
  const further = await listed('&cursor=2')
  assert.equal(further.clicks[0]?.reason, 'ok')
  assert.deepEqual(further.reasons, [], 'all of them are counted once')
})

test('paging continues across days, also where a day has a lower id than the day before', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  const commission = { model: MODEL.cpa, termsAmount: 100_000, reservedMicros: 0 }
  // From two nodes with different clocks, at midnight.
  const later = s.click('later', auctionId, commission, START_MS + DAY_MS)
  const laterOrder = s.order('R-2', { exact: 'later' }, START_MS + DAY_MS)
  const sooner = s.click('sooner', auctionId, commission)
  const soonerOrder = s.order('R-1', { exact: 'sooner' })
  await s.money(later, laterOrder, sooner, soonerOrder)
  const clicks = async (query = '') => {
    const { json } = await s.own.call<ClickPage>(`${s.path}/clicks/?${MARCH}${query}`)
    return json.data[0].clicks.map(({ click_id }) => click_id)
  }
  assert.deepEqual(await clicks(), [clickId('later'), clickId('sooner')])
  assert.deepEqual(await clicks(`&cursor=${later.id}`), [clickId('sooner')])
  const orders = async (query = '') => {
    const { json } = await s.own.call<OrderPage>(`${s.path}/orders/?${MARCH}${query}`)
    return json.data[0].orders.map(({ checkout_id }) => checkout_id)
  }
  assert.deepEqual(await orders(), ['R-2', 'R-1'])
  assert.deepEqual(await orders(`&cursor=${laterOrder.id}`), ['R-1'])
})

test('a reversed click shows the reason given by the operator', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  await s.money(s.click('a', auctionId), s.click('b', auctionId), s.reversal('a', 'bought traffic'))
  const { json } = await s.own.call<ClickPage>(`${s.path}/clicks/?${MARCH}`)
  const [kept, taken] = json.data[0].clicks
  assert.deepEqual([kept?.reason, taken?.reason, taken?.earnings], ['ok', 'reversed', '0.00'])
  assert.match(taken?.why ?? '', /reversed\. Reason: bought traffic$/)
  assert.doesNotMatch(kept?.why ?? '', /Reason/)
})

test('lists every order, newest first, with its earnings and the result of its click', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  const commission = { model: MODEL.cpa, termsAmount: 100_000, reservedMicros: 0 }
  await s.money(
    s.click('bought', auctionId, commission),
    s.order('R-1', { exact: 'bought' }),
    s.order('R-2', { exact: 'bought' }, START_MS + 1000),
    s.back('R-2', START_MS + 2000),
    s.order('nobody led to it', {}),
  )
  const listed = async (query = '') => {
    const { json } = await s.own.call<OrderPage>(`${s.path}/orders/?${MARCH}${query}`)
    return json.data[0]
  }
  const { orders, next } = await listed()
  assert.equal(next, null)
  assert.deepEqual(
    orders.map((one) => [one.checkout_id, one.earnings, one.returned, one.state, one.article_name]),
    [
      ['R-2', '41.25', '7.50', 'PENDING', 'Mugs'],
      ['R-1', '41.25', '0.00', 'PENDING', 'Mugs'],
    ],
  )
  assert.equal(orders[0]?.auction_result_number, clickId('result bought'))
  const { json } = await s.own.call<Overview>(`${s.path}/overview/?${MARCH}`)
  assert.equal(json.data[0].totals.earnings, '75.00', 'their sum, less returns')
  assert.equal((await listed(`&cursor=${orders[0]?.order_id}`)).orders[0]?.checkout_id, 'R-1')
})

test('lists a return once, on its own day, with its effect on all lines of an order', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  const commission = { model: MODEL.cpa, termsAmount: 100_000, reservedMicros: 0 }
  const weekLater = START_MS + 7 * DAY_MS
  const later = s.back('R-1', weekLater + DAY_MS)
  const sooner = s.back('R-2', weekLater, { quantity: 2 })
  const lines = [orderLine('A1', 30_000, 1), orderLine('A1', 25_000, 1)]
  await s.money(
    s.click('bought', auctionId, commission),
    s.order('R-1', { exact: 'bought' }),
    s.order('R-2', { exact: 'bought', report: { lines } }),
    s.back('never ordered', weekLater),
    ...[sooner, later],
  )
  const days = 'date_from=2026-03-09&date_to=2026-03-10'
  const listed = async (query: string) => {
    const { json } = await s.own.call<ReturnPage>(`${s.path}/returns/?${query}`)
    const { returns } = json.data[0]
    return returns.map((r) => [r.checkout_id, r.earnings, r.article_name, r.auction_result_number])
  }
  assert.deepEqual(await listed(MARCH), [], 'the day of the order is not its own')
  const ofMugs = ['Mugs', clickId('result bought')]
  const [first, second] = [
    ['R-1', '-7.50', ...ofMugs],
    ['R-2', '-41.25', ...ofMugs],
  ]
  assert.deepEqual(await listed(days), [first, second])
  assert.deepEqual(await listed(`${days}&cursor=${later.id}`), [second])
  const { json } = await s.own.call<Overview>(`${s.path}/overview/?${days}`)
  assert.equal(json.data[0].totals.earnings, '-48.75', 'the sum of them')
})

test('an order cancelled after its earnings became final is not a sale, as in the report', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  const terms = { model: MODEL.epp, termsAmount: 1_500_000, reservedMicros: 0 }
  const cancelled = { is_cancelled: true, updated_at_ms: START_MS + 1000 }
  await s.money(
    s.click('bought', auctionId, terms),
    s.order('R-1', { exact: 'bought' }),
    s.order('R-1', { exact: 'bought', report: cancelled }, START_MS + 1000),
  )
  const { json } = await s.own.call<OrderPage>(`${s.path}/orders/?${MARCH}`)
  const [order] = json.data[0].orders
  assert.deepEqual([order?.state, order?.is_cancelled], ['LOCKED', true])
  assert.deepEqual([order?.revenue, order?.earnings], ['0.00', '1.125'])
})

test('a rejected order shows its reason and earns nothing', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  await s.money(
    s.click('bought', auctionId, { model: MODEL.cpa, termsAmount: 100_000, reservedMicros: 0 }),
    s.order('R-1', { exact: 'bought' }),
    s.order('R-1', { exact: 'bought', report: { is_cancelled: true } }, START_MS + 1000),
  )
  const { json } = await s.own.call<OrderPage>(`${s.path}/orders/?${MARCH}`)
  const [order] = json.data[0].orders
  assert.deepEqual(
    [order?.state, order?.reject_reason, order?.earnings, order?.revenue],
    ['REJECTED', 'cancelled', '0.00', '0.00'],
  )
})

test('a click names its product as of the click, whatever later feeds say', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  const link = 'https://gazette-shop.example/mug'
  const feed = (title: string) =>
    importOffers(s.db, s.merchant.merch_id, [{ id: 'mug', title, link }])
  await feed('A blue mug')
  const offer = await s.db.row<{ offer_id: string }>(sql`select offer_id from offer`)
  const offerId = offer?.offer_id ?? ''
  await s.money(s.click('then', auctionId, { offerId }))
  await feed('A green bowl')
  await s.money(s.click('now', auctionId, { offerId }))
  const { json } = await s.own.call<ClickPage>(`${s.path}/clicks/?${MARCH}`)
  assert.deepEqual(
    json.data[0].clicks.map((one) => one.product_name),
    ['A green bowl', 'A blue mug'],
  )
})

test('a click without a receipt is still explained by its own terms', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  await s.money(s.click('a', auctionId))
  const { status, json } = await s.own.call<Receipt>(`receipts/${clickId('result a')}/`)
  assert.equal(status, 200)
  const [receipt] = json.data
  assert.equal(receipt.pub_id, s.publisher.pub_id)
  assert.deepEqual([receipt.explanation, receipt.article_name], [null, 'Mugs'])
  assert.equal(receipt.clicks[0]?.price, '0.333333')
})

test('a click waits for its receipt, which arrives shortly after, before it is shown without one', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  await s.money(s.click('a', auctionId))
  const resultNumber = Buffer.from(clickId('result a'), 'hex')
  const packed = packReceipt({ ...hold([{ name: 'A' }], {}, resultNumber), resultNumber })
  const asked = s.own.call<Receipt>(`receipts/${clickId('result a')}/`)
  await sleep(300) // Receipts are written every 200 ms.
  await s.db.run(sql`
    insert into receipt (result_number, at, pub_id, auction_id, merch_id, packed)
    values (${resultNumber}, ${new Date(START_MS)}, ${s.publisher.pub_id}, ${auctionId}, 1,
      ${packed})`)
  const { json } = await asked
  assert.equal(json.data[0].explanation?.candidates.length, 1)
})

test('nobody sees another publisher’s figures, clicks and receipts, nor that they exist', async (t) => {
  const s = await start(t)
  const { auctionId } = await s.addArticle('Mugs')
  await s.money(s.click('a', auctionId))
  const paths = [
    `${s.path}/overview/?${MARCH}`,
    `${s.path}/clicks/?${MARCH}`,
    `${s.path}/orders/?${MARCH}`,
    `${s.path}/returns/?${MARCH}`,
    `receipts/${clickId('result a')}/`,
  ]
  const rival = await s.dashboard.logIn('rival@example.com')
  const nobody = await s.dashboard.logIn(null)
  for (const path of paths) {
    const refused = path.startsWith('receipts/') ? 4040 : 4303
    assert.deepEqual((await rival.call(path)).json.error.code, refused, path)
    assert.deepEqual((await nobody.call(path)).json.error.code, 4302, path)
  }
  const unknown = await s.own.call(`receipts/${'0'.repeat(32)}/`)
  const theirs = await rival.call(`receipts/${clickId('result a')}/`)
  assert.deepEqual(theirs.json, unknown.json)
})

test('refuses invalid days, outcomes and results by name', async (t) => {
  const s = await start(t)
  const faultsOf = async (path: string) => {
    const { status, json } = await s.own.call(path)
    assert.equal(status, 400, path)
    return json.error.data.map(({ field }) => field)
  }
  const overview = `${s.path}/overview/`
  assert.deepEqual(await faultsOf(overview), ['date_from', 'date_to'])
  assert.deepEqual(await faultsOf(`${overview}?date_from=x&date_to=2026-02-30`), [
    'date_from',
    'date_to',
  ])
  assert.deepEqual(await faultsOf(`${overview}?date_from=2026-03-02&date_to=2026-03-01`), [
    'date_to',
  ])
  assert.deepEqual(await faultsOf(`${overview}?date_from=2020-01-01&date_to=2026-03-01`), [
    'date_to',
  ])
  const oneDay = await s.own.call<Overview>(`${overview}?date_from=2026-03-02&date_to=2026-03-02`)
  assert.equal(oneDay.json.data[0].days.length, 1)
  assert.deepEqual(await faultsOf(`${s.path}/clicks/?${MARCH}&outcome=maybe`), ['outcome'])
  assert.deepEqual(await faultsOf(`${s.path}/clicks/?date_from=x&date_to=y&outcome=maybe`), [
    'date_from',
    'date_to',
    'outcome',
  ])
  assert.deepEqual(await faultsOf('receipts/nonsense/'), ['auction_result'])
})
