import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { openFoldedLog } from '../../test/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/money-events.ts'
import { makePublisherWorld } from '../../test/publisher-world.ts'
import { openAccounts } from '../demand/budget-account.ts'
import { requestLeases } from '../demand/lease-store.ts'
import { MODEL } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { reconcile } from '../ledger/reconcile.ts'
import { sql } from '../platform/sql.ts'
import { utcDay } from '../platform/timestamp.ts'

const PRICE = 100_000
const DAY = utcDay(START_MS)
const NODE = { nodeId: 1, incarnation: '1' }

test('a database set back to when a lease was smaller pays what it knows of, and books go on', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId } = await addArticle('Ten mugs')
  const log = openFoldedLog(t, db)
  const { merch_id: merchId } = merchant
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros)
    values (${merchId}, 'cpc', ${PRICE}, ${10 * PRICE})`)
  await db.run(sql`insert into node (node_id, host, pid, roles) values (1, 'here', 1, 'edge')`)
  await openAccounts(db, [{ campaignId: 1, day: DAY }])
  // What the backup knows: two clicks' worth. The node had been granted more since.
  const wanted = { campaignId: 1, day: DAY, leaseId: 0, spentMicros: 0, holdMicros: 0 }
  const terms = { priceMaxMicros: PRICE, isFinal: false, urgentMicros: 0 }
  const request = { ...wanted, ...terms, wantMicros: 2 * PRICE, expectedClicks: 0, openWins: 0 }
  const ask = (requestNo: number, spentMicros = 0) =>
    requestLeases(db, NODE, { requestNo, requests: [{ ...request, spentMicros }], nowMs: START_MS })
  const leaseId = String((await ask(1))?.[0]?.leaseId)
  const events = new MoneyEvents()
  const cpc = { model: MODEL.cpc, priceMicros: PRICE, reservedMicros: PRICE, sharePpm: 750_000 }
  const own = { merchId, pubId: publisher.pub_id, auctionId, campaignId: 1, leaseId, ...cpc }
  const click = (name: string) => events.click(name, START_MS, own)

  await log.tell(click('a'), click('b'), click('c'), click('d'))
  await log.tell(click('e'))
  const reasons = await db.rows<{ reason: number }>(sql`
    select reason from click order by event_id`)
  const { ok, spooledLate } = REASON
  assert.deepEqual(
    reasons.map(({ reason }) => reason),
    [ok, ok, spooledLate, spooledLate, spooledLate],
  )
  const account = sql`
    select settled_micros, escrow_micros from budget_account where day is not null`
  assert.deepEqual(await db.row(account), {
    settled_micros: String(2 * PRICE),
    escrow_micros: '0',
  })
  assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
  // The node is answered with a lease of its own, of which it has spent nothing.
  const again = (await ask(2, 5 * PRICE))?.[0]
  assert.notEqual(String(again?.leaseId), leaseId)
  assert.equal(again?.grantedMicros, 2 * PRICE)
})
