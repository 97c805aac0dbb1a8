/** Opens what a command asks for, and closes it when the command has ended. */
import { type Config, readConfig } from '../config.ts'
import { MIGRATIONS_FOLDER, openStorage, type Storage } from '../open-storage.ts'
import { makeLogger } from '../platform/log.ts'
import { migrate, newestMigration, readVersion, untilMigrated } from '../platform/migrate.ts'
import { Refusal } from '../platform/refusal.ts'
import type { CommandContext } from './command.ts'

const CONNECTIONS_MAX = 4 // A command is one person's; the server beside it needs the others.

export interface OpenedContext {
  readonly context: CommandContext
  close(): Promise<void>
}

export function openContext({ isQuiet }: { isQuiet: boolean }): OpenedContext {
  const config = readConfig()
  let storage: Promise<Storage> | null = null
  const context: CommandContext = {
    config,
    database: async () => {
      storage ??= openMigrated(config)
      return (await storage).db
    },
    storage: (options) => (storage ??= open(config, options)),
    now: () => new Date(),
    progress: (line) => {
      if (!isQuiet) process.stderr.write(`${line}\n`)
    },
  }
  return { context, close: async () => (await storage?.catch(() => null))?.close() }
}

function open(
  config: Config,
  // Imports and reconciliations take as long as they take.
  { statementTimeoutMs } = { statementTimeoutMs: 0 },
): Promise<Storage> {
  return openStorage(config, {
    applicationName: 'souk command',
    log: makeLogger({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }),
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs,
  })
}

/**
 * An empty database is migrated at once, by whoever comes first; one that is behind waits for
 * `souk migrate`.
 */
async function openMigrated(config: Config): Promise<Storage> {
  const storage = await open(config)
  try {
    await untilMigrated(storage.db)
    const version = await readVersion(storage.db, MIGRATIONS_FOLDER)
    const newest = await newestMigration(MIGRATIONS_FOLDER)
    if (version === 0) await migrate(storage.connection, MIGRATIONS_FOLDER)
    else if (version < newest) {
      throw new Refusal(`the database has migration ${version} of ${newest}: run souk migrate`)
    } else if (version > newest) {
      throw new Refusal(
        `the database has migration ${version}, newer than this program's ${newest}`,
      )
    }
    return storage
  } catch (error) {
    await storage.close()
    throw error
  }
}
