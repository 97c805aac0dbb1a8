/** Secrets for others, and those that a node keeps beside its data when it is given none. */
import { randomBytes } from 'node:crypto'
import { link, readFile, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from './make-folder.ts'

const SECRET_BYTES = 32 // The key of an HMAC-SHA256: as long as its output.

/** One that somebody else is told, to sign with or to verify. */
export const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url')

/**
 * The text of the file `secrets/<name>` below `dataDir`, made by `make` the first time.
 *
 * Written aside and then linked into place: of two processes that start at once one makes it and
 * both read the same, and a crash never leaves half a secret.
 */
export async function keptSecret(
  dataDir: string,
  name: string,
  make: (random: Buffer) => string,
): Promise<string> {
  const path = join(dataDir, 'secrets', name)
  const existing = await findSecret(dataDir, name)
  if (existing !== null) return existing
  await makeFolder(dirname(path), { mode: 0o700 })
  const aside = `${path}.${randomBytes(8).toString('hex')}`
  await writeFile(aside, make(randomBytes(SECRET_BYTES)), { mode: 0o600, flush: true })
  try {
    await link(aside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(aside)
  }
  return (await findSecret(dataDir, name)) ?? ''
}

/** The text of that file; null when nobody has made it yet. */
export async function findSecret(dataDir: string, name: string): Promise<string | null> {
  try {
    return (await readFile(join(dataDir, 'secrets', name), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
