/**
 * Writes a file atomically: next to the old one, then in its place. Nobody reads half of it, and a
 * full disk leaves the old file.
 */
import { randomUUID } from 'node:crypto'
import { chmod, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../errors/refusal.ts'

const DRAFT = '.part'
/** `.<random>.part`, or `.<process>.part` of older versions. Other names may belong to anybody. */
const DRAFT_END = /^\.([\da-f-]{36}|\d+)\.part$/
/** A draft that has not grown for this long belongs to a killed process. */
const LEFT_MS = 3_600_000

/** `write` receives the path to write to. If the disk refuses, the Refusal names the file. */
export async function replaceFile(
  path: string,
  write: (draft: string) => Promise<unknown>,
): Promise<void> {
  try {
    const found = await statIfThere(path)
    if (found === null) await writeBeside(path, write)
    // A device or pipe, such as /dev/stdout, cannot be replaced by a file.
    else if (!found.isFile()) await write(path)
    else await writeBeside(await realpath(path), allowed(found.mode, write))
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new Refusal(`${path} was not written: ${error.message}`)
  }
}

/** A path that cannot be inspected for another reason may be a device, and is not replaced. */
const statIfThere = (path: string) =>
  stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })

/** A user who may not read the replaced file may read neither the new one nor its draft. */
function allowed(mode: number, write: (draft: string) => Promise<unknown>) {
  return async (draft: string) => {
    await writeFile(draft, '', { mode: 0o600 })
    await write(draft) // Before that, because the new mode may forbid writing.
    await chmod(draft, mode & 0o777).catch(() => undefined) // Some mounted folders have no modes.
  }
}

export const replaceText = (path: string, text: string): Promise<void> =>
  replaceFile(path, (draft) => writeFile(draft, text))

async function writeBeside(
  path: string,
  write: (draft: string) => Promise<unknown>,
): Promise<void> {
  await removeLeftDrafts(path)
  const draft = `${path}.${randomUUID()}${DRAFT}`
  try {
    await write(draft)
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

async function removeLeftDrafts(path: string): Promise<void> {
  const [folder, base] = [dirname(path), basename(path)]
  const isDraft = (name: string) => name.startsWith(base) && DRAFT_END.test(name.slice(base.length))
  // A folder that cannot be listed may still be writable.
  const names = await readdir(folder).catch(() => [])
  for (const draft of names.filter(isDraft).map((name) => join(folder, name))) {
    const found = await stat(draft).catch(() => null)
    if (found !== null && Date.now() - found.mtimeMs > LEFT_MS) await rm(draft, { force: true })
  }
}
