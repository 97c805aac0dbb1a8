/** A folder of a test's own: gone at the test's end, or at the file's when its `after` is given. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from './database.ts'

/** `name` is how it begins; one with a space tries paths that have spaces. */
export async function temporaryFolder(scope: Scope, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), name))
  scope.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
