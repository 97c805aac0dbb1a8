/** Opens what a command asks for, and closes it when the command has ended. */
import { type Config, readConfig } from '../config.ts'
import { MIGRATIONS_FOLDER, openStorage, type Storage } from '../open-storage.ts'
import { msAhead } from '../platform/database-clock.ts'
import { makeLogger } from '../platform/log.ts'
import { migrate, newestMigration, readVersion, untilMigrated } from '../platform/migrate.ts'
import { Refusal } from '../platform/refusal.ts'
import type { CommandContext } from './command.ts'
import { whenInterrupted } from './interrupt.ts'
import { terminalText } from './terminal-text.ts'

const CONNECTIONS_MAX = 4 // A command is one person's; the server beside it needs the others.

export interface OpenedContext {
  readonly context: CommandContext
  /** The command was told to stop: what fails from now on is no news. */
  isInterrupted(): boolean
  close(): Promise<void>
}

export function openContext({ isQuiet }: { isQuiet: boolean }): OpenedContext {
  const config = readConfig()
  let storage: Promise<Storage> | null = null
  let isInterrupted = false
  let aheadMs = 0
  const open = (options?: { statementTimeoutMs: number }): Promise<Storage> => {
    const opening = openAny(config, options)
    // Who dies without leaving has the embedded server run on, and its folder is no backup then.
    whenInterrupted(async () => {
      isInterrupted = true
      await (await opening.catch(() => null))?.close({ isAtOnce: true })
    })
    return opening
  }
  const context: CommandContext = {
    config,
    database: async () => {
      storage ??= open().then(async (opened) => {
        const { db } = await migrated(opened, () => context.progress(newNetwork(config)))
        aheadMs = await msAhead(db, Date.now())
        return opened
      })
      return (await storage).db
    },
    storage: (options) => (storage ??= open(options)),
    // A month's statement that is issued by a clock ahead of the world does not come back.
    now: () => new Date(Date.now() - aheadMs),
    progress: (line) => {
      if (!isQuiet) process.stderr.write(`${terminalText(line)}\n`)
    },
  }
  return {
    context,
    isInterrupted: () => isInterrupted,
    close: async () => {
      // Whoever was interrupted leaves by itself, and the process with it.
      if (!isInterrupted) await (await storage?.catch(() => null))?.close()
    },
  }
}

function openAny(
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
async function migrated(storage: Storage, onNew: () => void): Promise<Storage> {
  try {
    await untilMigrated(storage.db)
    const version = await readVersion(storage.db, MIGRATIONS_FOLDER)
    const newest = await newestMigration(MIGRATIONS_FOLDER)
    if (version === 0) {
      await migrate(storage.connection, MIGRATIONS_FOLDER)
      onNew()
    } else if (version < newest) {
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

/** Who typed the command in another folder than ever would take its empty lists for the truth. */
function newNetwork({ databaseUrl, dataDir }: Config): string {
  const [where, name] =
    databaseUrl === null
      ? [dataDir, 'SOUK_DATA names the folder']
      : ['its database', 'DATABASE_URL names the database']
  return `This is a new network: ${where} was empty. ${name} of another.`
}
