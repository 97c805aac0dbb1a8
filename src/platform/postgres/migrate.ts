/**
 * Brings a database to the schema of this code: the numbered files of `migrations/`, in order.
 *
 * Forward only. Each file is one transaction, and a lock lets one process migrate while the others
 * wait, so any number of nodes may start at once.
 */
import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { PG_MIGRATE_LOCK_ID, runner } from 'node-pg-migrate'
import type pg from 'pg'
import { Refusal } from '../errors/refusal.ts'
import { databaseFaults, readDatabaseFacts } from './database-faults.ts'
import { DEAD_AFTER_SECONDS } from './node-registry.ts'
import {
  type Connection,
  type Database,
  hasSqlState,
  LOCK_NOT_AVAILABLE,
  newClient,
  sessionSettings,
} from './postgres.ts'
import { sql } from './sql.ts'

/** Numbers of migrations; 0 before the first. */
export interface Migrated {
  readonly from: number
  readonly to: number
}

const LOCK_TIMEOUT_MS = 2_000
const LET_THROUGH_MS = 1_000
const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/
const TABLE = 'migration'
const LOCK = [PG_MIGRATE_LOCK_ID]

/** Receives each line once: what the migration waits for, and what the operator should check. */
export type LogWait = (line: string) => void
const ANOTHER_MIGRATES = 'waiting for another process that migrates this database'
// Two million paid clicks took four minutes on two busy cores. An interrupted file starts again.
const TAKES_MINUTES = 'big tables take minutes: let it finish'
const HAS_NO_UPGRADE =
  'the database was created before the first schema of 0.1.0 and cannot be upgraded: start with ' +
  'an empty database (DATABASE_URL) or an empty data folder (SOUK_DATA)'
const OLDER_NODES_RUN =
  'nodes of the previous version ran within the last minute: stop each that still runs, ' +
  'as figures lack data that only this program stores'
const TABLE_IS_HELD = 'a migration waits for a table that another session holds, and tries again'

/**
 * Throws if the database cannot be used or upgraded, is newer than this code, or a statement fails.
 */
export async function migrate(
  connection: Connection,
  folder: string,
  logWait: LogWait = () => undefined,
): Promise<Migrated> {
  const faults = databaseFaults(await readDatabaseFacts(connection))
  if (faults.length > 0) throw new Refusal(`DATABASE_URL: ${faults.join('\n  ')}`)
  const names = await migrationNames(folder)
  const numbers = names.map(numberOf)
  const to = numbers.at(-1) ?? 0
  const client = newClient(connection, 'souk: migrate')
  const errors: Error[] = []
  client.on('error', (error) => errors.push(error))
  client.connection.on('errorMessage', (error: Error) => errors.push(error))
  await client.connect()
  try {
    await client.query(sessionSettings())
    const { rows } = await client.query('select pg_try_advisory_lock($1) as is_ours', LOCK)
    if (!rows[0].is_ours) {
      logWait(ANOTHER_MIGRATES)
      await client.query('select pg_advisory_lock($1)', LOCK)
    }
    const had = numbersApplied(await listApplied(client), names)
    const found = had.at(-1) ?? 0
    if (found > to) {
      throw new Refusal(
        `the database has migration ${found}, this program knows ${to}: run the newer program`,
      )
    }
    const from = completeUpTo(numbers, had)
    if (found > 0 && from < to) {
      logWait(`migrating from ${from} to ${to}: ${TAKES_MINUTES}`)
      if (await areNodesAtWork(client)) logWait(OLDER_NODES_RUN)
    }
    await runFiles(client, { folder, errors, logWait })
    return { from, to }
  } catch (error) {
    throw errors[0] ?? error // The library would put a stack trace inside its sentence.
  } finally {
    await client.end()
  }
}

/** No such node runs this version: a node of this version starts only after the migration. */
async function areNodesAtWork(client: pg.Client): Promise<boolean> {
  const { rows: found } = await client.query(`select to_regclass('node') is not null as is_there`)
  if (!found[0].is_there) return false
  const { rows } = await client.query(
    `select from node
     where roles <> 'command' and heartbeat_at > now() - make_interval(secs => $1) limit 1`,
    [DEAD_AFTER_SECONDS],
  )
  return rows.length > 0
}

/**
 * Runs the missing files. A file that waits for a lock blocks every session behind it, so it waits
 * briefly, lets them through, and tries again.
 */
async function runFiles(
  client: pg.Client,
  options: { readonly folder: string; readonly errors: Error[]; readonly logWait: LogWait },
): Promise<void> {
  const { folder, errors, logWait } = options
  const migrationsSchema = await schemaOfTables(client)
  let isLogged = false
  await client.query(`set lock_timeout to ${LOCK_TIMEOUT_MS}`)
  for (;;) {
    try {
      await runner({
        dbClient: client,
        dir: folder,
        // Every file without a number, such as schema.sql.
        ignorePattern: '(?!\\d{4}_[a-z0-9_]+\\.sql$).*',
        direction: 'up',
        migrationsTable: TABLE,
        migrationsSchema,
        singleTransaction: false,
        checkOrder: false,
        noLock: true, // This process holds the lock, also between two tries.
        log: () => undefined,
      })
      return
    } catch (error) {
      if (!errors.some((one) => hasSqlState(one, LOCK_NOT_AVAILABLE))) throw error
    }
    errors.length = 0
    if (!isLogged) logWait(TABLE_IS_HELD)
    isLogged = true
    await client.query('rollback')
    await sleep(LET_THROUGH_MS)
  }
}

/**
 * Resolves when nobody migrates the database. A migrating process leaves it incomplete between two
 * files.
 */
export async function untilMigrated(db: Database): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock_shared(${PG_MIGRATE_LOCK_ID})`)
}

/** The number of the last file in the folder: the version of this program's schema. */
export async function newestMigration(folder: string): Promise<number> {
  return numberOf((await migrationNames(folder)).at(-1) ?? '0')
}

/** The files in `migrations/` without their extension, by number. */
async function migrationNames(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => FILE.test(name))
  return names.map((name) => name.slice(0, -'.sql'.length)).sort()
}

/**
 * The number up to which the database has every migration of the folder, or its last one if that is
 * newer; 0 for none. Throws if this program cannot upgrade the database.
 */
export async function readVersion(db: Database, folder: string): Promise<number> {
  const names = await migrationNames(folder)
  const had = numbersApplied(await listApplied(db.pool), names)
  const last = had.at(-1) ?? 0
  const numbers = names.map(numberOf)
  return last > (numbers.at(-1) ?? 0) ? last : completeUpTo(numbers, had)
}

/** The last number before the first missing one; 0 if the first one is missing. */
function completeUpTo(numbers: readonly number[], had: readonly number[]): number {
  const missing = numbers.findIndex((number) => !had.includes(number))
  return (missing === -1 ? numbers : numbers.slice(0, missing)).at(-1) ?? 0
}

/**
 * The schema of the tables, existing or future: `public`, or another one of the role's search path.
 */
async function schemaOfTables(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query(
    `select coalesce((select nspname from pg_namespace join pg_class on relnamespace =
       pg_namespace.oid where pg_class.oid = to_regclass($1)), current_schema()) as schema`,
    [TABLE],
  )
  return rows[0].schema
}

/** The names of the migrations that the database has, by number. */
async function listApplied(client: pg.ClientBase | pg.Pool): Promise<string[]> {
  const { rows } = await client.query('select to_regclass($1) is not null as is_there', [TABLE])
  if (!rows[0].is_there) return []
  const applied = await client.query<{ name: string }>(`select name from ${TABLE} order by name`)
  return applied.rows.map(({ name }) => name)
}

/** The numbers of the applied migrations; throws if the first one is not a file of this program. */
function numbersApplied(applied: readonly string[], names: readonly string[]): number[] {
  const [first] = applied
  const isOther = first !== undefined && numberOf(first) === 1 && !names.includes(first)
  if (isOther) throw new Refusal(HAS_NO_UPGRADE)
  return applied.map(numberOf)
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10)
}
