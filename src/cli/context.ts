/** Opens what a command needs, and closes it when the command ends. */
import { type Config, readConfig } from '../node/config.ts'
import { MIGRATIONS_FOLDER, openStorage, type Storage } from '../node/open-storage.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { msAhead } from '../platform/postgres/database-clock.ts'
import {
  migrate,
  newestMigration,
  readVersion,
  untilMigrated,
} from '../platform/postgres/migrate.ts'
import { makeLogger } from '../platform/process/log.ts'
import type { CommandContext } from './command.ts'
import { whenInterrupted } from './interrupt.ts'
import { terminalText } from './terminal-text.ts'

// A command serves one person, and the server beside it needs the other connections.
const CONNECTIONS_MAX = 4

export interface OpenedContext {
  readonly context: CommandContext
  /** The command received a stop signal: later errors are not reported. */
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
    // Otherwise the embedded server would keep running, and a copy of its folder would be no
    // backup.
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
    // A statement issued early by a fast clock could not be withdrawn.
    now: () => new Date(Date.now() - aheadMs),
    progress: (line) => {
      if (!isQuiet) process.stderr.write(`${terminalText(line)}\n`)
    },
  }
  return {
    context,
    isInterrupted: () => isInterrupted,
    close: async () => {
      // An interrupted command closes its storage and exits by itself.
      if (!isInterrupted) await (await storage?.catch(() => null))?.close()
    },
  }
}

function openAny(
  config: Config,
  // Imports and reconciliations may take any time.
  { statementTimeoutMs } = { statementTimeoutMs: 0 },
): Promise<Storage> {
  return openStorage(config, {
    applicationName: 'souk command',
    log: makeLogger({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }),
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs,
  })
}

/** The first process migrates an empty database at once; an older one waits for `souk migrate`. */
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

/** Somebody who runs the command in another folder would take its empty lists for the truth. */
function newNetwork({ databaseUrl, dataDir }: Config): string {
  const [where, name] =
    databaseUrl === null
      ? [dataDir, 'SOUK_DATA names the folder']
      : ['its database', 'DATABASE_URL names the database']
  return `This is a new network: ${where} was empty. ${name} of another.`
}
