/**
 * One order, reported a thousand times at once by a merchant whose requests time out, with the
 * server killed meanwhile: one commission (P40).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Merchant } from '../../src/catalog/merchant-store.ts'
import { EVENT_TYPE } from '../../src/events/event.ts'
import { openPostgresEventLog } from '../../src/events/event-log-postgres.ts'
import { signBody } from '../../src/orders/signed-request.ts'
import type { Database } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { reconcile } from '../../src/reconcile/reconcile.ts'
import { databaseUrl, testDatabase } from '../support/database.ts'
import { clickId, MoneyEvents } from '../support/money-events.ts'
import { makePublisherWorld } from '../support/publisher-world.ts'
import { serve } from '../support/souk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const DUPLICATES = 1_000
/** Answered before the kill: some are promised, some in flight, most not started. */
const ANSWERED_BEFORE_KILL = 100

test('a thousand concurrent reports of one order give one commission, across kill -9 of the server', async (t) => {
  const db = await testDatabase(t)
  const merchant = await makeClick(db)
  const dataDir = await temporaryFolder(t, 'souk-duplicates-')
  const env = {
    SOUK_DATA: dataDir,
    DATABASE_URL: databaseUrl(db.connection),
    PORT: '0',
    RATE_LIMITS: '0',
    LOG_LEVEL: 'error',
  }

  const first = await serve(env)
  let answered = 0
  const killed = Promise.withResolvers<void>()
  const wave = Array.from({ length: DUPLICATES }, async (_none, index) => {
    const status = await report(first.url, merchant, index)
    if (status === 201 && ++answered === ANSWERED_BEFORE_KILL) {
      await first.kill()
      killed.resolve()
    }
    return status
  })
  const before = await Promise.all(wave)
  await killed.promise
  const promised = before.filter((status) => status === 201).length
  assert.ok(promised >= ANSWERED_BEFORE_KILL && promised < DUPLICATES, `${promised} were answered`)

  const second = await serve(env)
  t.after(() => second.stop())
  await Promise.all(
    Array.from({ length: DUPLICATES }, (_none, index) => insist(second.url, merchant, index)),
  )
  const reports = await untilFolded(db)
  assert.equal(await second.stop(), 0)
  assert.ok(
    reports >= DUPLICATES + promised,
    `${reports} reports in the log, ${promised} promised before`,
  )

  const booked = await db.rows(sql`
    select kind, account, amount_micros from ledger_line join ledger_transaction
      using (transaction_id)
    order by account`)
  assert.deepEqual(booked, [
    { kind: 'order', account: 'merchant', amount_micros: '-10500000' },
    { kind: 'order', account: 'platform', amount_micros: '2625000' },
    { kind: 'order', account: 'publisher', amount_micros: '7875000' },
  ])
  assert.deepEqual(await db.row(sql`select sum(sales) as sales from stats_day`), { sales: '1' })
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
})

/** A click a minute ago on an offer that pays 10 %, three quarters of it to the publisher. */
async function makeClick(db: Database): Promise<Merchant> {
  const { publisher, merchant, addCampaign, addArticle } = await makePublisherWorld(db)
  const [campaignId, { auctionId }] = [await addCampaign(), await addArticle('Mugs')]
  const owner = { pubId: publisher.pub_id, merchId: merchant.merch_id, campaignId, auctionId }
  const {
    seq: _,
    day: __,
    ...click
  } = new MoneyEvents().click('a', Date.now() - 60_000, {
    ...owner,
    sharePpm: 750_000,
  })
  const log = openPostgresEventLog(db.connection)
  await log.append([click])
  await log.close()
  return merchant
}

/** Like a merchant's server: retries what was not accepted. */
async function insist(url: string, merchant: Merchant, index: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const status = await report(url, merchant, index + attempt * DUPLICATES)
    if (status === 201) return
    assert.equal(status, 503)
    await sleep(1_000)
  }
}

/**
 * The same order with other bytes each time, because a signature works once. Null without an
 * answer.
 */
async function report(url: string, merchant: Merchant, index: number): Promise<number | null> {
  const order = { id: 'A-1', value: '105.00', currency: 'USD', click_ids: [clickId('a')] }
  const body = Buffer.from(JSON.stringify({ orders: [{ order }] }) + ' '.repeat(index))
  const timestamp = String(Math.floor(Date.now() / 1_000))
  try {
    const response = await fetch(`${url}/api/v1/merchants/${merchant.merch_id}/orders/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-souk-timestamp': timestamp,
        'x-souk-signature': signBody(merchant.postback_secret, timestamp, body).toString('hex'),
      },
      body,
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return null // What a killed server's clients see.
  }
}

/** Waits until every report is in the log and folded; returns how many there are. */
async function untilFolded(db: Database): Promise<number> {
  for (;;) {
    const row = await db.row<{ reports: string; behind: string }>(sql`
      select count(*) filter (where type = ${EVENT_TYPE.order}) as reports,
        count(*) filter (where seq > (select position from lane where lane = 0)) as behind
      from event where lane = 0`)
    if (row?.behind === '0') return Number(row.reports)
    await sleep(100)
  }
}
