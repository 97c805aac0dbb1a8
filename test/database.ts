/**
 * Real databases for tests: one embedded server per checkout, one migrated template, and a copy
 * of that template for whoever asks.
 *
 * The server is shared by every test process of the checkout in the way the product shares it,
 * so a single file runs alone as well as the whole suite. It lives in `data/test`, and writes
 * without fsync: no test here outlives a crash of the machine.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { makeLogger } from '../src/platform/log.ts'
import { migrate } from '../src/platform/migrate.ts'
import { type Connection, type Database, openDatabase } from '../src/platform/postgres.ts'
import { identifier, joinSql, type Sql, sql } from '../src/platform/sql.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MIGRATIONS = join(ROOT, 'migrations')
const OWNER = 'souk'
const TEMPLATE_LOCK = 1 // In the admin database of the tests' own cluster; nothing else uses it.

/** Something that can be told what to do at the end: a test's context, or a whole file's. */
export interface Scope {
  after(work: () => Promise<void>): unknown
}

/**
 * A migrated, empty database of its own; closed and dropped at the end of the test, or of the
 * file when no test context is given.
 */
export async function testDatabase(scope: Scope = { after }): Promise<Database> {
  const server = await enterServer()
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`
  const template = await findTemplate(server)
  await asAdmin(server, (admin) => admin.run(createDatabase(name, template)))
  const db = openDatabase({
    connection: { ...server.connection, database: name },
    applicationName: 'souk: test',
  })
  scope.after(async () => {
    await db.close()
    // With force: a test that leaks a connection must not keep its database for ever.
    await asAdmin(server, (admin) => admin.run(dropDatabase(name)))
    await leaveServer()
  })
  return db
}

/** Resolves when `work` waits for a lock that somebody else has; rejects if it ends instead. */
export async function untilWaiting(db: Database, work: Promise<unknown>): Promise<void> {
  let hasEnded = false
  const end = () => {
    hasEnded = true
  }
  work.then(end, end)
  const isWaiting = sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  while ((await db.row(isWaiting)) === null) {
    if (hasEnded) throw new Error('it waits for nobody')
    await sleep(10)
  }
}

/** The address to give a child process as DATABASE_URL. */
export function databaseUrl({ user, database, host, port }: Connection): string {
  const url = new URL(`postgres://localhost/${database}`)
  url.username = String(user)
  url.port = String(port)
  url.searchParams.set('host', String(host)) // A socket's folder cannot stand before the path.
  return url.href
}

/** Keeps the tests' server running over many test processes; the caller closes it. */
export function openTestServer(): Promise<EmbeddedPostgres> {
  return openEmbeddedPostgres({
    dataDir: join(ROOT, 'data/test'),
    log: makeLogger({ level: 'warn' }),
    settings: { fsync: 'off', max_connections: '200' },
  })
}

let server: Promise<EmbeddedPostgres> | null = null
let users = 0

function enterServer(): Promise<EmbeddedPostgres> {
  users += 1
  server ??= openTestServer()
  return server
}

async function leaveServer(): Promise<void> {
  users -= 1
  if (users > 0) return
  const last = server
  server = null
  await (await last)?.close()
}

async function findTemplate(server: EmbeddedPostgres): Promise<string> {
  const name = `template_${await hashOfMigrations()}`
  await asAdmin(server, async (admin) => {
    const holder = await admin.reserve()
    try {
      await holder.run(sql`select pg_advisory_lock(${TEMPLATE_LOCK})`)
      const found = await holder.row(sql`select 1 from pg_database where datname = ${name}`)
      if (found !== null) return
      await dropLeftovers(admin)
      const draft = 'template_draft'
      await holder.run(createDatabase(draft, 'template1'))
      await migrate({ ...server.connection, database: draft }, MIGRATIONS)
      await holder.run(sql`alter database ${identifier(draft)} rename to ${identifier(name)}`)
    } finally {
      holder.release(new Error('ends the session, and the lock with it'))
    }
  })
  return name
}

/** What killed runs and older migrations left behind, unless somebody is using it. */
async function dropLeftovers(admin: Database): Promise<void> {
  const idle = await admin.rows<{ datname: string }>(sql`
    select datname from pg_database
    where datname ~ '^(test|template)_'
      and not exists (select 1 from pg_stat_activity a where a.datname = pg_database.datname)
  `)
  for (const { datname } of idle) {
    if (isOfLiveProcess(datname)) continue
    await admin.run(dropDatabase(datname))
  }
}

function isOfLiveProcess(name: string): boolean {
  const pid = Number(/^test_(\d+)_/.exec(name)?.[1] ?? 0)
  if (pid === 0) return false
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function hashOfMigrations(): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(MIGRATIONS)).sort()) {
    if (/^\d/.test(name)) hash.update(await readFile(join(MIGRATIONS, name)))
  }
  return hash.digest('hex').slice(0, 16)
}

async function asAdmin<T>(
  { adminConnection }: EmbeddedPostgres,
  work: (admin: Database) => Promise<T>,
): Promise<T> {
  const admin = openDatabase({ connection: adminConnection, applicationName: 'souk: test admin' })
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

function createDatabase(name: string, template: string): Sql {
  const names = [identifier(name), identifier(template), identifier(OWNER)] as const
  return sql`create database ${names[0]} template ${names[1]} owner ${names[2]}`
}

function dropDatabase(name: string): Sql {
  return joinSql([sql`drop database if exists`, identifier(name), sql`with (force)`], ' ')
}
