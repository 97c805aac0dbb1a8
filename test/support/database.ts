/**
 * Real databases for tests: one embedded server per checkout, one migrated template, and copies of
 * it.
 *
 * All test processes of the checkout share the server in the way the product does, so a single file
 * runs alone as well as the whole suite. It writes without fsync, and into memory where there is
 * enough, because no test outlives a crash of the machine.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { whenInterrupted } from '../../src/cli/interrupt.ts'
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../src/platform/postgres/embedded-postgres.ts'
import { migrate } from '../../src/platform/postgres/migrate.ts'
import {
  type Connection,
  type Database,
  openDatabase,
} from '../../src/platform/postgres/postgres.ts'
import { identifier, joinSql, type Sql, sql } from '../../src/platform/postgres/sql.ts'
import { makeLogger } from '../../src/platform/process/log.ts'
import { ROOT } from './source-files.ts'
import { testFolder } from './test-folder.ts'

const MIGRATIONS = join(ROOT, 'migrations')
const OWNER = 'souk'
const TEMPLATE_LOCK = 1 // In the admin database of the tests' own cluster, which nothing else uses.

/** Registers work for the end: of a test, or of a whole file. */
export interface Scope {
  after(work: () => Promise<void>): unknown
}

/**
 * A migrated, empty database; closed and dropped at the end of the test, or of the file if no test
 * context is given.
 */
export async function testDatabase(scope: Scope = { after }): Promise<Database> {
  const { server, admin, template } = await enterServer()
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`
  await admin.run(createDatabase(name, template))
  const db = openDatabase({
    connection: { ...server.connection, database: name },
    applicationName: 'souk: test',
  })
  scope.after(async () => {
    await db.close()
    // With force, so that a test that leaks a connection does not keep its database.
    await admin.run(dropDatabase(name))
    await leaveServer()
  })
  return db
}

/** Resolves when `work` waits for a lock that somebody else holds; rejects if it ends instead. */
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

/** The result of `work`, which must wait until another transaction's statement is committed. */
export async function whileWritten<T>(
  db: Database,
  statement: Sql,
  work: () => Promise<T>,
): Promise<T> {
  const { waiting } = await db.transaction(async (tx) => {
    await tx.run(statement)
    const waiting = work()
    await untilWaiting(db, waiting)
    return { waiting } // Wrapped, because the promise itself waits for this transaction.
  })
  return waiting
}

/** The DATABASE_URL for a child process. */
export function databaseUrl({ user, database, host, port }: Connection): string {
  const url = new URL(`postgres://localhost/${database}`)
  url.username = String(user)
  url.port = String(port)
  url.searchParams.set('host', String(host)) // A socket's folder cannot be the host of a URL.
  return url.href
}

/** Keeps the server running over many test processes; the caller closes it. */
export function openTestServer(): Promise<EmbeddedPostgres> {
  return openEmbeddedPostgres({
    dataDir: testFolder(),
    log: makeLogger({ level: 'warn' }),
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      // A test process uses about twenty, and on many cores many run at once.
      max_connections: String(200 + 40 * availableParallelism()),
      // Its files are in memory already, so neither a large cache nor a long log helps.
      shared_buffers: '128MB',
      min_wal_size: '32MB',
      max_wal_size: '256MB',
    },
  })
}

interface TestServer {
  readonly server: EmbeddedPostgres
  readonly admin: Database
  readonly template: string
}

let entered: Promise<TestServer> | null = null
let users = 0
let isWatching = false

function enterServer(): Promise<TestServer> {
  users += 1
  // Otherwise the server would keep running after Ctrl-C, which ends runner and tests.
  if (!isWatching) whenInterrupted(async () => (await entered)?.server.close())
  isWatching = true
  entered ??= (async () => {
    const server = await openTestServer()
    const admin = openDatabase({
      connection: server.adminConnection,
      applicationName: 'souk: test admin',
    })
    return { server, admin, template: await findTemplate(server, admin) }
  })()
  return entered
}

async function leaveServer(): Promise<void> {
  users -= 1
  if (users > 0 || entered === null) return
  const last = entered
  entered = null
  const { server, admin } = await last
  await admin.close()
  await server.close()
}

async function findTemplate(server: EmbeddedPostgres, admin: Database): Promise<string> {
  const name = `template_${await hashOfMigrations()}`
  const holder = await admin.reserve()
  try {
    await holder.run(sql`select pg_advisory_lock(${TEMPLATE_LOCK})`)
    await dropLeftovers(admin, name)
    const found = await holder.row(sql`select 1 from pg_database where datname = ${name}`)
    if (found !== null) return name
    const draft = 'template_draft'
    await holder.run(createDatabase(draft, 'template1'))
    await migrate({ ...server.connection, database: draft }, MIGRATIONS)
    await holder.run(sql`alter database ${identifier(draft)} rename to ${identifier(name)}`)
    return name
  } finally {
    holder.release(new Error('ends the session, and the lock with it'))
  }
}

/** Drops databases of killed runs and old migrations, unless they are in use. */
async function dropLeftovers(admin: Database, template: string): Promise<void> {
  const idle = await admin.rows<{ datname: string }>(sql`
    select datname from pg_database
    where datname ~ '^(test|template)_' and datname <> ${template}
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
    if (/^\d/.test(name)) hash.update(name).update(await readFile(join(MIGRATIONS, name)))
  }
  return hash.digest('hex').slice(0, 16)
}

/** By file copy: the default, a copy through the write-ahead log, takes five times as long. */
function createDatabase(name: string, template: string): Sql {
  const names = [identifier(name), identifier(template), identifier(OWNER)] as const
  return sql`
    create database ${names[0]} template ${names[1]} owner ${names[2]} strategy file_copy`
}

function dropDatabase(name: string): Sql {
  return joinSql([sql`drop database if exists`, identifier(name), sql`with (force)`], ' ')
}
