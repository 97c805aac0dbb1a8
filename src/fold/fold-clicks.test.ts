import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import type { StoredEvent } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { sql } from '../platform/postgres/sql.ts'
import { reconcile } from '../reconcile/reconcile.ts'

/** One visitor's clicks on one campaign, each reported separately. */
async function makeVisitor(t: TestContext) {
  const db = await testDatabase(t)
  const { publisher, merchant, addCampaign } = await makePublisherWorld(db)
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const own = {
    ...{ merchId: merchant.merch_id, pubId: publisher.pub_id, campaignId: await addCampaign() },
    visitorKey: Buffer.alloc(16, 7),
  }
  const reasons = async () => {
    const rows = await db.rows<{ reason: number }>(sql`select reason from click order by event_id`)
    return rows.map(({ reason }) => reason)
  }
  const click = (atMs: number, fields: Partial<StoredEvent> = {}) =>
    log.record(events.click(`at ${atMs}`, atMs, { ...own, ...fields }))
  return { db, click, reasons }
}

test('a click that was not valid is no visit to the clicks of later batches; a valid one is', async (t) => {
  const { click, reasons } = await makeVisitor(t)
  await click(START_MS, { reason: REASON.robot })
  await click(START_MS + 1)
  await click(START_MS + 2)
  assert.deepEqual(await reasons(), [REASON.robot, REASON.ok, REASON.duplicateVisitor])
})

test('reconcile judges clicks as the fold does, half an hour and an hour apart to the millisecond', async (t) => {
  const { db, click, reasons } = await makeVisitor(t)
  const [minute, later] = [60_000, START_MS + 3 * 3_600_000]
  await click(START_MS)
  await click(START_MS + 30 * minute - 1)
  await click(START_MS + 30 * minute)
  for (const [at, afterMs] of [0, 1, 2, 3, 4, 60 * minute - 1, 60 * minute].entries()) {
    await click(later + afterMs, { auctionId: String(9_007_199_254_740_993n + BigInt(at)) })
  }
  assert.deepEqual(await reasons(), [
    ...[REASON.ok, REASON.duplicateVisitor, REASON.ok],
    ...[REASON.ok, REASON.ok, REASON.ok, REASON.ok, REASON.ok, REASON.visitorLimit, REASON.ok],
  ])
  // A click whose lease is lost is no visit; nor are links that nobody pays for one campaign.
  const last = later + 3 * 3_600_000
  await click(last, { leaseId: '99', reservedMicros: 1 })
  await click(last + 1)
  await click(last + 2)
  for (let at = 0; at < 6; at += 1) {
    await click(last + 3 + at, {
      campaignId: null,
      auctionId: String(9_007_199_254_740_993n + BigInt(at)),
    })
  }
  const six = Array.from({ length: 6 }, () => REASON.ok)
  const all = await reasons()
  assert.deepEqual(all.slice(10), [REASON.spooledLate, REASON.ok, REASON.duplicateVisitor, ...six])
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
})

test('a click trains its own merchant’s evidence, and one outside the network none', async (t) => {
  const { db, click } = await makeVisitor(t)
  await click(START_MS, { merchId: 0, campaignId: null })
  assert.deepEqual(await db.rows(sql`select from pair_evidence`), [])
  await click(START_MS + 1)
  assert.deepEqual(await db.rows(sql`select distinct clicks from pair_evidence`), [{ clicks: 1 }])
})

test('of a result’s clicks, each folded by itself, the first that was reserved is paid', async (t) => {
  const { click, reasons } = await makeVisitor(t)
  const resultNumber = Buffer.alloc(16, 9)
  await click(START_MS, { resultNumber, reason: REASON.robot })
  await click(START_MS + 1, { resultNumber })
  await click(START_MS + 2, { resultNumber })
  assert.deepEqual(await reasons(), [REASON.robot, REASON.ok, REASON.duplicateResult])
})

test('valid clicks of the last hour count also where each was folded by itself', async (t) => {
  const { click, reasons } = await makeVisitor(t)
  for (const [at, minute] of [0, 1, 2, 3, 4, 59, 61].entries()) {
    const auctionId = String(9_007_199_254_740_993n + BigInt(at)) // each on a separate link
    await click(START_MS + minute * 60_000, { auctionId })
  }
  const five = Array.from({ length: 5 }, () => REASON.ok)
  assert.deepEqual(await reasons(), [...five, REASON.visitorLimit, REASON.ok])
})
