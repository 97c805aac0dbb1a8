/** Databases for benchmarks, with fsync on. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/node/config.ts'
import { openStorage } from '../src/node/open-storage.ts'
import { openEmbeddedPostgres } from '../src/platform/postgres/embedded-postgres.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { type Database, openDatabase } from '../src/platform/postgres/postgres.ts'
import { makeLogger } from '../src/platform/process/log.ts'
import { deferAlways } from './interrupted.ts'

/** The database of a running service, by its SOUK_DATA. */
export async function openDatabaseOf(
  stack: AsyncDisposableStack,
  dataDir: string,
): Promise<Database> {
  const storage = await openStorage(readConfig({ SOUK_DATA: dataDir }), {
    applicationName: 'souk bench',
    log: makeLogger({ level: 'error' }),
    statementTimeoutMs: 0,
  })
  stack.defer(() => storage.close())
  return storage.db
}

/** A migrated PostgreSQL for one benchmark, removed when the benchmark ends for any reason. */
export async function openBenchDatabase(
  stack: AsyncDisposableStack,
): Promise<{ readonly dataDir: string; readonly database: Database }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const opening = openEmbeddedPostgres({ dataDir, log: makeLogger({ level: 'warn' }) })
  deferAlways(stack, async () => {
    await (await opening.catch(() => null))?.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  const { connection } = await opening
  await migrate(connection, join(import.meta.dirname, '../migrations'))
  const database = openDatabase({
    connection,
    applicationName: 'souk: bench',
    statementTimeoutMs: 0,
  })
  stack.defer(() => database.close())
  return { dataDir, database }
}
