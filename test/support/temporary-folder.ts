/** A test's folder, deleted at the test's end, or at the file's with its `after`. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from './database.ts'

/** `name` is its prefix; one with a space tests paths with spaces. */
export async function temporaryFolder(scope: Scope, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), name))
  // Retried, because a stopping service (initdb) may still write there.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }
  scope.after(() => rm(folder, options))
  return folder
}

/** A folder that is this process's TMPDIR until the test's end. */
export async function ownTemporaryFolder(scope: Scope): Promise<string> {
  const before = tmpdir()
  const folder = await temporaryFolder(scope, 'tmp ')
  process.env.TMPDIR = folder
  scope.after(async () => {
    process.env.TMPDIR = before
  })
  return folder
}
