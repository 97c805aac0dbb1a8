/**
 * A file lock that ends with the process that holds it, however the process ends.
 *
 * Node has no file locks, but its SQLite has: an exclusive transaction on an empty database is an
 * operating system lock on the file. The kernel releases it with the process, so there is nothing
 * to clean up and no process id to misread.
 */
import { DatabaseSync } from 'node:sqlite'

export interface FileLock {
  release(): void
}

/** SQLITE_BUSY: the lock is taken. */
const BUSY = 5

/**
 * Takes the exclusive lock of a file, which is created if missing. Returns null if another process,
 * or another lock of this one, holds it. Blocks the thread for up to `waitMs`.
 */
export function takeFileLock(path: string, { waitMs = 0 } = {}): FileLock | null {
  return lock(path, 'begin exclusive', waitMs)
}

/** Takes a shared lock; returns null while somebody holds it exclusively. */
export function shareFileLock(path: string): FileLock | null {
  // A read transaction takes a shared lock and keeps it until it ends.
  return lock(path, 'begin; select count(*) from sqlite_schema', 0)
}

function lock(path: string, statements: string, waitMs: number): FileLock | null {
  const database = new DatabaseSync(path, { timeout: waitMs })
  try {
    // The journal stays in memory: there is nothing to recover, and no second file is left behind.
    database.exec(`pragma journal_mode = memory; ${statements}`)
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return null
    throw new Error(`cannot lock ${path}: ${(error as Error).message}`, { cause: error })
  }
  return { release: () => void (database.isOpen && database.close()) }
}
