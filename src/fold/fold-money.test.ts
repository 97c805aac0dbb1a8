import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import type { StoredEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { foldMoney } from './fold-money.ts'

/** Each click with an order that names it, as from readers who click and buy immediately. */
function alternating(pairs: number): StoredEvent[] {
  const events = new MoneyEvents()
  return Array.from({ length: pairs }, (_, at) => [
    events.click(`c${at}`, START_MS),
    events.order(`o${at}`, START_MS, { click: `c${at}` }),
  ]).flat()
}

/** The number of statements to fold them, with separate books. */
async function countStatements(t: TestContext, events: readonly StoredEvent[]): Promise<number> {
  const database = await testDatabase(t)
  let statements = 0
  const counted = (tx: Db): Db => {
    const ask =
      <Query, Answer>(send: (query: Query) => Answer) =>
      (query: Query) => {
        statements += 1
        return send(query)
      }
    return { ...tx, rows: ask(tx.rows), row: ask(tx.row), run: ask(tx.run) } as Db
  }
  await database.transaction((tx) => foldMoney(counted(tx), events))
  return statements
}

/** The figures of the events, folded one batch at a time. */
async function figuresOf(t: TestContext, batches: readonly (readonly StoredEvent[])[]) {
  const db = await testDatabase(t)
  for (const batch of batches) await db.transaction((tx) => foldMoney(tx, batch))
  return {
    orders: await db.rows<{ order_id: string; click_id: Buffer | null }>(sql`
      select order_id, click_id, attribution, account from merchant_order order by order_id`),
    days: await db.rows(sql`select * from stats_day order by merch_id, day, article_id`),
  }
}

test('folding alternating clicks and orders takes as many statements as one of each', async (t) => {
  const ofMany = await countStatements(t, alternating(50))
  assert.equal(ofMany, await countStatements(t, alternating(1)))
})

test('an order in one batch with a later click that it names is folded as in separate batches', async (t) => {
  const events = new MoneyEvents()
  const batch = [
    events.order('too early', START_MS, { click: 'a' }),
    events.click('b', START_MS),
    events.click('a', START_MS),
    events.order('of b', START_MS, { click: 'b' }),
    events.click('c', START_MS),
    events.goodsBack('of b', START_MS, {}),
    events.order('of c', START_MS, { exact: 'c' }),
  ]
  const together = await figuresOf(t, [batch])
  const oneByOne = batch.map((event) => [event])
  assert.deepEqual(together, await figuresOf(t, oneByOne))
  const owned = together.orders.filter(({ click_id }) => click_id !== null)
  assert.deepEqual(
    owned.map(({ order_id }) => order_id),
    ['of b', 'of c'],
  )
})
