/**
 * The database of this installation: the one of DATABASE_URL, else the embedded one of SOUK_DATA,
 * brought to the schema of this code when it is empty.
 */
import { fileURLToPath } from 'node:url'
import type { Config } from './config.ts'
import { makeDataFolder } from './data-folder.ts'
import type { Logger } from './platform/log.ts'
import { type Connection, type Database, openDatabase } from './platform/postgres.ts'

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../migrations/', import.meta.url))

export interface Storage {
  readonly db: Database
  readonly connection: Connection
  /**
   * Closes the pool and leaves the embedded server; the last one to leave stops it. `isAtOnce`:
   * statements under way are not waited for, they end with the process.
   */
  close(options?: { readonly isAtOnce: boolean }): Promise<void>
}

export interface StorageOptions {
  readonly applicationName: string
  readonly log: Logger
  readonly connectionsMax?: number
  readonly statementTimeoutMs?: number
}

/** Opens the database; throws when none can be reached or started. */
export async function openStorage(config: Config, options: StorageOptions): Promise<Storage> {
  const { log, ...poolOptions } = options
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDir, log) : null
  const connection = embedded?.connection ?? { connectionString: config.databaseUrl ?? '' }
  let isClosing = false
  // The last one to leave stops the server, which may still be taking leave of our connections.
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

// Loaded on use: with DATABASE_URL nothing of it is needed.
async function openEmbedded(dataDir: string, log: Logger) {
  await makeDataFolder(dataDir)
  const { openEmbeddedPostgres } = await import('./platform/embedded-postgres.ts')
  return openEmbeddedPostgres({ dataDir, log })
}
