import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { scopeOf } from '../../test/scope.ts'
import { migrate, readVersion } from './migrate.ts'
import { sql } from './sql.ts'

test('a migration that came after one with a later number is run as well', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await db.run(sql`drop table migration`) // As if nothing had been migrated.
  const folder = await mkdtemp(join(tmpdir(), 'migrations '))
  scope.after(() => rm(folder, { recursive: true, force: true }))
  const add = (name: string) =>
    writeFile(join(folder, `${name}.sql`), `create table made_by_${name.slice(0, 4)} ();`)

  await add('0001_first')
  await add('0003_third')
  assert.equal(await readVersion(db, folder), 0)
  assert.deepEqual(await migrate(db.connection, folder), { from: 0, to: 3 })
  assert.equal(await readVersion(db, folder), 3)

  await add('0002_second')
  assert.equal(await readVersion(db, folder), 1, 'the database is behind')
  assert.deepEqual(await migrate(db.connection, folder), { from: 1, to: 3 })
  assert.equal(await readVersion(db, folder), 3)
  await db.rows(sql`select from made_by_0002`)
  assert.deepEqual(await migrate(db.connection, folder), { from: 3, to: 3 })

  await rm(join(folder, '0003_third.sql'))
  assert.equal(await readVersion(db, folder), 3, 'a newer program has been here')
  await assert.rejects(migrate(db.connection, folder), /run the newer program/)
})
