import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { foldBusyLog } from '../../test/support/busy-log.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { clickId, MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { EVENT_TYPE, MODEL } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { issueStatements } from '../ledger/statement-store.ts'
import { identifier, type Sql, sql } from '../platform/postgres/sql.ts'
import { reconcile } from './reconcile.ts'

const db = await testDatabase()
const { events } = await foldBusyLog({ after }, db)
await issueStatements(db, { now: new Date('2026-08-02T00:00:00Z') })

const everything = { from: null, to: null }

test('a log with every kind of event reconciles without a difference, and an order counts once', async () => {
  const lines: string[] = []
  const onProgress = (line: string) => lines.push(line)
  const { differences, unchecked, ...counted } = await reconcile(db, { ...everything, onProgress })
  const reports = events.filter(({ type }) => type === EVENT_TYPE.order)
  const orders = new Set(
    reports.map(({ merchId, body }) => `${merchId} ${JSON.parse(String(body)).order_id}`),
  )
  assert.ok(orders.size < reports.length)
  assert.deepEqual(differences, [])
  assert.deepEqual(
    unchecked.map((text) => text.split(':')[0]),
    ['auction_day', 'click_figure'],
  )
  assert.deepEqual(counted, {
    from: '2026-03-02',
    to: '2026-07-10',
    events: events.length,
    clicks: events.filter(({ type }) => type === EVENT_TYPE.click).length,
    orders: orders.size,
    totals: null,
  })
  assert.match(lines.join('\n'), /comparing ledger: \d+ ms/)
})

test('a click whose lease the database has lost is unpaid, and the fold continues', async () => {
  const click = await db.row(sql`
    select reason, merchant_cost_micros from click
    where click_id = ${Buffer.from(clickId('lost lease'), 'hex')}`)
  assert.deepEqual(click, { reason: REASON.spooledLate, merchant_cost_micros: '0' })
})

test('any range of days reconciles', async () => {
  for (const [from, to] of [
    ['2026-03-02', '2026-03-02'],
    ['2026-03-03', '2026-03-05'],
    ['2026-06-01', '2026-12-31'],
    ['2027-01-01', '2027-01-01'],
  ] as const) {
    const { differences } = await reconcile(db, { from, to })
    assert.deepEqual(differences, [], `${from} to ${to}`)
  }
})

/** The fold's tables and their columns that contain, or decide, a figure or an amount. */
const OUTPUT: Readonly<Record<string, string>> = {
  click: `day at pub_id article_id merch_id campaign_id model terms_amount share_ppm
  merchant_cost_micros
    publisher_earnings_micros reason click_id result_number auction_id is_reserved reversed_at
    reverse_reason`,
  stats_day: `day pub_id article_id merch_id clicks invalid_clicks placements sales
    revenue_micros earnings_micros is_row`,
  stats_change: 'day pub_id article_id merch_id clicks sales revenue_micros earnings_micros',
  ledger_line: 'day merch_id pub_id article_id amount_micros',
  ledger_transaction: 'day event_id',
  click_debt: 'merch_id pub_id day click_day cost_micros earnings_micros',
  merchant_order: `event_id day accepted_at ordered_at pub_id article_id campaign_id model locks_at
    revenue_micros commission_micros earnings_micros net_sales net_revenue_micros
    net_commission_micros net_earnings_micros source currency value rate_id click_id
    attribution rejected_at reject_reason hold`,
  order_line: `quantity returned revenue_micros commission_micros earnings_micros
    order_product_id product_id`,
  order_return: 'event_id day accepted_at returned_at quantity line product_id state',
  order_return_line: 'quantity revenue_micros commission_micros earnings_micros',
  merchant_payment: `event_id paid_on amount_micros day at reversal_event_id reversed_at
    reverse_reason`,
  network_partition: 'rows at until',
  network_row: `pub_id article_id advertiser clicks sales revenue_micros earnings_micros
    transaction_id original_id order_id item posted amounts are_sales_reported`,
  page_day: 'day impressions robot_impressions',
  page_session: 'day',
  link_day: 'day auction_id impressions viewable_impressions',
  click_figure: `at pub_id article_id auction_id merch_id device country u1 clicks
    invalid_clicks orders revenue_micros earnings_micros`,
  figure_slot: 'slot clicks invalid_clicks orders revenue_micros earnings_micros',
  figure_day: `pub_id property day value clicks invalid_clicks orders revenue_micros
    earnings_micros`,
  figure_span: `pub_id property width first_day value clicks invalid_clicks orders
    revenue_micros earnings_micros`,
  page_slot: 'pub_id url_key slot impressions',
  view_slot: 'slot impressions',
  page_span: 'pub_id width first_day url_key impressions',
  budget_account: 'settled_micros escrow_micros',
  statement: 'opening_micros released_micros reversed_micros payout_micros closing_micros',
}

const TYPES = new Map(
  (
    await db.rows<{ name: string; type: string }>(sql`
      select table_name || '.' || column_name as name, data_type as type
      from information_schema.columns where table_schema = 'public'`)
  ).map(({ name, type }) => [name, type]),
)

/** One unit more: a micro-dollar, a click, a day, a second; the opposite of a boolean. */
function more(table: string, column: string): Sql {
  const name = identifier(column)
  switch (TYPES.get(`${table}.${column}`)) {
    case 'boolean':
      return sql`not ${name}`
    case 'timestamp with time zone':
      return sql`${name} + interval '1 second'`
    case 'text':
      return sql`${name} || 'x'`
    case 'bytea':
      return sql`set_byte(${name}, 0, 255 - get_byte(${name}, 0))`
    default:
      return sql`${name} + 1`
  }
}

/** Totals whose keys are their properties: a changed key may be that of another row. */
const isTotal = (table: string) => /^(figure|page|view)_(slot|day|span)$/.test(table)

/** Removes the triggers, as somebody who manipulates figures by hand would. */
async function dropGuards(): Promise<void> {
  await db.run(sql`drop index click_result`)
  for (const table of Object.keys(OUTPUT)) {
    await db.run(sql`alter table ${identifier(table)} disable trigger user`)
    const guards = await db.rows<{ conname: string }>(sql`
      select conname from pg_constraint
      where conrelid = ${table}::regclass
        and (contype in ('c', 'f') or (contype = 'p' and ${isTotal(table)}))`)
    for (const { conname } of guards) {
      await db.run(sql`alter table ${identifier(table)} drop constraint ${identifier(conname)}`)
    }
  }
}

/** Changes tables, returns the checks that report it, and restores everything. */
async function checksAfter(changes: ReadonlyMap<string, Sql>): Promise<Set<string>> {
  const kept = (table: string) => identifier(`kept_${table}`)
  for (const table of changes.keys()) {
    await db.run(sql`create table ${kept(table)} as select * from ${identifier(table)}`)
  }
  try {
    for (const [table, change] of changes) assert.equal(await db.run(change), 1, table)
    const { differences } = await reconcile(db, everything)
    for (const { key, cause } of differences) assert.ok(key !== '' && cause !== '')
    return new Set(differences.map(({ table }) => table))
  } finally {
    for (const table of changes.keys()) {
      const from = identifier(table)
      await db.run(sql`delete from ${from}`)
      await db.run(sql`insert into ${from} overriding system value select * from ${kept(table)}`)
      await db.run(sql`drop table ${kept(table)}`)
    }
  }
}

/** The check of each table. Each check reads its own table, so several can be changed at once. */
const CHECK_OF: Readonly<Record<string, string>> = {
  ledger_line: 'ledger',
  ledger_transaction: 'ledger',
  merchant_payment: 'payment',
  network_partition: 'network',
  network_row: 'network',
  order_return_line: 'order_line',
  page_session: 'page_day',
}
const checkOf = (table: string) => CHECK_OF[table] ?? table
const SECOND = [
  ...['ledger_transaction', 'network_partition', 'order_return_line', 'page_session'],
  ...['click_figure', 'figure_span', 'page_span', 'view_slot'],
]

/** The condition of rows whose change changes a sum: figures of nothing may have any key. */
const isCounted = (table: string) => (/figure/.test(table) ? sql`earnings_micros <> 0` : sql`true`)
const FIRST = Object.keys(OUTPUT).filter((table) => !SECOND.includes(table))

test('one unit more in any column of any output table is found', async () => {
  await dropGuards()
  for (const tables of [FIRST, SECOND]) {
    for (let round = 0; ; round += 1) {
      const columns = tables.flatMap((table) => {
        const column = OUTPUT[table]?.split(/\s+/)[round]
        return column === undefined ? [] : [{ table, column }]
      })
      if (columns.length === 0) break
      const changes = columns.map(({ table, column }): [string, Sql] => {
        const [from, name] = [identifier(table), identifier(column)]
        const last = sql`
          select ctid from ${from} where ${name} is not null and ${isCounted(table)}
          order by ctid desc limit 1`
        return [
          table,
          sql`update ${from} set ${name} = ${more(table, column)} where ctid = (${last})`,
        ]
      })
      const found = await checksAfter(new Map(changes))
      for (const { table, column } of columns) {
        assert.ok(found.has(checkOf(table)), `${table}.${column} was changed unnoticed`)
      }
    }
  }
  assert.deepEqual((await reconcile(db, everything)).differences, [])
})

test('a missing row is found in every table', async () => {
  for (const tables of [FIRST, SECOND]) {
    const changes = tables
      // A publisher without a statement received no wrong one.
      .filter((table) => table !== 'statement')
      .map((table): [string, Sql] => {
        const from = identifier(table)
        const last = sql`select max(ctid) from ${from} where ${isCounted(table)}`
        return [table, sql`delete from ${from} where ctid = (${last})`]
      })
    const found = await checksAfter(new Map(changes))
    for (const [table] of changes) assert.ok(found.has(checkOf(table)), table)
  }
})

test("a campaign's spend is checked per day as well as in total", async () => {
  for (const where of [sql`day is null`, sql`day is not null`]) {
    const spent = sql`
      update budget_account set settled_micros = settled_micros + 1
      where account_id = (select max(account_id) from budget_account where ${where})`
    const found = await checksAfter(new Map([['budget_account', spent]]))
    assert.deepEqual(found, new Set(['budget_account']))
  }
})

test('a day with a reversal may not have spent more than that besides its clicks', async (t) => {
  const own = await testDatabase(t)
  const { publisher, merchant, addCampaign } = await makePublisherWorld(own)
  const parties = { pubId: publisher.pub_id, merchId: merchant.merch_id }
  const campaignId = await addCampaign()
  const events = new MoneyEvents()
  const paid = { ...parties, campaignId, model: MODEL.cpc, termsAmount: 300, reservedMicros: 300 }
  const body = JSON.stringify({ click_id: clickId('taken back'), reason: 'test' })
  await openFoldedLog(t, own).record(
    events.click('taken back', START_MS, paid),
    events.click('paid', START_MS, paid),
    events.at(START_MS + 1000, { type: EVENT_TYPE.reversal, body }),
  )
  const found = async (extraMicros: number) => {
    const spent = sql`update budget_account set settled_micros = ${300 + extraMicros}`
    await own.run(sql`${spent} where day is not null`)
    return (await reconcile(own, everything)).differences.map(({ table }) => table)
  }
  // If the day ends before the reversal is folded, nothing is given back.
  for (const extraMicros of [0, 300]) assert.deepEqual(await found(extraMicros), [])
  for (const extraMicros of [-1, 301])
    assert.deepEqual(await found(extraMicros), ['budget_account'])
})

test('a statement that adds up but does not match releases and reversals is found', async () => {
  for (const change of [
    sql`released_micros = released_micros + 1, closing_micros = closing_micros + 1`,
    sql`reversed_micros = reversed_micros + 1, closing_micros = closing_micros - 1`,
  ]) {
    const damage = sql`
      update statement set ${change}
      where ctid = (select ctid from statement order by month desc, pub_id limit 1)`
    assert.deepEqual(await checksAfter(new Map([['statement', damage]])), new Set(['statement']))
  }
})

test('a correction without an entry, and a wrong correction, are found', async () => {
  for (const change of [
    sql`update ledger_transaction set corrects = corrects || 'x'
      where transaction_id = (select max(transaction_id) from ledger_transaction where kind = 'return')`,
    sql`update ledger_transaction set kind = 'revision'
      where transaction_id = (select max(transaction_id) from ledger_transaction where kind = 'click')`,
  ]) {
    const found = await checksAfter(new Map([['ledger_transaction', change]]))
    assert.deepEqual(found, new Set(['ledger']))
  }
})

test('a ledger line without its entry is found', async () => {
  const orphan = sql`
    insert into ledger_line
    select -1, line, account, day, merch_id, pub_id, article_id, amount_micros
    from ledger_line limit 1`
  assert.deepEqual(await checksAfter(new Map([['ledger_line', orphan]])), new Set(['ledger']))
})

test('figures before the first event and after the last are compared as well', async () => {
  const { from, to } = await reconcile(db, everything)
  for (const day of ['2019-02-28', '2031-03-01']) {
    const one = sql`
      insert into stats_day (day, pub_id, article_id, merch_id, earnings_micros)
      select ${day}, pub_id, article_id, merch_id, 1 from stats_day limit 1`
    const found = await checksAfter(new Map([['stats_day', one]]))
    assert.deepEqual(found, new Set(['stats_day', 'figure_span']))
  }
  assert.deepEqual([from, to], ['2026-03-02', '2026-07-10'])
})

test("another network's report of a month before the first event is compared as well", async (t) => {
  const own = await testDatabase(t)
  const { publisher } = await makePublisherWorld(own)
  const [log, made] = [openFoldedLog(t, own), new MoneyEvents()]
  const shared = { import_id: '7', report_date: '2025-12-31' }
  const row = { kind: 'row', ...shared, row: 0, article_id: 0, advertiser: null, clicks: 1 }
  const amounts = { sales: 1, revenue_micros: 20, earnings_micros: 10 }
  const end = { kind: 'partition', ...shared, network: 'n', account: '', rows: 1, rows_hash: 'aa' }
  const eventOf = (body: object) =>
    made.at(START_MS, {
      ...{ type: EVENT_TYPE.networkRow, pubId: publisher.pub_id, body: JSON.stringify(body) },
    })
  await log.append([eventOf({ ...row, ...amounts }), eventOf(end)])
  await log.fold()
  assert.deepEqual((await reconcile(own, everything)).differences, [])
  await own.run(sql`update network_row set earnings_micros = 11`)
  const [difference] = (await reconcile(own, everything)).differences
  assert.deepEqual([difference?.table, difference?.expected], ['network', '10'])
})
