import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { importOffers } from '../../test/support/catalogue.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { EVENT_TYPE, MODEL, type StoredEvent, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { exportReport } from './export.ts'
import { openReports } from './read-report.ts'
import { REPORT_COLUMNS, type ReportName } from './report.ts'

async function start(t: TestContext) {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const world = await makePublisherWorld(db)
  const { pub_id: pubId, slug } = world.publisher
  const { merch_id: merchId } = world.merchant
  const article = await world.addArticle('=Ten "mugs", tested')
  const folder = await temporaryFolder(t, 'souk-reports-')
  const events = new MoneyEvents()
  const own = <T extends StoredEvent>(event: T) => ({ ...event, merchId })
  const click = (name: string, fields: Partial<StoredEvent> = {}) =>
    own(
      events.click(name, START_MS, {
        auctionId: article.auctionId,
        pubId,
        device: 2,
        uaFamily: 'Firefox',
        country: 'GB',
        url: 'https://gazette-shop.example/p/1',
        referrer: article.url,
        u1: '@campaign',
        visitorKey: Buffer.from('visitor'.padEnd(16)),
        ...fields,
      }),
    )
  const write = async (
    report: ReportName,
    day: string,
    options: { now?: Date; isGzip?: boolean; dayTo?: string } = {},
  ) => {
    const { now = new Date(START_MS + DAY_MS), isGzip = false, dayTo = day } = options
    const source = openReports(db, { pubId, now })
    const request = { pubId, slug, report, dayFrom: day, dayTo, now, isGzip }
    const files = await exportReport(source, folder, request)
    const texts = await Promise.all(files.map(({ path }) => readFile(path)))
    const text = String(isGzip ? gunzipSync(texts[0] ?? '') : texts[0])
    return { files, text, bytes: texts[0], rows: parse(text, { columns: true }) as Row[] }
  }
  return {
    ...world,
    db,
    events,
    article,
    folder,
    own,
    click,
    write,
    record: log.record,
  }
}

type Row = Record<string, string>

test("the columns are the documented ones, in order, with Souk's own at the end", () => {
  assert.equal(REPORT_COLUMNS.clicks.length, 30)
  assert.equal(REPORT_COLUMNS.clicks.indexOf('earnings'), 9)
  assert.deepEqual(REPORT_COLUMNS.clicks.slice(-4), [
    'earnings_usd',
    'is_billable',
    'unbillable_reason',
    'auction_result_number',
  ])
  assert.equal(REPORT_COLUMNS.orders.length, 39)
  assert.deepEqual(REPORT_COLUMNS.orders.slice(-4), [
    'line_earnings',
    'line_revenue',
    'state',
    'locks_at',
  ])
  assert.equal(REPORT_COLUMNS.returns.length, 11)
})

test('the clicks report has paid and unpaid clicks with reasons, impressions, and cents beside dollars', async (t) => {
  const s = await start(t)
  const paid = {
    model: MODEL.cpc,
    termsAmount: 542_235,
    reservedMicros: 542_235,
    sharePpm: 750_000,
  }
  const pubId = s.publisher.pub_id
  await s.record(
    s.click('a', paid),
    s.click('b', { ...paid, reason: REASON.robot, visitorKey: null }),
    s.click('c', { ...paid, model: MODEL.cpa, visitorKey: null }),
    s.click('d', { model: MODEL.none, campaignId: null, termsAmount: 0, visitorKey: null }),
    s.events.at(START_MS, {
      type: EVENT_TYPE.linkImpression,
      lane: viewLane(pubId),
      pubId,
      auctionId: s.article.auctionId,
      sessionKey: Buffer.from('session'.padEnd(16)),
    }),
  )
  const { files, rows, text } = await s.write('clicks', '2026-03-02')
  assert.deepEqual(files, [
    {
      path: join(s.folder, 'gazette/2026/03/souk_log_files_clicks_20260302.csv'),
      rows: 5,
    },
  ])
  assert.equal(text.split('\n')[0], REPORT_COLUMNS.clicks.join(','))
  const [a, b, c, d, seen] = rows
  assert.deepEqual(
    [a?.click_id, a?.is_click, a?.network, a?.earnings, a?.earnings_usd, a?.is_billable],
    [clickId('a'), '1', 'CPC', '40.6676', '0.406676', 'true'],
  )
  assert.deepEqual([b?.is_billable, b?.unbillable_reason, b?.earnings], ['false', 'robot', '0.00'])
  assert.deepEqual([c?.is_billable, c?.unbillable_reason], ['false', 'paid_per_order'])
  assert.deepEqual([d?.is_billable, d?.unbillable_reason], ['false', 'no_bidder'])
  assert.deepEqual([seen?.is_click, seen?.network, seen?.click_id], ['0', 'CPM', ''])
  assert.equal(a?.click_timestamp, '2026-03-02 12:00:00')
  assert.equal(a?.article_name, `'=Ten "mugs", tested`, 'a formula is made harmless')
  assert.equal(a?.click_u1_param, `'@campaign`)
  assert.deepEqual(
    [a?.user_agent, a?.device_type, a?.country_code, a?.link_id, a?.link_source],
    ['mobile Firefox', 'mobile', 'GB', s.article.auctionId, 'api'],
  )
  assert.equal(a?.is_clean_article_url, 'true')
  await s.db.run(sql`update smart_link set is_article_given = false`)
  const read = await s.write('clicks', '2026-03-02')
  assert.equal(read.rows[0]?.is_clean_article_url, 'false')
})

test("a click keeps its product's name and price, whatever the feed says later", async (t) => {
  const s = await start(t)
  const { merch_id: merchId } = s.merchant
  const load = (price: string, title: string) =>
    importOffers(s.db, merchId, [
      { id: 'mug', link: 'https://gazette-shop.example/p/1', price, title, brand: 'Potter' },
      { id: 'cup', link: 'https://gazette-shop.example/p/2' },
    ])
  await load('20.00 USD', 'Mug')
  const offer = await s.db.row<{ offer_id: string }>(
    sql`select offer_id from current_offer where sku = 'mug'`,
  )
  const offerId = offer?.offer_id ?? null
  await s.record(s.click('a', { offerId }))
  await s.record(s.events.order('bought', START_MS + 1, { click: 'a', merchId }))
  const clicks = await s.write('clicks', '2026-03-02')
  const orders = await s.write('orders', '2026-03-02')
  const facts = (row: Row | undefined) => [
    row?.click_product_name,
    row?.click_product_price,
    row?.click_product_brand,
    row?.click_is_brand_page,
  ]
  assert.deepEqual(facts(clicks.rows[0]), ['Mug', '20.00', 'Potter', 'false'])
  assert.deepEqual(facts(orders.rows[0]), ['Mug', '20.00', 'Potter', 'false'])

  await load('25.00 USD', 'Large mug')
  assert.equal((await s.write('clicks', '2026-03-02')).text, clicks.text)
  assert.equal((await s.write('orders', '2026-03-02')).text, orders.text)

  await s.record(s.click('b', { offerId }))
  await importOffers(s.db, merchId, [{ id: 'cup', link: 'https://gazette-shop.example/p/2' }])
  const { rows } = await s.write('clicks', '2026-03-02')
  assert.deepEqual(facts(rows[0]), ['Mug', '20.00', 'Potter', 'false'], 'after the offer is gone')
  assert.deepEqual(facts(rows[1]), ['Large mug', '25.00', 'Potter', 'false'])
})

test('the orders and returns reports equal the documented example (needs the test data)', async (t) => {
  const path = kitPath(t, 'oracles/orders-returns.json')
  if (path === null) return
  const example = JSON.parse(await readFile(path, 'utf8')).report_example
  const s = await start(t)
  const order = (id: string, lines: readonly object[], dollars: number) =>
    s.own(
      s.events.order(id, START_MS, {
        click: 'a',
        report: {
          value: `${dollars}.00`,
          value_micros: dollars * 1_000_000,
          lines: lines as never,
        },
      }),
    )
  const back = (day: number, id: string, product: string, quantity: number) =>
    s.own(
      s.events.goodsBack('123', START_MS + day * DAY_MS, {
        return_id: id,
        product_id: product,
        quantity,
      }),
    )
  await s.record(
    s.click('a'),
    order('123', [orderLine('A1', 10_000, 4), orderLine('B1', 15_000, 1)], 550),
    order('321', [orderLine('A1', 10_000, 1)], 100),
    back(1, 'r1', 'A1', 2),
    back(2, 'r2', 'A1', 1),
    back(2, 'r3', 'B1', 1),
  )
  const orders = (await s.write('orders', '2026-03-02')).rows
  assert.deepEqual(
    orders.map((row) => ({
      checkout_id: row.checkout_id,
      product_id: row.purchased_product_id,
      quantity: Number(row.number_products_purchased),
      earnings: row.line_earnings,
      revenue: row.line_revenue,
    })),
    example.orders.map(({ day: _, ...row }: { day: number }) => row),
  )
  assert.deepEqual(
    orders.map((row) => [row.earnings, row.revenue, row.state]),
    [
      ['55.00', '550.00', 'PENDING'],
      ['55.00', '550.00', 'PENDING'],
      ['10.00', '100.00', 'PENDING'],
    ],
  )
  assert.equal(orders[0]?.locks_at, '2026-05-31 12:00:00')
  const returned = [1, 2].map((day) => s.write('returns', `2026-03-0${2 + day}`))
  const rows = (await Promise.all(returned)).map((file) => file.rows)
  const wanted = example.returns as { day: number; product_id: string; quantity: number }[]
  assert.deepEqual(
    rows
      .flat()
      .map((row) => [
        row.checkout_id,
        row.purchased_product_id,
        Number(row.return_quantity),
        row.return_earnings,
        row.return_revenue,
      ]),
    (wanted as unknown as Record<string, string>[]).map((row) => [
      row.checkout_id,
      row.product_id,
      row.quantity,
      row.earnings,
      row.revenue,
    ]),
  )
})

test('line earnings and revenue, less returns, equal the statistics', async (t) => {
  const s = await start(t)
  const order = (id: string) => s.own(s.events.order(id, START_MS, { click: 'a' }))
  await s.record(
    s.click('a'),
    order('o1'),
    order('o2'),
    s.click('b', { model: MODEL.epp, termsAmount: 1_500_000 }),
    ...[false, true].map((is_cancelled) =>
      s.own(s.events.order('o3', START_MS, { click: 'b', report: { is_cancelled } })),
    ),
    s.own(s.events.goodsBack('o3', START_MS, { quantity: 1 })),
    s.own(s.events.goodsBack('o1', START_MS, { quantity: 1 })),
    s.own(s.events.goodsBack('o2', START_MS, { quantity: 1 })),
    s.own(s.events.decision('o2', START_MS + DAY_MS, { kind: 'reject', reason: 'fraud' })),
  )
  const orders = (await s.write('orders', '2026-03-02')).rows
  const returns = (await s.write('returns', '2026-03-02')).rows
  assert.deepEqual(
    [...new Set(orders.map(({ state }) => state))],
    ['PENDING', 'REJECTED', 'LOCKED'],
  )
  const sum = (rows: readonly Record<string, string>[], column: string) =>
    rows.reduce((total, row) => total + Math.round(Number(row[column]) * 1_000_000), 0)
  const figures = await s.db.row(sql`
    select sum(earnings_micros)::int as earnings, sum(revenue_micros)::int as revenue
    from stats_day`)
  assert.deepEqual(figures, {
    earnings: sum(orders, 'line_earnings') + sum(returns, 'return_earnings'),
    revenue: sum(orders, 'line_revenue') + sum(returns, 'return_revenue'),
  })
})

test('the payments report shows which payment released which earnings, and order states follow', async (t) => {
  const s = await start(t)
  const cpc = { model: MODEL.cpc, termsAmount: 400_000, reservedMicros: 400_000 }
  const epp = { model: MODEL.epp, termsAmount: 2_000_000, sharePpm: 500_000 }
  const pay = (reference: string, micros: number, atMs: number) =>
    s.own(
      s.events.at(atMs, {
        type: EVENT_TYPE.payment,
        body: JSON.stringify({ reference, paid_on: '2026-03-04', amount_micros: micros }),
      }),
    )
  const order = s.own(s.events.order('o1', START_MS, { click: 'b' }))
  const payment = pay('one', 1_000_000, START_MS + 2 * DAY_MS)
  await s.record(s.click('a', cpc), s.click('b', epp), order, payment)

  // Due first: the sale, at once, in its two lines; then the clicks, when their day is over.
  const now = new Date(START_MS + 3 * DAY_MS)
  const key = (product: string) => `o1:${s.merchant.merch_id}:${product}`
  const paid = (await s.write('payments', '2026-03-04', { now })).rows
  assert.deepEqual(
    paid.map((row) => [row.order_product_id, row.amount_usd, row.state, row.statement_id]),
    [[key('A1'), '0.503448', 'PART_PAID', `S${s.publisher.pub_id}-202603`]],
  )
  assert.equal(paid[0]?.payment_id, payment.id)
  const stateOf = async (at: Date) =>
    (await s.write('orders', '2026-03-02', { now: at })).rows.map(({ state }) => state)
  assert.deepEqual(await stateOf(now), ['LOCKED', 'LOCKED'])

  await s.record(pay('two', 5_000_000, START_MS + 4 * DAY_MS))
  const later = new Date(START_MS + 5 * DAY_MS)
  const rest = (await s.write('payments', '2026-03-06', { now: later })).rows
  assert.deepEqual(
    rest.map((row) => [row.order_product_id, row.amount_usd, row.state]),
    [
      ['2026-03-02', '0.40', 'PAID'],
      [key('A1'), '0.226552', 'PAID'],
      [key('B1'), '0.27', 'PAID'],
    ],
  )
  assert.deepEqual(await stateOf(later), ['PAID', 'PAID'])
})

test('a gzip file holds the same rows, and the same figures give the same bytes', async (t) => {
  const s = await start(t)
  await s.record(s.click('a'), s.own(s.events.order('o1', START_MS, { click: 'a' })))
  for (const report of ['clicks', 'orders', 'returns', 'payments'] as const) {
    const plain = await s.write(report, '2026-03-02')
    const packed = await s.write(report, '2026-03-02', { isGzip: true })
    const later = new Date(START_MS + 2 * DAY_MS)
    const again = await s.write(report, '2026-03-02', { isGzip: true, now: later })
    assert.equal(packed.text, plain.text)
    assert.deepEqual(again.bytes, packed.bytes, report)
  }
})

test('every day of a range has its file, also without rows', async (t) => {
  const s = await start(t)
  const { files } = await s.write('returns', '2026-02-27', { dayTo: '2026-03-02' })
  assert.deepEqual(
    files.map(({ path, rows }) => [path.slice(-12, -4), rows]),
    [
      ['20260227', 0],
      ['20260228', 0],
      ['20260301', 0],
      ['20260302', 0],
    ],
  )
})

test('the pages of a report contain every row once, whatever their size', async (t) => {
  const s = await start(t)
  const pubId = s.publisher.pub_id
  const seen = Array.from({ length: 5 }, (_, index) =>
    s.events.at(START_MS + index, {
      type: EVENT_TYPE.linkImpression,
      lane: viewLane(pubId),
      pubId,
      auctionId: s.article.auctionId,
    }),
  )
  const clicks = ['a', 'b', 'c', 'd'].map((name) => s.click(name))
  const orders = ['o1', 'o2', 'o3'].map((id) => s.own(s.events.order(id, START_MS, { click: 'a' })))
  await s.record(...clicks, ...seen, ...orders)
  const now = new Date(START_MS + DAY_MS)
  const source = openReports(s.db, { pubId, now })
  for (const [report, expected] of [
    ['clicks', 9],
    ['orders', 6],
  ] as const) {
    for (const limitRows of [1, 2, 3, 4, 9, 100]) {
      const rows: string[] = []
      let cursor: string | null = null
      do {
        const page = { pubId, dayFrom: '2026-03-01', dayTo: '2026-03-03', cursor, limitRows, now }
        const answer = await source.page(report, page)
        assert.ok(answer.rows.length <= limitRows)
        rows.push(...answer.rows.map((row) => JSON.stringify(row)))
        cursor = answer.next
      } while (cursor !== null)
      assert.equal(rows.length, expected, `${report} by ${limitRows}`)
    }
  }
})
