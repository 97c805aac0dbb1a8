/**
 * A log with every kind of event: paid, repeated and reversed clicks; orders from several sources,
 * moved, held, approved, rejected, cancelled; early and late returns; payments; other networks;
 * views. For guarantees that must hold on all of it.
 */
import {
  EVENT_TYPE,
  type LogEvent,
  MODEL,
  type StoredEvent,
  viewLane,
} from '../../src/events/event.ts'
import { REASON } from '../../src/events/reason.ts'
import { keyOfUrl } from '../../src/platform/net/url.ts'
import type { Database } from '../../src/platform/postgres/postgres.ts'
import { DAY_MS } from '../../src/platform/time/timestamp.ts'
import type { Scope } from './database.ts'
import { openFoldedLog } from './fold-log.ts'
import { clickId, MoneyEvents, orderLine, START_MS } from './money-events.ts'
import { makePublisherWorld, type PublisherWorld } from './publisher-world.ts'

const MINUTE_MS = 60_000

/** Two publishers and their folded log. */
export async function foldBusyLog(scope: Scope, db: Database) {
  const [one, other] = [await makePublisherWorld(db), await makePublisherWorld(db, 'other')]
  const log = openFoldedLog(scope, db)
  const events = await makeBusyLog(one, other)
  await log.record(...events)
  return { one, other, log, events }
}

/** The events, in the order of the log. */
export async function makeBusyLog(one: PublisherWorld, other: PublisherWorld): Promise<LogEvent[]> {
  const events = new MoneyEvents()
  const [first, second] = [await one.addArticle('Ten mugs'), await other.addArticle('Ten plates')]
  const { merch_id: merchId } = one.merchant
  const [campaignId, rivalId] = [await one.addCampaign(), await other.addCampaign()]
  const log: StoredEvent[] = []
  const add = (event: StoredEvent, own: Partial<StoredEvent> = { merchId }) =>
    log.push({ ...event, ...own })
  const cpc = { model: MODEL.cpc, termsAmount: 542_235, reservedMicros: 542_235, sharePpm: 750_000 }
  const place = (world: PublisherWorld) => ({
    merchId,
    pubId: world.publisher.pub_id,
    auctionId: (world === one ? first : second).auctionId,
    sharePpm: 700_000,
    campaignId,
  })
  const visitor = { visitorKey: Buffer.from('visitor'.padEnd(16)) }
  const click = (name: string, world = one, fields: Partial<StoredEvent> = {}, atMs = START_MS) =>
    add(events.click(name, atMs, { ...place(world), ...fields }), {})

  // Clicks: one result twice, a visitor who repeats, robots, and clicks without a budget.
  click('a', one, cpc)
  click('a again', one, { ...cpc, resultNumber: Buffer.from(clickId('result a'), 'hex') })
  for (let minute = 0; minute < 90; minute += 11) {
    click(`visit ${minute}`, one, { ...cpc, ...visitor }, START_MS + minute * MINUTE_MS)
  }
  for (let link = 0; link < 7; link += 1) {
    const auctionId = String(9_200_000_000_000_000 + link)
    click(`busy ${link}`, other, { ...cpc, ...visitor, campaignId: rivalId, auctionId })
  }
  click('robot', one, { ...cpc, reason: REASON.robot })
  click('lost lease', one, { ...cpc, leaseId: '4711' })
  click('unfunded', one, { ...cpc, reason: REASON.unfunded, reservedMicros: null })
  for (const name of ['cpa', 'moved', 'csv', 'odd', 'bad']) click(name)
  click('exact', other)
  click('epp', other, { model: MODEL.epp, termsAmount: 1_500_001, sharePpm: 333_333 })

  // Orders: from several sources, moved to another publisher, odd amounts, held and decided.
  const order = (id: string, atMs: number, fields: Parameters<MoneyEvents['order']>[2]) =>
    add(events.order(id, atMs, fields))
  const back = (id: string, atMs: number, fields: Parameters<MoneyEvents['goodsBack']>[2]) =>
    add(events.goodsBack(id, atMs, fields))
  back('early', START_MS, { quantity: 1 })
  order('plain', START_MS + MINUTE_MS, { click: 'cpa' })
  order('plain', START_MS + MINUTE_MS, { click: 'cpa' })
  order('early', START_MS + MINUTE_MS, { click: 'cpa' })
  order('moved', START_MS, { click: 'moved', report: { source: 'pixel' } })
  order('moved', START_MS + DAY_MS, { exact: 'exact', report: { value_micros: 123_456_789 } })
  order('cpc sale', START_MS + MINUTE_MS, { click: 'a' })
  order('epp sale', START_MS + MINUTE_MS, { exact: 'epp' })
  order('nobody', START_MS, { click: 'unknown' })
  const midnight = { ordered_at_ms: START_MS - DAY_MS / 2 } // It was reported with a plain date.
  order('dated', START_MS + MINUTE_MS, { exact: 'exact', report: midnight })
  const odd = { value_micros: 1_000_003, lines: [1, 2, 3].map((n) => orderLine(`ö ${n}`, n, n)) }
  order('odd/ö', START_MS + MINUTE_MS, { click: 'odd', report: odd })
  // Three cents over four lines: the last one costs nothing but is part of the earnings.
  const crumbs = { value_micros: 300_000, lines: [1, 2, 3, 4].map((n) => orderLine(`${n}`, 1, 1)) }
  order('crumbs', START_MS + MINUTE_MS, { click: 'cpa', report: crumbs })
  // Events that move no figure: a returned gift, an order with nothing left.
  const gift = { lines: [orderLine('A1', 1_000, 1), orderLine('gift', 0, 1)] }
  order('gift', START_MS + MINUTE_MS, { click: 'cpa', report: gift })
  for (const day of [7, 8]) back('gift', START_MS + day * DAY_MS, { product_id: 'gift' })
  back('nothing', START_MS + 9 * DAY_MS, { product_id: null, line: 0 })
  order('nothing', START_MS + 10 * DAY_MS, { click: 'csv', report: { lines: [] } })
  order('held', START_MS + MINUTE_MS, {
    click: 'cpa',
    report: { source: 'pixel', hold: 'review', lines: [] },
  })
  order('no rate', START_MS + MINUTE_MS, {
    click: 'cpa',
    report: { currency: 'JPY', value_micros: null, hold: 'no_rate' },
  })
  order('bad', START_MS + MINUTE_MS, { click: 'bad' })
  order('undone', START_MS + MINUTE_MS, { click: 'csv' })
  order('undone', START_MS + DAY_MS, { click: 'csv', report: { is_cancelled: true } })
  add(events.decision('held', START_MS + DAY_MS, { kind: 'approve' }))
  add(events.decision('plain', START_MS + 91 * DAY_MS, { kind: 'reject', reason: 'too late' }))

  // Returns, small and too large, before and after the lock; reversals.
  back('plain', START_MS + DAY_MS, { return_id: 'r1', quantity: 1 })
  back('plain', START_MS + DAY_MS, { return_id: 'r2', quantity: 9 })
  back('plain', START_MS + 95 * DAY_MS, { return_id: 'r3', quantity: 2 })
  back('plain', START_MS + 95 * DAY_MS, { return_id: 'r3', quantity: 2 })
  back('odd/ö', START_MS + 2 * DAY_MS, { return_id: 'r1', product_id: 'ö 3', quantity: 1 })
  back('odd/ö', START_MS + 3 * DAY_MS, { return_id: 'r2', product_id: 'ö 3', quantity: 1 })
  back('epp sale', START_MS + 3 * DAY_MS, { return_id: 'r1', quantity: 4 })
  order('odd/ö', START_MS + 4 * DAY_MS, {
    click: 'odd',
    report: { ...odd, value_micros: 999_999 },
  })
  for (const name of ['visit 0', 'bad', 'a again', 'bad']) {
    const body = JSON.stringify({ click_id: clickId(name), reason: 'bought' })
    add(events.at(START_MS + 2 * DAY_MS, { type: EVENT_TYPE.reversal, body }))
  }

  // Payments, one repeated and one reversed; another network, replaced once.
  for (const [reference, micros, day] of [
    ['one', 2_000_000, 3],
    ['one', 2_000_000, 4],
    ['two', 70_000_000, 97],
    ['three', 900_000_000, 130],
    ['gone', 50_000_000, 98],
  ] as const) {
    const body = { reference, paid_on: '2026-03-05', amount_micros: micros }
    const type = EVENT_TYPE.payment
    add(events.at(START_MS + day * DAY_MS, { type, body: JSON.stringify(body) }))
  }
  const bounced = JSON.stringify({ reference: 'gone', reason: 'bounced' })
  add(events.at(START_MS + 100 * DAY_MS, { type: EVENT_TYPE.paymentReversal, body: bounced }))
  for (const importId of ['1', '2']) addNetwork(importId)
  addViews()
  return log

  function addNetwork(import_id: string): void {
    const type = EVENT_TYPE.networkRow
    const shared = { import_id, report_date: '2026-03-03' }
    const row = { kind: 'row', ...shared, row: 0, article_id: 0, advertiser: 'x', clicks: 1 }
    const amounts = { sales: 1, revenue_micros: 5_000_000, earnings_micros: 400_000 }
    const names = { transaction_id: 't', original_id: 'a', order_id: 'o', item: 'i', posted: 'p' }
    const stated = { ...names, amounts: '5 USD, 0.4 USD', are_sales_reported: true }
    const end = { kind: 'partition', ...shared, network: 'n', account: '', rows: 1 }
    const pubId = one.publisher.pub_id
    const body = JSON.stringify({ ...row, ...amounts, ...stated })
    add(events.at(START_MS, { type, body }), { pubId })
    add(events.at(START_MS, { type, body: JSON.stringify({ ...end, rows_hash: '00' }) }), {})
  }

  function addViews(): void {
    const pubId = one.publisher.pub_id
    const shared = { lane: viewLane(pubId), pubId, auctionId: first.auctionId }
    const urlKey = keyOfUrl(new URL(first.url))
    for (let session = 0; session < 6; session += 1) {
      const sessionKey = Buffer.from(`session ${session % 4}`.padEnd(16))
      const atMs = START_MS + session * DAY_MS
      const reason = session === 3 ? REASON.robot : REASON.ok
      const page = { ...shared, sessionKey, urlKey, reason }
      const seen = { ...page, type: EVENT_TYPE.pageImpression, auctionId: null }
      // A session that a robot reports as well, before its reader does.
      if (session === 2) add(events.at(atMs, { ...seen, reason: REASON.robot }), {})
      add(events.at(atMs, seen), {})
      add(events.at(atMs, { ...page, type: EVENT_TYPE.linkImpression }), {})
      add(events.at(atMs, { ...page, type: EVENT_TYPE.linkViewable }), {})
      add(events.at(atMs, { ...page, type: EVENT_TYPE.placement, merchId }), {})
    }
  }
}
