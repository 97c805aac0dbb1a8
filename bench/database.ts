/** A migrated PostgreSQL of a benchmark's own, with fsync on, gone when the benchmark ends. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { makeLogger } from '../src/platform/log.ts'
import { migrate } from '../src/platform/migrate.ts'
import { type Database, openDatabase } from '../src/platform/postgres.ts'

export async function openBenchDatabase(
  stack: AsyncDisposableStack,
): Promise<{ readonly dataDir: string; readonly database: Database }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const server = await openEmbeddedPostgres({ dataDir, log: makeLogger({ level: 'warn' }) })
  stack.defer(() => server.close())
  await migrate(server.connection, join(import.meta.dirname, '../migrations'))
  const { connection } = server
  const database = openDatabase({
    connection,
    applicationName: 'souk: bench',
    statementTimeoutMs: 0,
  })
  stack.defer(() => database.close())
  return { dataDir, database }
}
