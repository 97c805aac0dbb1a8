/** Clicks whose lease has ended, or is not theirs: unpaid, and no budget moves (I6). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { listAccounts } from '../../test/support/budget-accounts.ts'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { leaseCloseBody } from '../budgets/book-spend.ts'
import { openAccounts } from '../budgets/budget-account.ts'
import { requestLeases } from '../budgets/lease-store.ts'
import { EVENT_TYPE, MODEL, type StoredEvent } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { reconcile } from '../reconcile/reconcile.ts'

const PRICE = 100_000
const DAY = utcDay(START_MS)
const NODE = { nodeId: 1, incarnation: '1' }

/** Two campaigns with ten clicks a day, and a lease of two clicks of the first. */
async function makeLeased(t: TestContext) {
  const db = await testDatabase(t)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const { auctionId } = await addArticle('Ten mugs')
  const log = openFoldedLog(t, db)
  const { merch_id: merchId } = merchant
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, daily_budget_micros)
    select ${merchId}, 'cpc', ${PRICE}, ${10 * PRICE} from generate_series(1, 2)`)
  await db.run(sql`insert into node (node_id, host, pid, roles) values (1, 'here', 1, 'edge')`)
  await openAccounts(
    db,
    [1, 2].map((campaignId) => ({ campaignId, day: DAY })),
  )
  const wanted = { campaignId: 1, day: DAY, leaseId: 0, spentMicros: 0, holdMicros: 0 }
  const terms = { priceMaxMicros: PRICE, isFinal: false, immediateMicros: 0 }
  const request = { ...wanted, ...terms, wantMicros: 2 * PRICE, inFlightMicros: 0 }
  const ask = (requestNo: number, spentMicros = 0) =>
    requestLeases(db, NODE, { requestNo, requests: [{ ...request, spentMicros }], nowMs: START_MS })
  const leaseId = String((await ask(1))?.grants[0]?.leaseId)
  const events = new MoneyEvents()
  const cpc = { model: MODEL.cpc, termsAmount: PRICE, reservedMicros: PRICE, sharePpm: 750_000 }
  const own = { merchId, pubId: publisher.pub_id, auctionId, campaignId: 1, leaseId, ...cpc }
  const click = (name: string, fields: Partial<StoredEvent> = {}) =>
    events.click(name, START_MS, { ...own, ...fields })
  const lastWord = () =>
    events.at(START_MS, { type: EVENT_TYPE.leaseClose, body: leaseCloseBody(NODE) })

  /** Why each click was paid or not, and the settled and reserved parts of each day's budget. */
  const outcome = async () => {
    const rows = await db.rows<{ reason: number }>(sql`select reason from click order by event_id`)
    const accounts = [...(await listAccounts(db, 1)), ...(await listAccounts(db, 2))]
    assert.deepEqual((await reconcile(db, { from: null, to: null })).differences, [])
    return {
      reasons: rows.map(({ reason }) => reason),
      budgets: accounts
        .filter(({ day }) => day !== null)
        .map(({ settled_micros, escrow_micros }) => [
          Number(settled_micros) / PRICE,
          Number(escrow_micros) / PRICE,
        ]),
    }
  }
  return { log, click, lastWord, ask, leaseId, outcome }
}

const { ok, spooledLate } = REASON

test('a database set back to when a lease was smaller pays what it knows of, and books go on', async (t) => {
  // What the backup knows: two clicks' worth. The node had been granted more since.
  const { log, click, ask, leaseId, outcome } = await makeLeased(t)
  await log.record(click('a'), click('b'), click('c'), click('d'))
  await log.record(click('e'))
  assert.deepEqual(await outcome(), {
    reasons: [ok, ok, spooledLate, spooledLate, spooledLate],
    budgets: [
      [2, 0],
      [0, 0],
    ],
  })
  // The node is answered with a separate lease, of which it has spent nothing.
  const again = (await ask(2, 5 * PRICE))?.grants[0]
  assert.notEqual(String(again?.leaseId), leaseId)
  assert.equal(again?.grantedMicros, 2 * PRICE)
})

test('a click behind its node’s last word is not paid, and takes nothing from the budget', async (t) => {
  const { log, click, lastWord, outcome } = await makeLeased(t)
  await log.record(click('a'), lastWord(), click('b'))
  await log.record(click('c'))
  assert.deepEqual(await outcome(), {
    reasons: [ok, spooledLate, spooledLate],
    budgets: [
      [1, 0],
      [0, 0],
    ],
  })
})

test('a click is not paid from another campaign’s lease, nor by its own campaign without one', async (t) => {
  const { log, click, outcome } = await makeLeased(t)
  await log.record(click('a', { campaignId: 2 }))
  assert.deepEqual(await outcome(), {
    reasons: [spooledLate],
    budgets: [
      [0, 2],
      [0, 0],
    ],
  })
})
