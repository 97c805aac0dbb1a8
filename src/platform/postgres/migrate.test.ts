import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/market.ts'
import { openProxy } from '../../../test/support/proxy.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { Refusal } from '../errors/refusal.ts'
import { migrate, readVersion, untilMigrated } from './migrate.ts'
import { isUnreachable, openDatabase } from './postgres.ts'
import { identifier, sql } from './sql.ts'

test('a migration with a lower number than the last one still runs', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await db.run(sql`drop table migration`) // As if nothing had been migrated.
  const folder = await temporaryFolder(scope, 'migrations ')
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
  await assert.rejects(migrate(db.connection, folder), {
    name: 'Refusal', // Shown without a stack.
    message: 'the database has migration 3, this program knows 2: run the newer program',
  })
})

test('a database from before the first schema is refused, and keeps its tables', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const folder = await temporaryFolder(scope, 'migrations ')
  await writeFile(join(folder, '0001_first.sql'), 'create table made_by_0001 ();')
  const refusal = {
    name: 'Refusal',
    message:
      'the database was created before the first schema of 0.1.0 and cannot be upgraded: start ' +
      'with an empty database (DATABASE_URL) or an empty data folder (SOUK_DATA)',
  }
  await assert.rejects(migrate(db.connection, folder), refusal)
  await assert.rejects(readVersion(db, folder), refusal)
  await assert.rejects(db.rows(sql`select from made_by_0001`), /does not exist/)
})

test('a process that starts during a migration finds the whole schema', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await db.run(sql`drop table migration`)
  const folder = await temporaryFolder(scope, 'migrations ')
  await writeFile(join(folder, '0001_first.sql'), 'create table made_by_0001 ();')
  await writeFile(join(folder, '0002_slow.sql'), 'select pg_advisory_xact_lock(2);')
  const waiting = async (count: number) => {
    const row = await db.row<{ count: number }>(sql`
      select count(*)::int from pg_locks join pg_database on oid = database
      where datname = current_database() and locktype = 'advisory' and not granted`)
    return row?.count === count
  }
  const slow = await db.reserve()
  await slow.run(sql`select pg_advisory_lock(2)`)
  const migrating = migrate(db.connection, folder)
  await until(() => waiting(1))
  const lines: string[] = []
  const other = migrate(db.connection, folder, (line) => lines.push(line))
  await until(() => waiting(2))
  assert.deepEqual(lines, ['waiting for another process that migrates this database'])
  assert.equal(await readVersion(db, folder), 1)
  const found = untilMigrated(db).then(() => readVersion(db, folder))
  await until(() => waiting(3))
  slow.release(new Error('the lock goes with its session'))
  assert.equal(await found, 2)
  await migrating
  assert.deepEqual(await other, { from: 2, to: 2 })
})

test('a migration that waits for a lock lets other sessions through', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await db.run(sql`drop table migration`)
  const folder = await temporaryFolder(scope, 'migrations ')
  await writeFile(join(folder, '0001_first.sql'), 'create table busy ();')
  await migrate(db.connection, folder)
  await writeFile(join(folder, '0002_second.sql'), 'create table made_by_0002 ();')
  await writeFile(join(folder, '0003_third.sql'), 'alter table busy add column more int;')

  const reader = await db.reserve()
  scope.after(async () => reader.release(new Error('over')))
  await reader.run(sql`begin`)
  await reader.rows(sql`select from busy`) // Like a nightly reconciliation, for an hour.
  const lines: string[] = []
  const migrating = migrate(db.connection, folder, (line) => lines.push(line))
  const waits = sql`select from pg_locks where relation = 'busy'::regclass and not granted`
  await until(async () => (await db.rows(waits)).length > 0)
  await db.rows(sql`select from busy`)
  assert.equal(await readVersion(db, folder), 2)
  await until(() => Promise.resolve(lines.length > 1))
  await reader.run(sql`rollback`)
  assert.deepEqual(await migrating, { from: 1, to: 3 })
  assert.match(lines.join('\n'), /^migrating [^\n]*\na migration waits [^\n]*$/, 'reported once')
  assert.equal(await readVersion(db, folder), 3)
})

test('only an upgrade prints what it does', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await db.run(sql`drop table migration`)
  const folder = await temporaryFolder(scope, 'migrations ')
  await writeFile(join(folder, '0001_first.sql'), 'create table busy ();')
  const lines: string[] = []
  const run = () => migrate(db.connection, folder, (line) => lines.push(line))
  await run()
  await run()
  assert.deepEqual(lines, [])
  await writeFile(join(folder, '0002_second.sql'), 'create table made_by_0002 ();')
  await run()
  assert.match(lines.join('\n'), /^migrating from 1 to 2: big tables take minutes[^\n]*$/)
})

test('an upgrade beside nodes of the previous version says to stop them', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  await db.run(sql`drop table migration`)
  const folder = await temporaryFolder(scope, 'migrations ')
  const lines: string[] = []
  const upgradeTo = async (number: number) => {
    await writeFile(join(folder, `000${number}_more.sql`), 'select 1;')
    await migrate(db.connection, folder, (line) => lines.push(line))
  }
  await upgradeTo(1)
  await db.run(sql`
    insert into node (node_id, host, pid, roles, is_spool_empty)
    values (1, 'here', 1, 'command', true), (2, 'there', 1, 'api,edge', true)`)
  await upgradeTo(2)
  assert.match(lines.join(), /nodes of the previous version .* stop each that still runs/)
  lines.length = 0
  await db.run(sql`update node set heartbeat_at = '-infinity' where node_id = 2`) // The node has ended.
  await upgradeTo(3)
  assert.match(lines.join(), /^migrating from 2 to 3: [^:]*: let it finish$/)
})

test('a database whose tables are in another schema is found again there', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const folder = await temporaryFolder(scope, 'migrations ')
  await writeFile(join(folder, '0001_first.sql'), 'create table made_by_0001 ();')
  const name = identifier(String(db.connection.database))
  await db.run(sql`create schema own`)
  await db.run(sql`drop schema public cascade`)
  await db.run(sql`alter database ${name} set search_path to own`)

  assert.deepEqual(await migrate(db.connection, folder), { from: 0, to: 1 })
  assert.deepEqual(await migrate(db.connection, folder), { from: 1, to: 1 })
  const fresh = openDatabase({ connection: db.connection, applicationName: 'test' })
  scope.after(() => fresh.close())
  await fresh.rows(sql`select from own.made_by_0001`)
  assert.equal(await readVersion(fresh, folder), 1)
})

test('an unusable database is refused with reasons before anything is created in it', async (t) => {
  const db = await testDatabase(scopeOf(t))
  await db.run(sql`drop table migration`)
  await db.run(sql`revoke create on schema public from pg_database_owner`)
  await assert.rejects(migrate(db.connection, 'migrations'), (error) => {
    return error instanceof Refusal && /^DATABASE_URL: .* may not create/.test(error.message)
  })
})

test('a database that accepts connections but never answers ends a migration within seconds', async (t) => {
  const proxy = await openProxy({ path: '/nowhere' }, 'hang')
  t.after(() => proxy.close())
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const connection = { host: '127.0.0.1', port: proxy.port, user: 'souk', database: 'souk' }
  const refused = assert.rejects(migrate(connection, tmpdir()), isUnreachable)
  t.mock.timers.tick(10_000)
  await refused
})

test("a statement that the server refuses before any migration is reported in the server's words", async (t) => {
  const db = await testDatabase(scopeOf(t))
  await db.run(sql`drop table migration`)
  await db.run(sql`create table migration (name text)`) // Another program's table.
  await assert.rejects(migrate(db.connection, 'migrations'), {
    message: 'column "id" of relation "migration" does not exist',
  })
})

test('a connection that breaks during a migration is reported as one sentence', async (t) => {
  const scope = scopeOf(t)
  const db = await testDatabase(scope)
  const folder = await temporaryFolder(scope, 'migrations ')
  await db.run(sql`drop table migration`)
  const other = await db.reserve()
  scope.after(async () => other.release(new Error('over')))
  await other.run(sql`begin`)
  await other.run(sql`create table migration ()`) // A second process that creates it waits for this one.
  const refused = assert.rejects(migrate(db.connection, folder), isUnreachable)
  const cut = sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'souk: migrate'
      and wait_event_type = 'Lock'`
  await until(async () => (await db.run(cut)) > 0)
  await refused
})
