import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { rowsRead } from '../../test/rows-read.ts'
import { sql } from '../platform/sql.ts'
import { listGeneralLedger } from './general-ledger-store.ts'

test('a page of the ledger looks at its own entries, however many there were before', async (t) => {
  const db = await testDatabase(t)
  const last = 20_000
  await db.run(sql`
    insert into ledger_transaction (idempotency_key, kind, day, at, event_id)
    select 'click:' || number, 'click', date '2026-03-01' + number / 2000, now(), number
    from generate_series(1, ${last}) as number`)
  await db.run(sql`
    insert into ledger_line
    select transaction_id, line, 'merchant', day, 1, 1, 1, 0
    from ledger_transaction, generate_series(0, 2) as line`)
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
