import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { type DatabaseFacts, databaseFaults, readDatabaseFacts } from './database-faults.ts'
import { identifier, sql } from './sql.ts'

const GOOD: DatabaseFacts = {
  version: '18.1',
  version_number: 180_001,
  encoding: 'UTF8',
  is_read_only: false,
  role: 'souk',
  database: 'exchange',
  schema: 'public',
  may_create: true,
  may_use_temporary: true,
  served_by: [
    [1, 1, 1],
    [2, 2, 2],
  ],
}

test('every reason to reject a database is reported at once, each with its fix', () => {
  const wrong = { version: '17.5', version_number: 170_005, encoding: 'SQL_ASCII' }
  assert.deepEqual(databaseFaults({ ...GOOD, ...wrong, may_create: false }), [
    'PostgreSQL 17.5: needs PostgreSQL 18 or later',
    `the database has the encoding SQL_ASCII: recreate it with encoding 'UTF8' template template0`,
    'souk may not create tables in the schema public of exchange: ' +
      'alter database "exchange" owner to "souk"',
  ])
  assert.deepEqual(databaseFaults({ ...GOOD, may_use_temporary: false }), [
    'souk may not make temporary tables: grant temporary on database "exchange" to "souk"',
  ])
  const [lost] = databaseFaults({ ...GOOD, schema: null, may_create: false })
  assert.match(lost ?? '', /no schema of the search path of souk is there/)
})

test('a pooler in transaction mode is detected, one in session mode is accepted', () => {
  const shared: DatabaseFacts['served_by'][] = [
    [
      [1, 1, 1],
      [1, 1, 1],
    ],
    [
      [1, 2, 1],
      [2, 1, 2],
    ],
    [
      [1, 1, 1],
      [2, 2, 3],
    ],
  ]
  for (const served_by of shared) {
    assert.match(databaseFaults({ ...GOOD, served_by }).join(), /put it into session mode/)
  }
  assert.deepEqual(databaseFaults(GOOD), [])
})

test('a database is accepted for the role that owns it and for no other', async (t) => {
  const db = await testDatabase(scopeOf(t))
  const facts = await readDatabaseFacts(db.connection)
  assert.deepEqual(databaseFaults(facts), [])

  const name = identifier(facts.database)
  await db.run(sql`alter database ${name} set default_transaction_read_only to on`)
  const standby = databaseFaults(await readDatabaseFacts(db.connection))
  assert.match(standby.join(), /^the database takes no writes.+ default_transaction_read_only/)

  await db.run(sql`revoke temporary on database ${name} from public, current_user`)
  assert.equal((await readDatabaseFacts(db.connection)).may_use_temporary, false)

  await db.run(sql`revoke create on schema public from pg_database_owner`)
  assert.equal((await readDatabaseFacts(db.connection)).may_create, false)

  await db.run(sql`alter role current_user in database ${name} set search_path
    to nowhere`)
  assert.equal((await readDatabaseFacts(db.connection)).schema, null)
})
