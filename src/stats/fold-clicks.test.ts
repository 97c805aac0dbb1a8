import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { openFoldedLog } from '../../test/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/money-events.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { REASON } from '../events/reason.ts'
import { sql } from '../platform/sql.ts'

test('a click that was not valid is no visit to the clicks of later batches; a valid one is', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addCampaign } = await makePublisherWorld(db)
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const own = {
    ...{ merchId: merchant.merch_id, pubId: publisher.pub_id, campaignId: await addCampaign() },
    visitorKey: Buffer.alloc(16, 7),
  }
  await log.tell(events.click('a', START_MS, { ...own, reason: REASON.robot }))
  await log.tell(events.click('b', START_MS + 1, own))
  await log.tell(events.click('c', START_MS + 2, own))
  const rows = await db.rows<{ reason: number }>(sql`select reason from click order by event_id`)
  assert.deepEqual(
    rows.map(({ reason }) => reason),
    [REASON.robot, REASON.ok, REASON.duplicateVisitor],
  )
})

test('valid clicks of the last hour count also where each was folded by itself', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addCampaign } = await makePublisherWorld(db)
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const own = {
    ...{ merchId: merchant.merch_id, pubId: publisher.pub_id, campaignId: await addCampaign() },
    visitorKey: Buffer.alloc(16, 7),
  }
  for (const [at, minute] of [0, 1, 2, 3, 4, 59, 61].entries()) {
    const onAnotherLink = { ...own, auctionId: String(9_007_199_254_740_993n + BigInt(at)) }
    await log.tell(events.click(`click ${at}`, START_MS + minute * 60_000, onAnotherLink))
  }
  const rows = await db.rows<{ reason: number }>(sql`select reason from click order by event_id`)
  const five = Array.from({ length: 5 }, () => REASON.ok)
  assert.deepEqual(
    rows.map(({ reason }) => reason),
    [...five, REASON.visitorLimit, REASON.ok],
  )
})
