/** Answers from several statements: an event booked between two of them is in all or in none. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { EVENT_TYPE, MODEL } from '../events/event.ts'
import { issueStatements } from '../ledger/statement-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { readOverview } from '../stats/overview-store.ts'
import { explainOrder } from './order-record-store.ts'
import { readPayments } from './payments-store.ts'

async function start(t: TestContext) {
  const db = await testDatabase(t)
  const { record } = openFoldedLog(t, db)
  const { publisher, merchant, addArticle } = await makePublisherWorld(db)
  const [pubId, merchId] = [publisher.pub_id, merchant.merch_id]
  const { auctionId } = await addArticle('Ten mugs')
  const events = new MoneyEvents()
  const click = (name: string) =>
    events.click(name, START_MS, {
      ...{ merchId, pubId, auctionId, model: MODEL.cpc, sharePpm: 750_000 },
      ...{ termsAmount: 80_000_000, reservedMicros: 80_000_000 },
    })
  return { db, pubId, merchId, events, click, record }
}

/** The same database; `happen` runs after a reader's first statement. */
function interrupted(db: Db, happen: () => Promise<unknown>): Db {
  let isOver = false
  const around = (inner: Db): Db => ({
    rows: (query) => inner.rows<never>(query).finally(meddle),
    row: (query) => inner.row<never>(query).finally(meddle),
    run: (query) => inner.run(query).finally(meddle),
    transaction: (work, mode) => inner.transaction((tx) => work(around(tx)), mode),
  })
  const meddle = async () => {
    if (isOver) return
    isOver = true
    await happen()
  }
  return around(db)
}

test("a publisher's earnings are shown as of one moment, even if a payout happens meanwhile", async (t) => {
  const { db, pubId, merchId, events, click, record } = await start(t)
  const paid = { reference: 'r', paid_on: '2026-03-03', amount_micros: 100_000_000 }
  const payment = { type: EVENT_TYPE.payment, body: JSON.stringify(paid) }
  await record(click('a'), { ...events.at(START_MS + 1, payment), merchId })
  const asked = { pubId, now: new Date('2026-04-02T00:30:00Z') }
  const before = await readPayments(db, asked)
  assert.deepEqual([before.balance_usd, before.paid_out_usd], ['60.00', '0.00'])
  const payOut = () => issueStatements(db, asked)
  assert.deepEqual(await readPayments(interrupted(db, payOut), asked), before)
  const after = await readPayments(db, asked)
  assert.deepEqual([after.balance_usd, after.paid_out_usd], ['0.00', '60.00'])
})

test('an order is shown as of one moment, even if a return happens meanwhile', async (t) => {
  const { db, merchId, events, click, record } = await start(t)
  const own = <T>(event: T) => ({ ...event, merchId })
  await record(click('a'), own(events.order('o1', START_MS, { click: 'a' })))
  const asked = { merchId, orderId: 'o1', now: new Date(START_MS) }
  const before = await explainOrder(db, asked)
  const returnGoods = () => record(own(events.goodsBack('o1', START_MS + 1, { quantity: 1 })))
  assert.deepEqual(await explainOrder(interrupted(db, returnGoods), asked), before)
  assert.deepEqual(
    [before?.returns.length, (await explainOrder(db, asked))?.returns.length],
    [0, 1],
  )
})

test("an overview's days and rows are of one moment, even if a click is booked meanwhile", async (t) => {
  const { db, pubId, click, record } = await start(t)
  await record(click('a'))
  const asked = { pubId, dayFrom: '2026-03-01', dayTo: '2026-03-31' }
  const before = await readOverview(db, asked)
  assert.deepEqual(
    await readOverview(
      interrupted(db, () => record(click('b'))),
      asked,
    ),
    before,
  )
  assert.equal((await readOverview(db, asked)).totals.clicks, 2)
})
