import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { until } from '../../test/support/market.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { startQuietHttp } from '../../test/support/quiet-http.ts'
import { makeKeyGuard } from '../accounts/require-key.ts'
import { EVENT_TYPE, MODEL, type StoredEvent, viewLane } from '../events/event.ts'
import { issueStatements } from '../ledger/statement-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { explainOrder, explainPublisherOrder, listHeldOrders } from './order-record-store.ts'
import { reportRoutes } from './routes.ts'

async function start(t: TestContext) {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const world = await makePublisherWorld(db)
  const article = await world.addArticle('Ten mugs')
  const clock = { now: new Date(START_MS + DAY_MS) }
  const http = await startQuietHttp(t)
  const keys = makeKeyGuard({
    db,
    brandWords: ['service'],
    limits: null,
    baseUrl: 'http://127.0.0.1',
    now: () => new Date(),
  })
  await http.register(reportRoutes({ db, keys, now: () => clock.now }))
  const { pub_id: pubId } = world.publisher
  const { merch_id: merchId } = world.merchant
  const events = new MoneyEvents()
  const own = <T extends StoredEvent>(event: T) => ({ ...event, merchId })
  return {
    ...world,
    db,
    clock,
    events,
    own,
    merchId,
    click: (name: string, fields: Partial<StoredEvent> = {}) =>
      events.click(name, START_MS, { merchId, pubId, auctionId: article.auctionId, ...fields }),
    record: log.record,
    get: async (path: string, headers: object = world.headers) => {
      const url = `/api/v1/publishers/${pubId}/${path}`
      const answer = await http.inject({ url, headers: { ...headers } })
      const type = String(answer.headers['content-type'])
      return {
        status: answer.statusCode,
        type,
        text: answer.body,
        json: type.startsWith('application/json') ? answer.json() : null,
      }
    },
  }
}

const MARCH = 'date_from=2026-03-01&date_to=2026-03-31'

test('a report is returned page by page as JSON, and whole as CSV', async (t) => {
  const s = await start(t)
  await s.record(s.click('a'), s.click('b'), s.click('c', { u1: '=1' }))
  const first = await s.get(`reports/clicks/?${MARCH}&limit=2`)
  assert.equal(first.status, 200)
  assert.equal(first.json.rows.length, 2)
  assert.equal(first.json.rows[0].is_click, 1)
  const next = encodeURIComponent(first.json.next)
  const second = await s.get(`reports/clicks/?${MARCH}&limit=2&cursor=${next}`)
  assert.equal(second.json.rows.length, 1)
  assert.equal(second.json.rows[0].click_u1_param, '=1', 'JSON is not a spreadsheet')

  const file = await s.get(`reports/clicks/?${MARCH}&format=csv`)
  assert.match(file.type, /^text\/csv/)
  const rows = parse(file.text, { columns: true }) as Record<string, string>[]
  assert.deepEqual(Object.keys(first.json.rows[0]), Object.keys(rows[0] ?? {}))
  assert.deepEqual(
    rows.map((row) => row.click_u1_param),
    ['', '', `'=1`],
  )
})

test('a database failure before the first row gives a 503, not a broken file', async (t) => {
  const s = await start(t)
  const other = await s.db.reserve()
  await other.run(sql`begin`)
  await other.run(sql`lock table merchant_order`)
  const file = s.get(`reports/orders/?${MARCH}&format=csv`)
  const cut = sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await s.db.run(cut)) > 0)
  const { status, json } = await file
  other.release(new Error('over'))
  assert.deepEqual([status, json.error.code], [503, 5030])
})

test("the clicks report has only impressions of the publisher's own links", async (t) => {
  const s = await start(t)
  const other = await makePublisherWorld(s.db, 'other')
  const { auctionId: foreign } = await other.addArticle('Elsewhere')
  const { auctionId } = await s.addArticle('Here')
  const { pub_id: pubId } = s.publisher
  const shared = { type: EVENT_TYPE.linkImpression, lane: viewLane(pubId), pubId }
  const seen = [auctionId, foreign, '9223372036854775807'].map((id) =>
    s.events.at(START_MS, { ...shared, auctionId: id }),
  )
  await s.record(...seen)
  const { rows } = (await s.get(`reports/clicks/?${MARCH}`)).json
  assert.deepEqual(
    rows.map((row: Record<string, unknown>) => [row.link_id, row.article_name]),
    [[auctionId, 'Here']],
  )
})

test('wrong parameters, a missing key and foreign publishers are refused', async (t) => {
  const s = await start(t)
  for (const path of [
    'reports/secrets/?date_from=2026-03-01&date_to=2026-03-31',
    'reports/clicks/?date_from=2026-03-02&date_to=2026-03-01',
    'reports/clicks/?date_from=2026-03-02',
    'reports/clicks/?date_from=soon&date_to=2026-03-01',
    'reports/clicks/?date_from=2020-01-01&date_to=2026-03-01',
    `reports/clicks/?${MARCH}&limit=0`,
    `reports/clicks/?${MARCH}&format=xml`,
    'orders/abc/',
    'orders/9223372036854775808/',
    'statements/2026-13/',
  ]) {
    assert.equal((await s.get(path)).status, 400, path)
  }
  assert.equal((await s.get(`reports/clicks/?${MARCH}`, {})).status, 401)
  const other = await makePublisherWorld(s.db, 'other')
  assert.equal((await s.get(`reports/clicks/?${MARCH}`, other.headers)).status, 403)
  for (const path of ['orders/1/', 'payments/', 'statements/']) {
    assert.equal((await s.get(path, other.headers)).status, 403, path)
  }
})

test('a cursor that no page returned is refused, never taken for the first page', async (t) => {
  const s = await start(t)
  const strange = ['nonsense', 'click 2026-99-99 1', 'seen 2026-03-01 9999999999999999999']
  for (const cursor of [...strange, '2026-99-99 1 1', '2026-03-01 9999999999999999999 9999']) {
    for (const report of ['clicks', 'orders', 'returns', 'payments']) {
      const path = `reports/${report}/?${MARCH}&cursor=${encodeURIComponent(cursor)}`
      const { status, json } = await s.get(path)
      assert.equal(status, 400, path)
      assert.deepEqual(json.error.data, [
        { field: 'cursor', rule: 'must be `next` of an earlier page of this report' },
      ])
    }
  }
})

test('an order explains itself: evidence, lines, returns, state and ledger entries', async (t) => {
  const s = await start(t)
  const order = s.own(s.events.order('o1', START_MS, { click: 'b' }))
  await s.record(
    s.click('a'),
    s.click('b', { sharePpm: 600_000 }),
    order,
    s.own(s.events.goodsBack('o1', START_MS + DAY_MS, { quantity: 1 })),
  )
  const [shown] = (await s.get(`orders/${order.id}/`)).json.data
  const wanted = { pubId: s.publisher.pub_id, eventId: order.id, now: s.clock.now }
  assert.deepEqual(await explainPublisherOrder(s.db, wanted), shown, 'reports everything it finds')
  assert.deepEqual(
    [shown.checkout_id, shown.state, shown.attribution, shown.evidence[0].verdict],
    ['o1', 'PENDING', 'visitor', 'won'],
  )
  // 550.00 × 0.1 is the commission, and 0.6 of it the publisher’s.
  const terms = { campaign_id: 1, model: 'cpa', rate: 0.1, payment_usd: null, share: 0.6 }
  assert.deepEqual(shown.terms, terms)
  assert.deepEqual([shown.commission_usd, shown.net_commission_usd], ['55.00', '45.00'])
  assert.deepEqual([shown.earnings_usd, shown.net_earnings_usd], ['33.00', '27.00'])
  assert.deepEqual(
    shown.entries.map((line: { kind: string; account: string; amount_usd: string }) => [
      line.kind,
      line.account,
      line.amount_usd,
    ]),
    [
      ['order', 'merchant', '-55.00'],
      ['order', 'publisher', '33.00'],
      ['order', 'platform', '22.00'],
      ['return', 'merchant', '10.00'],
      ['return', 'publisher', '-6.00'],
      ['return', 'platform', '-4.00'],
    ],
  )
  assert.equal((await s.get('orders/999999/')).status, 404)
})

test("a publisher that an order moved to does not see the earlier owner's amounts", async (t) => {
  const s = await start(t)
  const other = await makePublisherWorld(s.db, 'other')
  const { auctionId } = await other.addArticle('Ten plates')
  const theirs = { pubId: other.publisher.pub_id, auctionId, sharePpm: 123_000 }
  const order = s.own(s.events.order('o1', START_MS, { click: 'a' }))
  await s.record(
    s.click('a', theirs),
    s.click('b', { sharePpm: 600_000 }),
    order,
    s.own(s.events.order('o1', START_MS + 1, { exact: 'b' })),
  )
  const foreign = s.own(s.events.order('o2', START_MS + 2, { exact: 'a' }))
  await s.record(foreign)
  assert.equal((await s.get(`orders/${foreign.id}/`)).status, 404)
  const [shown] = (await s.get(`orders/${order.id}/`)).json.data
  assert.equal(shown.pub_id, s.publisher.pub_id)
  assert.deepEqual(
    shown.entries.map((line: Record<string, unknown>) => [
      ...[line.kind, line.account, line.pub_id, line.amount_usd],
    ]),
    [
      ['revision', 'merchant', shown.pub_id, '-55.00'],
      ['revision', 'publisher', shown.pub_id, '33.00'],
      ['revision', 'platform', shown.pub_id, '22.00'],
    ],
  )
})

test("of another publisher's competing click, a publisher sees only the verdict", async (t) => {
  const s = await start(t)
  const other = await makePublisherWorld(s.db, 'other')
  const { auctionId } = await other.addArticle('Ten plates')
  const order = s.own(s.events.order('o1', START_MS, { click: 'a', exact: 'b' }))
  await s.record(s.click('a', { pubId: other.publisher.pub_id, auctionId }), s.click('b'), order)
  const [shown] = (await s.get(`orders/${order.id}/`)).json.data
  const clicked_at = '2026-03-02T12:00:00Z'
  const won = { click_id: clickId('b'), clicked_at, verdict: 'won' }
  const beaten = { click_id: null, clicked_at: null, verdict: 'not_named' }
  assert.deepEqual(shown.evidence, [won, beaten])
  const whole = await explainOrder(s.db, { merchId: s.merchId, orderId: 'o1', now: s.clock.now })
  assert.deepEqual(whole?.evidence, [won, { ...beaten, click_id: clickId('a'), clicked_at }])
})

test('an order shows every ledger entry that it caused, also from replaced reports', async (t) => {
  const s = await start(t)
  const orderOf = (dollars: number, at: number) =>
    s.own(
      s.events.order('o1', at, {
        click: 'b',
        report: { updated_at_ms: at, value_micros: dollars * 1_000_000 },
      }),
    )
  const order = orderOf(100, START_MS)
  await s.record(s.click('b'), order, orderOf(90, START_MS + 1), orderOf(80, START_MS + 2))
  const decision = { kind: 'reject', reason: 'fraud' } as const
  await s.record(s.own(s.events.decision('o1', START_MS + DAY_MS, decision)))
  const { json } = await s.get(`orders/${order.id}/`)
  type Line = { account: string; kind: string; amount_usd: string }
  const earned = json.data[0].entries.filter(({ account }: Line) => account === 'publisher')
  assert.deepEqual(
    earned.map(({ kind, amount_usd }: Line) => [kind, amount_usd]),
    [
      ['order', '10.00'],
      ['revision', '-1.00'],
      ['revision', '-1.00'],
      ['revision', '-8.00'],
    ],
  )
})

test('a held order shows what it waits for, even if an earlier report is in force', async (t) => {
  const s = await start(t)
  const orderOf = (report: object) => s.own(s.events.order('o1', START_MS, { click: 'b', report }))
  await s.record(s.click('b', { model: MODEL.epp, termsAmount: 1_500_000 }), orderOf({}))
  const yen = { currency: 'JPY', value: '12800', value_micros: null, rate_id: null }
  await s.record(orderOf({ ...yen, hold: 'no_rate' }))
  const held = await listHeldOrders(s.db)
  assert.deepEqual(
    held.map(({ hold, currency, value }) => [hold, currency, value]),
    [['no_rate', 'JPY', '12800']],
  )
})

test('an order is paid once all its debts are, even if a line owes nothing', async (t) => {
  const s = await start(t)
  const lines = [orderLine('A1', 1_000, 1), orderLine('gift', 0, 1)]
  const order = s.own(s.events.order('o1', START_MS, { click: 'b', report: { lines } }))
  const body = { reference: 'one', paid_on: '2026-03-02', amount_micros: 1_500_000 }
  const payment = { type: EVENT_TYPE.payment, body: JSON.stringify(body) }
  await s.record(s.click('b', { model: MODEL.epp, termsAmount: 1_500_000 }), order)
  const statesNow = async () => {
    const { rows } = (await s.get(`reports/orders/?${MARCH}`)).json
    const { state } = (await s.get(`orders/${order.id}/`)).json.data[0]
    return [state, ...rows.map((row: { state: string }) => row.state)]
  }
  assert.deepEqual(await statesNow(), ['LOCKED', 'LOCKED', 'LOCKED'])
  await s.record(s.own(s.events.at(START_MS + 1, payment)))
  assert.deepEqual(await statesNow(), ['PAID', 'PAID', 'PAID'], 'the order, and each of its rows')
})

test('a statement is issued once its month is over, and is returned in three forms', async (t) => {
  const s = await start(t)
  await s.db.run(sql`update merchant set name = '<Mugs & Co>' where merch_id = ${s.merchId}`)
  const cpc = { model: MODEL.cpc, termsAmount: 80_000_000, reservedMicros: 80_000_000 }
  const body = { reference: 'r', paid_on: '2026-03-03', amount_micros: 100_000_000 }
  const payment = s.own(
    s.events.at(START_MS + DAY_MS, { type: EVENT_TYPE.payment, body: JSON.stringify(body) }),
  )
  await s.record(s.click('a', { ...cpc, sharePpm: 750_000 }), payment)
  assert.deepEqual(await issueStatements(s.db, { now: new Date('2026-04-01T12:00:00Z') }), [])
  const april = new Date('2026-04-02T00:30:00Z')
  assert.equal((await issueStatements(s.db, { now: april })).length, 1)
  assert.deepEqual(await issueStatements(s.db, { now: april }), [])

  const { json } = await s.get('statements/2026-03/')
  const id = `S${s.publisher.pub_id}-202603`
  assert.deepEqual(json.data[0], {
    statement_id: id,
    pub_id: s.publisher.pub_id,
    month: '2026-03',
    opening_usd: '0.00',
    released_usd: '60.00',
    taken_back_usd: '0.00',
    payout_usd: '60.00',
    closing_usd: '0.00',
    issued_at: '2026-04-02T00:30:00Z',
    merchants: [
      {
        merch_id: s.merchId,
        merchant: '<Mugs & Co>',
        released_usd: '60.00',
        taken_back_usd: '0.00',
      },
    ],
  })
  assert.equal((await s.get('statements/')).json.data.length, 1)
  const [payments] = (await s.get('payments/')).json.data
  assert.deepEqual([payments.paid_out_usd, payments.statements.length], ['60.00', 1])
  const file = await s.get('statements/2026-03/?format=csv')
  const rows = parse(file.text, { columns: true }) as Record<string, string>[]
  assert.deepEqual(
    rows.map((row) => [row.item, row.released_usd || row.amount_usd]),
    [
      ['merchant', '60.00'],
      ['opening', '0.00'],
      ['released', '60.00'],
      ['taken_back', '0.00'],
      ['payout', '60.00'],
      ['closing', '0.00'],
    ],
  )
  const page = await s.get('statements/2026-03/?format=html')
  assert.match(page.type, /^text\/html/)
  assert.match(page.text, /&lt;Mugs &amp; Co&gt;/)
  assert.ok(!page.text.includes('<Mugs'))
  assert.ok(!page.text.includes('<script'))
  assert.equal((await s.get('statements/2026-02/')).status, 404)
})

test("movements after a month's statement are on the next one, and columns of both add up", async (t) => {
  const s = await start(t)
  const cpc = { model: MODEL.cpc, sharePpm: 750_000 }
  const cost = (dollars: number) => ({
    ...{ termsAmount: dollars * 1_000_000, reservedMicros: dollars * 1_000_000 },
  })
  const body = { reference: 'r', paid_on: '2026-03-03', amount_micros: 200_000_000 }
  const payment = { type: EVENT_TYPE.payment, body: JSON.stringify(body) }
  await s.record(
    s.click('a', { ...cpc, ...cost(80) }),
    s.own(s.events.at(START_MS + DAY_MS, payment)),
  )
  await issueStatements(s.db, { now: new Date('2026-04-02T00:30:00Z') })
  // A node whose spool was away: the click still belongs to March.
  await s.record(s.click('b', { ...cpc, ...cost(100) }))
  await issueStatements(s.db, { now: new Date('2026-05-02T00:30:00Z') })

  const shown = async (month: string) => {
    const { merchants, ...sums } = (await s.get(`statements/${month}/`)).json.data[0]
    const rows = merchants.map((row: Record<string, unknown>) => [
      row.merchant,
      row.released_usd,
      row.taken_back_usd,
    ])
    return [...rows, [sums.payout_usd, sums.released_usd, sums.taken_back_usd]]
  }
  assert.deepEqual(await shown('2026-03'), [
    ["gazette's shop", '135.00', '0.00'],
    ['Reported after its statement', '-75.00', '0.00'], // Nothing was reversed.
    ['60.00', '60.00', '0.00'],
  ])
  assert.deepEqual(await shown('2026-04'), [
    ['Reported after its statement', '75.00', '0.00'],
    ['75.00', '75.00', '0.00'],
  ])
})
