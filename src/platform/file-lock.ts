/**
 * A lock on a file that ends with the process that holds it, however that ends.
 *
 * Node offers no file locks, but its SQLite takes them: an exclusive transaction on an empty
 * database is a lock of the operating system on the file. The kernel lets it go with the
 * process, so there is nothing to clean up, and no process id to mistake for another's.
 */
import { DatabaseSync } from 'node:sqlite'

export interface FileLock {
  release(): void
}

/** SQLITE_BUSY: somebody else holds it. */
const BUSY = 5

/**
 * Takes the lock of a file, which is created if it is missing; null when another process, or
 * another lock of this one, has it. Blocks the thread for up to `waitMs` while it is taken.
 */
export function takeFileLock(path: string, { waitMs = 0 } = {}): FileLock | null {
  return lock(path, 'begin exclusive', waitMs)
}

/** Takes a lock that any number may share; null while somebody has it alone. */
export function shareFileLock(path: string): FileLock | null {
  // A reading transaction: its lock is shared, and kept until the transaction ends.
  return lock(path, 'begin; select count(*) from sqlite_schema', 0)
}

function lock(path: string, statements: string, waitMs: number): FileLock | null {
  const database = new DatabaseSync(path, { timeout: waitMs })
  try {
    // In memory: there is nothing to journal, and no second file is left behind.
    database.exec(`pragma journal_mode = memory; ${statements}`)
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return null
    throw new Error(`cannot lock ${path}: ${(error as Error).message}`, { cause: error })
  }
  return { release: () => void (database.isOpen && database.close()) }
}
