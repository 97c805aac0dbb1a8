import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { EVENT_TYPE, type EventType, MODEL, type StoredEvent } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { matchMerchantDebts } from '../ledger/debt-store.ts'
import { micros } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { foldMoney } from './fold-money.ts'
import type { NetworkBody } from './fold-networks.ts'

const db = await testDatabase()
const world = await makePublisherWorld(db)
const BUDGET = micros(1_000_000_000)
const merchId = world.merchant.merch_id

async function fold(...batches: readonly (readonly StoredEvent[])[]): Promise<void> {
  await db.run(sql`
    truncate click, merchant_order, order_line, order_return, order_return_line, stats_day,
      stats_change, ledger_line, ledger_transaction, click_debt, merchant_payment, network_row,
      network_partition`)
  for (const batch of batches) await db.transaction((tx) => foldMoney(tx, batch))
}

const reversalOf = (events: MoneyEvents, name: string, atMs: number) =>
  events.at(atMs, {
    type: EVENT_TYPE.reversal,
    body: JSON.stringify({ click_id: clickId(name), reason: 'bought traffic' }),
  })

const balances = () =>
  db.rows(sql`
    select account, sum(amount_micros)::bigint as micros from ledger_line
    group by account having sum(amount_micros) <> 0 order by account`)

test('reverses a click once, on its own day, with its reason', async () => {
  const events = new MoneyEvents()
  const paid = { model: MODEL.cpc, termsAmount: 500_000, reservedMicros: 500_000 }
  const click = events.click('a', START_MS, paid)
  await fold(
    [click],
    [reversalOf(events, 'a', START_MS + DAY_MS), reversalOf(events, 'a', START_MS + DAY_MS)],
    [reversalOf(events, 'a', START_MS + DAY_MS), reversalOf(events, 'unknown', START_MS)],
  )
  assert.deepEqual(await balances(), [])
  const rows = await db.rows(sql`
    select day, clicks, invalid_clicks, earnings_micros from stats_day order by day`)
  assert.deepEqual(rows, [
    { day: '2026-03-02', clicks: '1', invalid_clicks: '0', earnings_micros: '500000' },
    { day: '2026-03-03', clicks: '-1', invalid_clicks: '1', earnings_micros: '-500000' },
  ])
  const [row] = await db.rows(sql`select reverse_reason, reversed_at from click`)
  assert.deepEqual(row, {
    reverse_reason: 'bought traffic',
    reversed_at: new Date(START_MS + DAY_MS),
  })
})

test('a reversed click is budget again while its period is open, the merchant’s credit always', async () => {
  const campaignId = await world.addCampaign({
    ...{ model: 'cpc', rate_ppm: null, bid_micros: micros(500_000) },
    ...{ daily_budget_micros: micros(2_000_000), budget_micros: micros(9_000_000) },
  })
  const events = new MoneyEvents()
  const paid = { merchId, campaignId, model: MODEL.cpc, termsAmount: 500_000 }
  const click = (name: string, atMs = START_MS) =>
    events.click(name, atMs, { ...paid, reservedMicros: 500_000, pubId: 5 })
  const amounts = async () => {
    const accounts = await db.rows<{ settled_micros: string }>(sql`
      select day, settled_micros from budget_account where campaign_id = ${campaignId}
      order by day nulls first`)
    const owed = await db.row<{ micros: string }>(sql`
      select coalesce(-sum(amount_micros), 0)::bigint as micros from ledger_line
      where account = 'merchant'`)
    return [...accounts.map((row) => Number(row.settled_micros)), Number(owed?.micros)]
  }
  await fold([click('a'), click('b'), click('c')])
  assert.deepEqual(await amounts(), [1_500_000, 1_500_000, 1_500_000])
  const reverse = (name: string, atMs: number) =>
    db.transaction((tx) => foldMoney(tx, [reversalOf(events, name, atMs)]))
  await reverse('a', START_MS + 1)
  assert.deepEqual(await amounts(), [1_000_000, 1_000_000, 1_000_000])
  // The day is over: nothing could be spent of it, and the next one owes only for its own clicks.
  // The campaign's life goes on.
  await db.transaction((tx) => foldMoney(tx, [click('d', START_MS + DAY_MS)]))
  await reverse('b', START_MS + DAY_MS)
  assert.deepEqual(await amounts(), [1_000_000, 1_000_000, 500_000, 1_000_000])
})

test('a reversed click was an invalid one of its pair from its own moment on, and counts once', async () => {
  const events = new MoneyEvents()
  const paid = { pubId: 77, model: MODEL.cpc, termsAmount: 500_000, reservedMicros: 500_000 }
  await fold([events.click('a', START_MS, paid), events.click('b', START_MS, paid)])
  const reversal = () => reversalOf(events, 'a', START_MS + DAY_MS)
  await db.transaction((tx) => foldMoney(tx, [reversal(), reversal()]))
  assert.deepEqual(await evidenceOf(77), [{ clicks: 1, unripe: 1, invalid: 1 }])
})

test('free clicks that are reversed leave the quality of their merchant as it was', async () => {
  const events = new MoneyEvents()
  await fold(
    [events.click('a', START_MS, { pubId: 78 }), events.click('b', START_MS, { pubId: 78 })],
    [reversalOf(events, 'a', START_MS + DAY_MS)],
  )
  assert.deepEqual(await evidenceOf(78), [{ clicks: 1, unripe: 1, invalid: 0 }])
})

function evidenceOf(pubId: number): Promise<unknown[]> {
  return db.rows(sql`
    select distinct clicks, unripe[1] as unripe, invalid from pair_evidence
    where pub_id = ${pubId} and as_of = ${new Date(START_MS)}`)
}

test('a reversed click leads to no sale: a pending order is rejected, a later one finds nobody', async () => {
  const events = new MoneyEvents()
  await fold(
    [events.click('a', START_MS), events.order('o1', START_MS, { click: 'a' })],
    [reversalOf(events, 'a', START_MS + DAY_MS)],
    [events.order('o2', START_MS + DAY_MS, { click: 'a' })],
  )
  assert.deepEqual(await balances(), [])
  const orders = await db.rows(sql`
    select order_id, reject_reason, pub_id, account->'evidence'->0->>'verdict' as verdict
    from merchant_order order by 1`)
  assert.deepEqual(orders, [
    { order_id: 'o1', reject_reason: 'click_reversed', pub_id: 5, verdict: 'won' },
    { order_id: 'o2', reject_reason: null, pub_id: null, verdict: 'invalid_click' },
  ])
})

test('a reversed click takes back every order that it led to', async () => {
  const events = new MoneyEvents()
  const order = (id: string) => events.order(id, START_MS, { click: 'a' })
  await fold(
    [events.click('a', START_MS), order('o1'), order('o2'), order('o3')],
    [reversalOf(events, 'a', START_MS + DAY_MS)],
  )
  assert.deepEqual(await balances(), [])
  const orders = await db.rows(sql`
    select count(*) from merchant_order where reject_reason = 'click_reversed'`)
  assert.deepEqual(orders, [{ count: '3' }])
})

test('an unpaid invalid click can be reversed and moves no money', async () => {
  const events = new MoneyEvents()
  const robot = { reason: REASON.robot, model: MODEL.cpc, termsAmount: 500_000 }
  await fold([events.click('a', START_MS, robot)], [reversalOf(events, 'a', START_MS)])
  assert.deepEqual(await balances(), [])
  const [row] = await db.rows(sql`select clicks, invalid_clicks from stats_day`)
  assert.deepEqual(row, { clicks: '0', invalid_clicks: '1' })
})

test('what a sale owes is counted against its campaign’s budget, and goes back with the goods', async () => {
  const campaignId = await world.addCampaign({ budget_micros: BUDGET })
  const events = new MoneyEvents()
  const settled = () =>
    db.rows(sql`
      select day, settled_micros from budget_account where campaign_id = ${campaignId}
      order by day nulls first`)
  await fold([
    events.click('a', START_MS, { merchId, campaignId }),
    events.order('o1', START_MS, { click: 'a', merchId }),
  ])
  assert.deepEqual(await settled(), [
    { day: null, settled_micros: '55000000' },
    { day: '2026-03-02', settled_micros: '55000000' },
  ])
  const next = events.order('o2', START_MS + DAY_MS, { click: 'a', merchId })
  const back = events.goodsBack('o1', START_MS + DAY_MS, { quantity: 2 })
  await db.transaction((tx) => foldMoney(tx, [next, { ...back, merchId }]))
  assert.deepEqual(await settled(), [
    { day: null, settled_micros: '90000000' },
    { day: '2026-03-02', settled_micros: '55000000' },
    { day: '2026-03-03', settled_micros: '55000000' },
  ])
})

test('a sale that moves to a click of another campaign is spent of that one’s budget alone', async () => {
  const guessed = await world.addCampaign({ budget_micros: BUDGET })
  const named = await world.addCampaign({ budget_micros: BUDGET })
  const events = new MoneyEvents()
  await fold([
    events.click('a', START_MS, { merchId, campaignId: guessed }),
    // The same page and terms: nothing else in the books moves.
    events.click('b', START_MS, { merchId, campaignId: named }),
    events.order('o1', START_MS, { merchId, click: 'a' }),
    events.order('o1', START_MS + 1, { merchId, exact: 'b' }),
  ])
  assert.deepEqual(
    await db.rows(sql`
      select campaign_id, settled_micros from budget_account
      where campaign_id in (${guessed}, ${named}) and day is null order by campaign_id`),
    [
      { campaign_id: guessed, settled_micros: '0' },
      { campaign_id: named, settled_micros: '55000000' },
    ],
  )
})

test('goods that a spool reports a day late never make a day’s spending negative', async () => {
  const campaignId = await world.addCampaign({ daily_budget_micros: BUDGET })
  const events = new MoneyEvents()
  const order = (atMs: number, dollars: number) =>
    events.order('o1', atMs, {
      click: 'a',
      merchId,
      report: { value_micros: dollars * 1_000_000, lines: [orderLine('A1', 10_000, 4)] },
    })
  await fold(
    [events.click('a', START_MS, { merchId, campaignId }), order(START_MS, 100)],
    [order(START_MS + DAY_MS, 400)],
    [{ ...events.goodsBack('o1', START_MS + 1, { quantity: 4 }), merchId }],
  )
  assert.deepEqual(
    await db.rows(sql`
      select day, settled_micros from budget_account where campaign_id = ${campaignId}
      order by day nulls first`),
    [
      { day: null, settled_micros: '0' },
      { day: '2026-03-02', settled_micros: '0' },
      { day: '2026-03-03', settled_micros: '30000000' },
    ],
  )
})

test('books returned goods also where their campaign’s budget knows of no sale', async () => {
  const campaignId = await world.addCampaign()
  const events = new MoneyEvents()
  await fold([
    events.click('a', START_MS, { merchId, campaignId }),
    events.order('o1', START_MS, { click: 'a', merchId }),
  ])
  // As an earlier version left it when a sale moved here from another campaign.
  await db.run(sql`update budget_account set settled_micros = 0 where campaign_id = ${campaignId}`)
  const back = events.goodsBack('o1', START_MS + DAY_MS, { quantity: 4 })
  await db.transaction((tx) => foldMoney(tx, [{ ...back, merchId }]))
  assert.deepEqual(await balances(), [
    { account: 'merchant', micros: '-15000000' },
    { account: 'publisher', micros: '15000000' },
  ])
})

test('a payment counts once per merchant and reference', async () => {
  const events = new MoneyEvents()
  const payment = (reference: string) =>
    events.at(START_MS, {
      type: EVENT_TYPE.payment,
      merchId,
      body: JSON.stringify({ reference, paid_on: '2026-03-01', amount_micros: 120_500_000 }),
    })
  await fold([payment('march'), payment('march')], [payment('march'), payment('april')])
  assert.deepEqual(await balances(), [
    { account: 'bank', micros: '-241000000' },
    { account: 'merchant', micros: '241000000' },
  ])
})

test('reverses a payment once, and only after it was recorded', async () => {
  const events = new MoneyEvents()
  const eventOf = (type: EventType, body: object) =>
    events.at(START_MS, { type, merchId, body: JSON.stringify({ reference: 'march', ...body }) })
  const payment = eventOf(EVENT_TYPE.payment, { paid_on: '2026-03-01', amount_micros: 120_500_000 })
  const may = { reference: 'may', paid_on: '2026-05-01', amount_micros: 1_000_000 }
  const later = eventOf(EVENT_TYPE.payment, may)
  const reversal = () => eventOf(EVENT_TYPE.paymentReversal, { reason: 'bounced' })
  const other = eventOf(EVENT_TYPE.paymentReversal, { reference: 'april', reason: 'bounced' })
  await fold([reversal(), payment])
  assert.deepEqual(await balances(), [
    { account: 'bank', micros: '-120500000' },
    { account: 'merchant', micros: '120500000' },
  ])
  await db.transaction((tx) => foldMoney(tx, [later, reversal(), reversal(), other]))
  const ofMay = [
    { account: 'bank', micros: '-1000000' },
    { account: 'merchant', micros: '1000000' },
  ]
  assert.deepEqual(await balances(), ofMay, 'nothing is left of it, and the other stands')
  const payments = await db.rows(sql`
    select reference, reverse_reason from merchant_payment order by reference`)
  assert.deepEqual(payments, [
    { reference: 'march', reverse_reason: 'bounced' },
    { reference: 'may', reverse_reason: null },
  ])
})

test('what a payment has released stays released when an older order comes to count', async () => {
  const events = new MoneyEvents()
  const epp = { merchId, model: MODEL.epp, termsAmount: 80_000_000 }
  const clicks = ['held', 'unknown', 'paid'].map((name) => events.click(name, START_MS, epp))
  const dueLater = [
    events.order('held', START_MS, {
      merchId,
      click: 'held',
      report: { source: 'pixel', hold: 'review' },
    }),
    events.order('unknown', START_MS, { merchId, click: 'nobody' }),
  ]
  const payment = events.at(START_MS + 2 * HOUR_MS, {
    type: EVENT_TYPE.payment,
    merchId,
    body: JSON.stringify({ reference: 'p', paid_on: '2026-03-02', amount_micros: 80_000_000 }),
  })
  const before = [
    ...clicks,
    ...dueLater,
    events.order('paid', START_MS + HOUR_MS, { merchId, click: 'paid' }),
  ]
  const released = async () => {
    const until = new Date(START_MS + 9 * DAY_MS)
    const { releases, open } = await matchMerchantDebts(db, { merchId, until })
    return { releases, owed: open.reduce((sum, { owedMicros }) => sum + owedMicros, 0) }
  }
  await fold([...before, payment])
  const first = await released()
  assert.deepEqual([first.releases.length, first.owed], [2, 0], 'both lines of it')
  await db.transaction((tx) =>
    foldMoney(tx, [
      { ...events.decision('held', START_MS + DAY_MS, { kind: 'approve' }), merchId },
      events.order('unknown', START_MS + DAY_MS, { merchId, exact: 'unknown' }),
    ]),
  )
  const later = await released()
  assert.deepEqual(later.releases, first.releases)
  assert.equal(later.owed, 160_000_000)
})

test('imported rows are shown when their partition is complete, and replaced as a whole', async () => {
  const events = new MoneyEvents()
  const pubId = world.publisher.pub_id
  const eventOf = (body: NetworkBody) =>
    events.at(START_MS, { type: EVENT_TYPE.networkRow, pubId, body: JSON.stringify(body) })
  const row = (import_id: string, index: number, sales: number) =>
    eventOf({
      kind: 'row',
      import_id,
      row: index,
      report_date: '2026-03-01',
      article_id: 0,
      advertiser: 'Another shop',
      clicks: 0,
      sales,
      revenue_micros: 1_000_000 * sales,
      earnings_micros: 50_000 * sales,
    })
  const end = (import_id: string, rows: number) =>
    eventOf({
      kind: 'partition',
      import_id,
      network: 'elsewhere',
      account: 'a1',
      report_date: '2026-03-01',
      rows,
      rows_hash: '00ff',
    })
  const shown = () =>
    db.rows(sql`
      select row, sales from network_row join network_partition using (import_id)
      where until is null order by row`)
  await fold([row('1', 0, 3), row('1', 1, 4)])
  assert.deepEqual(await shown(), [])
  await fold([row('1', 0, 3), row('1', 1, 4), end('1', 2)], [row('2', 0, 5)])
  assert.deepEqual(await shown(), [
    { row: 0, sales: '3' },
    { row: 1, sales: '4' },
  ])
  await fold([row('1', 0, 3), row('1', 1, 4), end('1', 2)], [row('2', 0, 5), end('2', 1)])
  assert.deepEqual(await shown(), [{ row: 0, sales: '5' }])
})
