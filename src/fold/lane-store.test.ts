import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { rowsRead } from '../../test/support/rows-read.ts'
import { sql } from '../platform/postgres/sql.ts'
import { countBehind } from './lane-store.ts'

test('counting a few waiting events does not read all folded ones', async (t) => {
  const db = await testDatabase(t)
  const folded = 50_000
  await db.run(sql`
    insert into event (day, id, seq, lane, type, at)
    select '2026-03-02', number, number, 1 + number % 15, 1, now()
    from generate_series(1, ${folded + 2}) as number`)
  await db.run(sql`update lane set position = ${folded}`)
  await db.run(sql`analyze event`)
  const tables = ['event_default']
  await db.transaction(async (tx) => {
    const before = await rowsRead(tx, tables)
    assert.equal(await countBehind(tx, 100), 2)
    assert.equal(await countBehind(tx, 1), 1)
    const rows = (await rowsRead(tx, tables)) - before
    assert.ok(rows > 0 && rows < 100, `${rows} rows read`)
  })
})
