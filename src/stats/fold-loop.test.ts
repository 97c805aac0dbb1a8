import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '../../test/database.ts'
import { MoneyEvents, START_MS } from '../../test/money-events.ts'
import { listAccounts } from '../demand/budget-account.ts'
import { MODEL, MONEY_LANE } from '../events/event.ts'
import type { EventLog } from '../events/event-log.ts'
import { sql } from '../platform/sql.ts'
import { FoldLoop } from './fold-loop.ts'
import { foldMoney } from './fold-money.ts'

const PRICE = 500_000

test('clicks that another worker has folded meanwhile are not folded again: no account moves (P21)', async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`insert into campaign (merch_id, model, bid_micros) values (1, 'cpc', ${PRICE})`)
  const paid = { model: MODEL.cpc, priceMicros: PRICE, reservedMicros: PRICE, merchId: 1 }
  const events = [new MoneyEvents().click('a', START_MS, paid)]
  const errors: Error[] = []
  // Between its reading and its commit the other worker commits the same events.
  const raced: EventLog = {
    read: async ({ position }) => {
      if (position !== '0') return []
      await db.transaction(async (tx) => {
        await tx.run(sql`update lane set position = ${events[0]?.seq} where lane = ${MONEY_LANE}`)
        await foldMoney(tx, events)
      })
      return events
    },
    append: () => Promise.resolve(),
    onAppended: () => undefined,
    close: () => Promise.resolve(),
  }
  const loop = new FoldLoop({
    database: db,
    log: raced,
    lanes: [MONEY_LANE],
    fold: foldMoney,
    onError: (error) => errors.push(error as Error),
  })
  loop.start()
  while (errors.length === 0) await sleep(5)
  await loop.close()

  assert.match(errors[0]?.message ?? '', /folded by another worker/)
  const accounts = await listAccounts(db, { campaignId: 1, limitRows: 10 })
  assert.deepEqual(
    accounts.map(({ settled_micros }) => settled_micros),
    [String(PRICE), String(PRICE)],
  )
  const row = await db.row<{ entries: number }>(sql`
    select count(*)::int as entries from ledger_transaction`)
  assert.equal(row?.entries, 1)
})
