import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase, untilWaiting } from '../../../test/support/database.ts'
import { deleteWhere } from './delete-in-batches.ts'
import { sql } from './sql.ts'

test('two concurrent deletions leave nothing, even if the first one is interrupted', async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`create table old as select generate_series(1, 25000) as number`)
  let second: Promise<number> = Promise.resolve(0)
  // The first deletion commits its first batch after the second one has found the same rows.
  await db.transaction(async (tx) => {
    await tx.run(sql`delete from old where number <= 10000`)
    second = deleteWhere(db, 'old', sql`number > 0`)
    await untilWaiting(db, second)
  })
  assert.equal(await second, 25_000)
  assert.deepEqual(await db.rows(sql`select from old`), [])
})
