import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { rowsRead } from '../../test/support/rows-read.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { findLastEntry, listGeneralLedger, sumAccounts } from './general-ledger-store.ts'

/** Entries of a cent each, this many per day. */
async function fill(db: Db, { count, perDay }: { count: number; perDay: number }): Promise<void> {
  await db.run(sql`
    with entry as (
      insert into ledger_transaction (idempotency_key, kind, day, at, event_id)
      select 'click:' || number, 'click', date '2026-03-01' + number / ${perDay}::int, now(), number
      from generate_series(1, ${count}::int) as number
      returning transaction_id, day
    )
    insert into ledger_line
    select transaction_id, line, account, day, 1, 1, 1, amount from entry,
      (values (0, 'merchant', -10000), (1, 'publisher', 7000), (2, 'platform', 3000))
        as input (line, account, amount)`)
}

test('entries booked while the ledger is written are in neither its lines nor its balances', async (t) => {
  const db = await testDatabase(t)
  await fill(db, { count: 10, perDay: 5 })
  const days = { dayFrom: '2026-03-02', dayTo: '2026-03-31', lastEntry: await findLastEntry(db) }
  const read = async () => [
    await listGeneralLedger(db, { ...days, cursor: null, limitRows: 100 }),
    await sumAccounts(db, days),
  ]
  const before = await read()
  await db.run(sql`
    insert into ledger_transaction (idempotency_key, kind, day, at, event_id)
    values ('click:late', 'click', '2026-03-02', now(), 11)`)
  await db.run(sql`
    insert into ledger_line
    select transaction_id, 0, 'merchant', day, 1, 1, 1, -1
    from ledger_transaction where idempotency_key = 'click:late'`)
  assert.deepEqual(await read(), before)
})

test('a line without its entry appears in the ledger and does not end it', async (t) => {
  const db = await testDatabase(t)
  await fill(db, { count: 2, perDay: 5 })
  await db.run(sql`
    insert into ledger_line
    select 0, line, account, day, merch_id, pub_id, article_id, amount_micros
    from ledger_line limit 1`)
  const days = { dayFrom: '2026-03-01', dayTo: '2026-03-31', lastEntry: await findLastEntry(db) }
  const first = await listGeneralLedger(db, { ...days, cursor: null, limitRows: 4 })
  const second = await listGeneralLedger(db, { ...days, cursor: first.next, limitRows: 4 })
  assert.deepEqual(
    [...first.rows, ...second.rows].map(({ entry }) => entry),
    [null, ...Array(3).fill('click:1'), ...Array(3).fill('click:2')].map((text) => ({ text })),
  )
})

test('a page of the ledger reads only its own entries, however many came before', async (t) => {
  const db = await testDatabase(t)
  const last = 20_000
  await fill(db, { count: last, perDay: 2_000 })
  await db.run(sql`analyze ledger_transaction, ledger_line`)
  const days = { dayFrom: '2026-03-08', dayTo: '2026-03-10', lastEntry: String(last) }
  await db.transaction(async (tx) => {
    const before = await rowsRead(tx, ['ledger_transaction'])
    const wanted = { ...days, cursor: '2026-03-09 17000 1', limitRows: 300 }
    const { rows } = await listGeneralLedger(tx, wanted)
    assert.deepEqual([rows[0]?.entry, rows.length], [{ text: 'click:17000' }, 300])
    const read = (await rowsRead(tx, ['ledger_transaction'])) - before
    assert.ok(read > 0 && read < 200, `${read} entries read`)
  })
})
