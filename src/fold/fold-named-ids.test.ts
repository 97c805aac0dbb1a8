/** A database restored from a backup, and a log that names records missing from the backup. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase, untilWaiting } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { listPayments } from '../ledger/payment-store.ts'
import { insertRates } from '../orders/rate-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { reconcile } from '../reconcile/reconcile.ts'
import { passNamedIds } from './fold-named-ids.ts'

test('a new record never gets a number that the log names', async (t) => {
  const db = await testDatabase(t)
  const { record } = openFoldedLog(t, db)
  const events = new MoneyEvents()
  await record(
    events.at(START_MS, { lane: 5, type: EVENT_TYPE.placement, pubId: 4, offerId: '900' }),
    events.click('a', START_MS, { merchId: 3, campaignId: 7, pubId: 2 }),
    events.order('o1', START_MS, { report: { currency: 'EUR', rate_id: '56' } }),
    events.at(START_MS, { type: EVENT_TYPE.networkRow, pubId: 4, body: networkRow(12) }),
  )

  const { publisher, merchant, addArticle, addCampaign } = await makePublisherWorld(db)
  const campaignId = await addCampaign()
  const { articleId } = await addArticle('Ten mugs')
  const offerId = await nextOfferId(db)
  const rate = { day: '2026-03-02', currency: 'EUR', usdPerBase: '1.1', currencyPerBase: '1' }
  await insertRates(db, 'test', [rate])
  const rates = await db.rows(sql`select rate_id from exchange_rate`)

  const { pub_id } = publisher
  const { merch_id } = merchant
  assert.deepEqual([pub_id, merch_id, campaignId, articleId], [5, 4, 8, 13])
  assert.equal(offerId, '901')
  assert.deepEqual(rates, [{ rate_id: '57' }])
})

test('the first record of a kind gets no number that the log names', async (t) => {
  const db = await testDatabase(t)
  const { record } = openFoldedLog(t, db)
  const first = { merchId: 1, campaignId: 1, pubId: 1, offerId: '1' }
  await record(new MoneyEvents().click('a', START_MS, first))

  const { publisher, merchant, addCampaign } = await makePublisherWorld(db)
  const campaignId = await addCampaign()
  assert.deepEqual([publisher.pub_id, merchant.merch_id, campaignId], [2, 2, 2])
  assert.equal(await nextOfferId(db), '2')
})

test('numbers drawn by a concurrent import are not drawn again', async (t) => {
  const db = await testDatabase(t)
  const event = new MoneyEvents().click('a', START_MS, { offerId: '20' })
  // Nobody else can change a sequence that a transaction has changed.
  const { passing } = await db.transaction(async (importing) => {
    await importing.run(sql`alter sequence offer_id_seq cache 1`)
    const passing = passNamedIds(db, [event])
    await untilWaiting(db, passing)
    await importing.run(sql`select nextval('offer_id_seq') from generate_series(1, 50)`)
    return { passing } // Not the promise itself, which waits for this transaction.
  })
  await passing
  assert.ok(Number(await nextOfferId(db)) > 50)
})

test('orders of a campaign that the database has lost are booked and reconcile', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId } = await addArticle('Ten mugs')
  const { record } = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const { merch_id: merchId } = merchant
  await record(
    events.click('a', START_MS, { merchId, campaignId: 7, auctionId, pubId: publisher.pub_id }),
    events.order('o1', START_MS + 1_000, { click: 'a', merchId }),
  )

  const orders = await db.rows(sql`select campaign_id, net_commission_micros from merchant_order`)
  assert.deepEqual(orders, [{ campaign_id: 7, net_commission_micros: '55000000' }])
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
})

test('records payments and other networks’ rows of merchants and publishers that the database has lost', async (t) => {
  const db = await testDatabase(t)
  const { record } = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const [row, end] = [networkRow(12), networkEnd()]
  await record(
    events.payment(START_MS, 100, { merchId: 3 }),
    events.at(START_MS, { type: EVENT_TYPE.networkRow, pubId: 4, body: row }),
    events.at(START_MS, { type: EVENT_TYPE.networkRow, body: end }),
  )

  const [payment] = await listPayments(db, null)
  assert.deepEqual([payment?.merch_id, payment?.merchant, payment?.amount_usd], [3, '', '100.00'])
  assert.deepEqual(await db.rows(sql`select pub_id, clicks from network_row`), [
    { pub_id: 4, clicks: '5' },
  ])
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
})

/** One row, and the end of a partition, of one account on one day. */
const REPORT = { import_id: '77', report_date: '2026-03-01' }

function networkRow(articleId: number): string {
  const figures = { clicks: 5, sales: 0, revenue_micros: 0, earnings_micros: 0 }
  const row = { kind: 'row', row: 0, article_id: articleId, advertiser: 'Mugs', ...figures }
  return JSON.stringify({ ...REPORT, ...row })
}

function networkEnd(): string {
  const partition = { network: 'other', account: 'a', rows: 1, rows_hash: '00' }
  return JSON.stringify({ ...REPORT, kind: 'partition', ...partition })
}

async function nextOfferId(db: Db): Promise<string | undefined> {
  const row = await db.row<{ offer_id: string }>(sql`select nextval('offer_id_seq') as offer_id`)
  return row?.offer_id
}
