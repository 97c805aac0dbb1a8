/**
 * Creates a folder and its parents step by step. Node's recursive mkdir never returns where the
 * system forbids new folders (below /proc), and a hanging program gives no reason.
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Rejects with the system's reason; an existing folder stays as it is. */
export async function makeFolder(
  path: string,
  { mode = 0o777, isParentThere = false } = {},
): Promise<void> {
  try {
    await mkdir(path, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || isParentThere || dirname(path) === path) throw error
    await makeFolder(dirname(path), { mode })
    await makeFolder(path, { mode, isParentThere: true })
  }
}
