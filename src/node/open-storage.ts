/**
 * Opens the database of this installation: that of DATABASE_URL, otherwise the embedded one in
 * SOUK_DATA. Migrates it if it is empty.
 */
import { fileURLToPath } from 'node:url'
import { type Connection, type Database, openDatabase } from '../platform/postgres/postgres.ts'
import type { Logger } from '../platform/process/log.ts'
import type { Config } from './config.ts'
import { makeDataFolder } from './data-folder.ts'

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../migrations/', import.meta.url))

export interface Storage {
  readonly db: Database
  readonly connection: Connection
  /**
   * Closes the pool and releases the embedded server, which the last user stops. `isAtOnce` does
   * not wait for open statements, which end with the process.
   */
  close(options?: { readonly isAtOnce: boolean }): Promise<void>
}

export interface StorageOptions {
  readonly applicationName: string
  readonly log: Logger
  readonly connectionsMax?: number
  readonly statementTimeoutMs?: number
}

/** Opens the database. Throws if it cannot be reached or started. */
export async function openStorage(config: Config, options: StorageOptions): Promise<Storage> {
  const { log, ...poolOptions } = options
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDir, log) : null
  const connection = embedded?.connection ?? { connectionString: config.databaseUrl ?? '' }
  let isClosing = false
  // The last user stops the server, which may still be closing our connections.
  const onConnectionLost = (error: Error) => {
    if (!isClosing) log.warn({ err: error }, 'lost a connection')
  }
  const db = openDatabase({ ...poolOptions, connection, onConnectionLost })
  return {
    db,
    connection,
    close: async ({ isAtOnce } = { isAtOnce: false }) => {
      isClosing = true
      if (!isAtOnce) await db.close()
      await embedded?.close()
    },
  }
}

// Loaded on demand, because DATABASE_URL needs none of it.
async function openEmbedded(dataDir: string, log: Logger) {
  await makeDataFolder(dataDir)
  const { openEmbeddedPostgres } = await import('../platform/postgres/embedded-postgres.ts')
  return openEmbeddedPostgres({ dataDir, log })
}
