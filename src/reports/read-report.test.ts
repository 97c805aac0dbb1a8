import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { MODEL, type Model, type StoredEvent } from '../events/event.ts'
import { insertRates } from '../orders/rate-store.ts'
import { sql } from '../platform/postgres/sql.ts'
import { openReports } from './read-report.ts'

const DAY = '2026-03-02'
const DAY_MS = 86_400_000

/** A publisher's click of the day, `a`, and a merchant's later reports. */
async function start(t: TestContext) {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId } = await addArticle('Mugs')
  const of = { pubId: publisher.pub_id, merchId: merchant.merch_id }
  const events = new MoneyEvents()
  const clickOf = (name: string, model: Model, atMs = START_MS) =>
    events.click(name, atMs, { ...of, auctionId, model })
  const click = clickOf('a', MODEL.cpa)
  const record = async (...orders: StoredEvent[]) => {
    const events = [click, ...orders.map((order) => ({ ...order, merchId: of.merchId }))]
    await log.record(...events)
  }
  return { db, of, events, clickOf, record }
}

test('a page of orders settles only the merchants of its locked orders', async (t) => {
  const { db, of, events, record } = await start(t)
  await record(events.order('o', START_MS, { click: 'a' }))

  const asked = (now: Date) => {
    const queries: string[] = []
    const counting = {
      ...db,
      rows: <T>(query: Parameters<typeof db.rows>[0]) => {
        if (query.text.includes('from click_debt')) queries.push(query.text)
        return db.rows<T>(query)
      },
    }
    const source = openReports(counting, { pubId: of.pubId, now })
    const page = { ...of, dayFrom: DAY, dayTo: DAY, cursor: null, limitRows: 1, now }
    return { queries, read: async () => (await source.page('orders', page)).rows.length }
  }
  const early = asked(new Date(START_MS + 90 * DAY_MS - 1))
  assert.deepEqual([await early.read(), early.queries.length], [1, 0])
  const late = asked(new Date(START_MS + 90 * DAY_MS))
  assert.deepEqual([await late.read(), await late.read(), late.queries.length], [1, 1, 1])
})

test('a report has the rows of its days: clicks, orders, returns', async (t) => {
  const { db, of, events, clickOf, record } = await start(t)
  const order = (id: string, atMs: number) => events.order(id, atMs, { click: 'a' })
  const back = (id: string, atMs: number) => events.goodsBack(id, atMs, { quantity: 1 })
  const days = [0, 1, 2].map((day) => START_MS + day * DAY_MS)
  await record(
    ...['b', 'c'].map((name, at) => clickOf(name, MODEL.cpa, days[at + 1])),
    ...days.map((atMs, at) => order(`o${at}`, atMs)),
    ...days.map((atMs, at) => back(`o${at}`, atMs)),
  )
  const now = new Date(START_MS + 9 * DAY_MS)
  const source = openReports(db, { pubId: of.pubId, now })
  const [dayFrom, dayTo] = ['2026-03-03', '2026-03-03']
  const page = { ...of, dayFrom, dayTo, cursor: null, limitRows: 9, now }
  const found = async (report: 'clicks' | 'orders' | 'returns', column: string) =>
    (await source.page(report, page)).rows.map((row) => (row as Record<string, unknown>)[column])
  assert.deepEqual(await found('clicks', 'click_id'), [clickId('b')])
  assert.deepEqual(await found('orders', 'checkout_id'), [{ text: 'o1' }, { text: 'o1' }])
  assert.deepEqual(await found('returns', 'checkout_id'), [{ text: 'o1' }])
})

test('an order whose click is gone appears in its report and does not end it', async (t) => {
  const { db, of, events, clickOf, record } = await start(t)
  await record(
    clickOf('gone', MODEL.cpa),
    ...['gone', 'a'].map((click) => events.order(`o ${click}`, START_MS, { click })),
  )
  const now = new Date(START_MS)
  const source = openReports(db, { pubId: of.pubId, now })
  const days = { dayFrom: DAY, dayTo: DAY }
  const read = async (limitRows: number, cursor: string | null = null) =>
    source.page('orders', { ...of, ...days, cursor, limitRows, now })
  const whole = (await read(9)).rows
  assert.equal(whole.length, 4)
  await db.run(sql`delete from click where click_id = ${Buffer.from(clickId('gone'), 'hex')}`)
  const first = await read(2)
  const rest = await read(9, first.next)
  const keysOf = (rows: typeof whole) =>
    rows.map((row) => [row.checkout_id, row.line_earnings, row.click_id, row.click_timestamp])
  assert.deepEqual(keysOf([...first.rows, ...rest.rows]), keysOf(whole))
  assert.equal(first.rows[0]?.link_id, null)
})

test("a purchased product's price is in dollars, at the rate of its order", async (t) => {
  const { db, of, events, record } = await start(t)
  const yen = { currency: 'JPY', usdPerBase: '1.1684', currencyPerBase: '186.75' }
  await insertRates(db, 'bank', [{ day: DAY, ...yen }])
  const rate = await db.row<{ rate_id: string }>(sql`select rate_id from exchange_rate`)
  const order = (id: string, price: string, report: object) => {
    const lines = [{ ...orderLine('A1', 0, 1), price }]
    return events.order(id, START_MS, { click: 'a', report: { ...report, lines } })
  }
  const inYen = { currency: 'JPY', value: '12800', rate_id: rate?.rate_id ?? '' }
  await record(
    order('dollars', '20', { value: '20.00', value_micros: 20_000_000 }),
    order('yen', '12800', { ...inYen, value_micros: 80_083_106 }),
  )
  const now = new Date(START_MS)
  const source = openReports(db, { pubId: of.pubId, now })
  const page = { ...of, dayFrom: DAY, dayTo: DAY, cursor: null, limitRows: 9, now }
  const { rows } = await source.page('orders', page)
  assert.deepEqual(
    rows.map((row) => [row.purchased_product_price, row.line_revenue]),
    [
      ['20.00', '20.00'],
      ['80.083106', '80.083106'],
    ],
  )
})

test('network_type says in the documented words whether returns reduce an order', async (t) => {
  const { db, of, events, clickOf, record } = await start(t)
  const order = (click: string) => events.order(`of ${click}`, START_MS, { click })
  await record(clickOf('b', MODEL.epp), order('a'), order('b'))
  const now = new Date(START_MS)
  const source = openReports(db, { pubId: of.pubId, now })
  const page = { ...of, dayFrom: DAY, dayTo: DAY, cursor: null, limitRows: 9, now }
  const { rows } = await source.page('orders', page)
  assert.deepEqual(
    new Set(rows.map((row) => `${row.network}: ${row.network_type}`)),
    new Set(['CPA: Souk - Returns Apply', 'EPP: Souk - No returns']),
  )
})
