import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import fc from '../../test/support/fast-check.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { MODEL, type StoredEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { foldMoney } from './fold-money.ts'

const db = await testDatabase()

/** Folds one transaction per batch, into emptied books. */
async function fold(...batches: readonly (readonly StoredEvent[])[]): Promise<void> {
  await db.run(sql`
    truncate click, merchant_order, order_line, order_return, order_return_line, stats_day,
      stats_change, ledger_line, ledger_transaction, click_debt`)
  for (const batch of batches) await db.transaction((tx) => foldMoney(tx, batch))
}

function readFigures() {
  return db.rows(sql`
    select day, pub_id, sales, revenue_micros as revenue, earnings_micros as earnings
    from stats_day where sales <> 0 or revenue_micros <> 0 or earnings_micros <> 0
    order by day, pub_id`)
}

/** The ledger's amounts, in whole dollars. */
function readLedger() {
  return db.rows(sql`
    select kind, corrects, account, pub_id, (amount_micros / 1000000)::int as dollars
    from ledger_line join ledger_transaction using (transaction_id)
    order by transaction_id, line`)
}

test('an order is attributed, booked once and counted on its own day', async () => {
  const events = new MoneyEvents()
  const order = () => events.order('o1', START_MS + DAY_MS, { click: 'a' })
  await fold([events.click('a', START_MS)], [order(), order()], [order()])

  assert.deepEqual(await readLedger(), [
    { kind: 'order', corrects: null, account: 'merchant', pub_id: 5, dollars: -55 },
    { kind: 'order', corrects: null, account: 'publisher', pub_id: 5, dollars: 55 },
    { kind: 'order', corrects: null, account: 'platform', pub_id: 5, dollars: 0 },
  ])
  assert.deepEqual(await readFigures(), [
    { day: '2026-03-03', pub_id: 5, sales: '1', revenue: '550000000', earnings: '55000000' },
  ])
})

test('a return is negative on its own day and names the order that it corrects', async () => {
  const events = new MoneyEvents()
  await fold(
    [events.click('a', START_MS), events.order('o1', START_MS, { exact: 'a' })],
    [events.goodsBack('o1', START_MS + 2 * DAY_MS, { quantity: 2 })],
  )
  assert.deepEqual((await readLedger()).slice(3), [
    { kind: 'return', corrects: 'order:3:o1', account: 'merchant', pub_id: 5, dollars: 20 },
    { kind: 'return', corrects: 'order:3:o1', account: 'publisher', pub_id: 5, dollars: -20 },
  ])
  assert.deepEqual((await readFigures())[1], {
    day: '2026-03-04',
    pub_id: 5,
    sales: '0',
    revenue: '-200000000',
    earnings: '-20000000',
  })
  assert.deepEqual(
    await db.rows(sql`select order_product_id, returned, earnings_micros from order_line`),
    [
      { order_product_id: 'o1:3:A1', returned: 2, earnings_micros: '40000000' },
      { order_product_id: 'o1:3:B1', returned: 0, earnings_micros: '15000000' },
    ],
  )
})

test('the day of an order or a return has a row even if no figure changes', async () => {
  const events = new MoneyEvents()
  const day = (count: number) => START_MS + count * DAY_MS
  const report = { lines: [orderLine('A1', 10_000, 1), orderLine('gift', 0, 1)] }
  const order = (count: number) => events.order('o1', day(count), { click: 'a', report })
  const gift = (count: number, return_id: string) =>
    events.goodsBack('o1', day(count), { return_id, product_id: 'gift' })
  const all = { quantity: 4 }
  await fold(
    [events.click('a', START_MS), order(1)],
    [gift(2, 'r1')],
    [gift(3, 'r1'), gift(3, 'one too many'), order(3)], // Nothing happened on that day.
    [events.goodsBack('o2', day(4), all)], // The order's owner is not known yet.
    [events.goodsBack('o2', day(4), { return_id: 'r2', product_id: 'B1' })],
    [events.order('o2', day(5), { click: 'a' })],
  )
  const rows = await db.rows<{ day: string; is_row: boolean }>(sql`
    select day::text, is_row from stats_day where day > '2026-03-02' order by day`)
  assert.deepEqual(rows, [
    { day: '2026-03-03', is_row: true },
    { day: '2026-03-04', is_row: true },
    { day: '2026-03-07', is_row: true },
  ])
  const changes = await db.rows<{ cause: string }>(sql`
    select cause from stats_change where day > '2026-03-02' order by change_id`)
  assert.deepEqual(
    changes.map(({ cause }) => cause),
    ['order', 'return', 'order'],
  )
})

test('an order revised after a complete return does not count as a new sale', async () => {
  const events = new MoneyEvents()
  const order = (quantity: number) =>
    events.order('o1', START_MS, {
      click: 'a',
      report: { lines: [orderLine('A1', 10_000, quantity)], updated_at_ms: START_MS + quantity },
    })
  await fold([
    events.click('a', START_MS),
    order(1),
    events.goodsBack('o1', START_MS, {}),
    order(2),
  ])
  const changes = await db.rows(sql`
    select cause, sales::int from stats_change where cause <> 'click' order by change_id`)
  assert.deepEqual(changes, [
    { cause: 'order', sales: 1 },
    { cause: 'return', sales: -1 },
    { cause: 'revision', sales: 1 },
  ])
})

test('a return before its order waits, and is subtracted when the order arrives', async () => {
  const events = new MoneyEvents()
  const early = [events.click('a', START_MS), events.goodsBack('o1', START_MS, { quantity: 4 })]
  await fold(early)
  assert.deepEqual(await db.rows(sql`select state from order_return`), [{ state: 'waiting' }])
  assert.deepEqual(await readFigures(), [])

  await fold(early, [events.order('o1', START_MS + DAY_MS, { click: 'a' })])
  assert.deepEqual(await db.rows(sql`select state from order_return`), [{ state: 'applied' }])
  assert.deepEqual(await readFigures(), [
    { day: '2026-03-03', pub_id: 5, sales: '1', revenue: '150000000', earnings: '15000000' },
  ])
})

test('when an exact click replaces a guessed one, the money moves with it completely', async () => {
  const events = new MoneyEvents()
  await fold(
    [events.click('a', START_MS), events.click('b', START_MS, { pubId: 6 })],
    [events.order('o1', START_MS, { click: 'a', report: { source: 'pixel' } })],
    [events.order('o1', START_MS, { exact: 'b' })],
  )
  assert.deepEqual(await readFigures(), [
    { day: '2026-03-02', pub_id: 6, sales: '1', revenue: '550000000', earnings: '55000000' },
  ])
  const balances = await db.rows(sql`
    select account, pub_id, (sum(amount_micros) / 1000000)::int as dollars from ledger_line
    group by 1, 2 having sum(amount_micros) <> 0 order by 1, 2`)
  assert.deepEqual(balances, [
    { account: 'merchant', pub_id: 6, dollars: -55 },
    { account: 'publisher', pub_id: 6, dollars: 55 },
  ])
})

test('two orders that swap places in one batch appear as a removed and an added sale', async () => {
  const events = new MoneyEvents()
  await fold(
    [events.click('a', START_MS), events.click('b', START_MS, { pubId: 6 })],
    [events.order('o1', START_MS, { click: 'a' }), events.order('o2', START_MS, { click: 'b' })],
    [events.order('o1', START_MS, { exact: 'b' }), events.order('o2', START_MS, { exact: 'a' })],
  )
  // No row has more or fewer sales, but its orders changed.
  const moves = await db.rows(sql`
    select pub_id, sales::int, cardinality(event_ids) as events from stats_change
    where cause = 'revision' order by pub_id, sales`)
  assert.deepEqual(moves, [
    { pub_id: 5, sales: -1, events: 1 },
    { pub_id: 5, sales: 1, events: 1 },
    { pub_id: 6, sales: -1, events: 1 },
    { pub_id: 6, sales: 1, events: 1 },
  ])
})

test('an order without a click is stored, counts nowhere, and its evidence says why', async () => {
  const events = new MoneyEvents()
  await fold([
    events.click('a', START_MS, { merchId: 4 }),
    events.order('o1', START_MS, { click: 'a' }),
    events.order('o2', START_MS, { click: 'unknown' }),
  ])
  assert.deepEqual(await readLedger(), [])
  assert.deepEqual(await readFigures(), [])
  const rows = await db.rows(sql`
    select order_id, pub_id, revenue_micros, account->'evidence'->0->>'verdict' as verdict
    from merchant_order order by order_id`)
  assert.deepEqual(rows, [
    { order_id: 'o1', pub_id: null, revenue_micros: '550000000', verdict: 'other_merchant' },
    { order_id: 'o2', pub_id: null, revenue_micros: '550000000', verdict: 'unknown_click' },
  ])
})

test('a sale after a paid click is counted and costs nothing more', async () => {
  const events = new MoneyEvents()
  const paid = { model: MODEL.cpc, termsAmount: 500_000, reservedMicros: 500_000 }
  await fold([events.click('a', START_MS, paid), events.order('o1', START_MS, { click: 'a' })])
  assert.deepEqual(await readFigures(), [
    { day: '2026-03-02', pub_id: 5, sales: '1', revenue: '550000000', earnings: '500000' },
  ])
  assert.deepEqual(
    (await readLedger()).map((row) => (row as { kind: string }).kind),
    ['click', 'click', 'click'],
  )
})

test('a held order is booked on approval, and a rejected one is reversed', async () => {
  const events = new MoneyEvents()
  const report = { source: 'pixel', hold: 'review' } as const
  const held = [events.click('a', START_MS), events.order('o1', START_MS, { click: 'a', report })]
  await fold(held)
  assert.deepEqual(await readFigures(), [])

  const approved = events.decision('o1', START_MS + DAY_MS, { kind: 'approve' })
  const rejection = { kind: 'reject', reason: 'fraud' }
  await fold(held, [approved], [events.decision('o1', START_MS + 2 * DAY_MS, rejection)])
  assert.deepEqual(
    (await readFigures()).map((row) => (row as { sales: string }).sales),
    ['1', '-1'],
  )
  assert.deepEqual(await db.rows(sql`select sum(amount_micros) from ledger_line`), [{ sum: '0' }])
  assert.deepEqual(await db.rows(sql`select reject_reason, rejected_at from merchant_order`), [
    { reject_reason: 'fraud', rejected_at: new Date(START_MS + 2 * DAY_MS) },
  ])
})

test('any split of the log into batches gives the same books and figures', async () => {
  const events = new MoneyEvents()
  const log = [
    events.click('a', START_MS),
    events.click('b', START_MS, { pubId: 6, sharePpm: 700_000 }),
    events.order('o1', START_MS, { click: 'a' }),
    events.order('o2', START_MS, { click: 'b' }),
    events.goodsBack('o1', START_MS + DAY_MS, { quantity: 3 }),
    events.order('o1', START_MS + DAY_MS, {
      exact: 'b',
      report: { value_micros: 123_456_789 },
    }),
    events.goodsBack('o1', START_MS + DAY_MS, { return_id: 'r2', product_id: 'B1' }),
    events.goodsBack('o2', START_MS + DAY_MS, { quantity: 9 }),
    events.decision('o2', START_MS + DAY_MS, { kind: 'reject', reason: 'fraud' }),
  ]
  const books = async () => ({
    figures: await readFigures(),
    ledger: await db.rows(sql`
      select idempotency_key, account, pub_id, amount_micros
      from ledger_line join ledger_transaction using (transaction_id) order by 1, 2, 3`),
    orders: await db.rows(sql`select * from merchant_order order by order_id`),
    returns: await db.rows(sql`select * from order_return_line order by order_id, return_id`),
  })
  await fold(log)
  const expected = await books()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }), async (cuts) => {
      const batches: StoredEvent[][] = [[]]
      log.forEach((event, index) => {
        if (cuts[index]) batches.push([])
        batches.at(-1)?.push(event)
      })
      await fold(...batches)
      assert.deepEqual(await books(), expected)
    }),
    { numRuns: 12 },
  )
})

test('the statistics are the sum of their changes, each with its causes', async () => {
  const events = new MoneyEvents()
  const click = events.click('a', START_MS)
  const order = events.order('o1', START_MS, { click: 'a' })
  const back = events.goodsBack('o1', START_MS + DAY_MS, {})
  await fold([click, order], [back])
  const changes = await db.rows(sql`
    select cause, event_ids, sales from stats_change order by change_id`)
  assert.deepEqual(changes, [
    { cause: 'click', event_ids: [click.id], sales: '0' },
    { cause: 'order', event_ids: [order.id], sales: '1' },
    { cause: 'return', event_ids: [back.id], sales: '0' },
  ])
  const key = sql`day, pub_id, article_id, merch_id`
  const differing = await db.rows(sql`
    select ${key} from stats_day
    left join (
      select ${key}, sum(clicks) as clicks, sum(sales) as sales, sum(revenue_micros) as revenue,
        sum(earnings_micros) as earnings
      from stats_change group by ${key}
    ) as change using (${key})
    where (stats_day.clicks, stats_day.sales, revenue_micros, earnings_micros)
      is distinct from (change.clicks, change.sales, change.revenue, change.earnings)`)
  assert.deepEqual(differing, [])
})

test('the click of an attribution is stored with the order', async () => {
  const events = new MoneyEvents()
  await fold([events.click('a', START_MS), events.order('o1', START_MS, { exact: 'a' })])
  const [row] = await db.rows<{ click_id: Buffer; attribution: string; locks_at: Date }>(
    sql`select click_id, attribution, locks_at from merchant_order`,
  )
  assert.equal(row?.click_id.toString('hex'), clickId('a'))
  assert.equal(row?.attribution, 'exact')
  assert.equal(row?.locks_at.getTime(), START_MS + 90 * DAY_MS)
})

test('no two lines of an order share a key, whatever the product ids', async () => {
  const events = new MoneyEvents()
  const lines = ['a', 'a', 'a.2', 'a:2', 'a%3A2', ''].map((id) => orderLine(id, 1_000, 1))
  await fold([
    events.click('a', START_MS),
    events.order('o1', START_MS, { click: 'a', report: { lines } }),
  ])
  const [keys] = await db.rows(sql`
    select count(*)::int as lines, count(distinct order_product_id)::int as keys from order_line`)
  assert.deepEqual(keys, { lines: 6, keys: 6 })
})

test('locks the rows of the figures in one order, whatever the order of events', async () => {
  const events = new MoneyEvents()
  const [early, late] = ['2026-03-02', '2026-03-04']
  const click = (name: string, day: string) => events.click(name, Date.parse(day))
  await fold([click('a', early), click('b', late)])
  // An order between two clicks gives two runs, the later row first.
  const batch = [click('c', late), events.order('o1', START_MS, {}), click('d', early)]
  const lockRow = (tx: Db, day: string) =>
    tx.run(sql`select from stats_day where day = ${day} for update`)
  let folding: Promise<void> = Promise.resolve()
  // In the order of the views fold: the earlier row first.
  await db.transaction(async (tx) => {
    await lockRow(tx, early)
    folding = db.transaction((money) => foldMoney(money, batch))
    await untilWaiting(db, folding)
    await lockRow(tx, late)
  })
  await folding
  assert.deepEqual(await db.rows(sql`select day, clicks from stats_day order by day`), [
    { day: early, clicks: '2' },
    { day: late, clicks: '2' },
  ])
})
