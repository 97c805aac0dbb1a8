/** A folder of a test's own: gone at the test's end, or at the file's when its `after` is given. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from './database.ts'

/** `name` is how it begins; one with a space tries paths that have spaces. */
export async function temporaryFolder(scope: Scope, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), name))
  // Tried again: what a service leaves that has to end in time (initdb) may still write there.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }
  scope.after(() => rm(folder, options))
  return folder
}

/** One that is this process's folder for temporary files until the test's end. */
export async function ownTemporaryFolder(scope: Scope): Promise<string> {
  const before = tmpdir()
  const folder = await temporaryFolder(scope, 'tmp ')
  process.env.TMPDIR = folder
  scope.after(async () => {
    process.env.TMPDIR = before
  })
  return folder
}
