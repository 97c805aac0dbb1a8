/** The file of `--rejects`: a JSON line for each row that was left out, with the reason. */
import { open, stat } from 'node:fs/promises'
import { badRequest } from '../platform/errors/api-errors.ts'
import { Refusal } from '../platform/errors/refusal.ts'

export interface RejectsFile extends AsyncDisposable {
  add(rows: readonly object[]): Promise<void>
}

/**
 * Opened before the import, so that an unwritable path costs nothing. It never empties the imported
 * file, by whatever name.
 */
export async function openRejects(
  path: string | undefined,
  { read }: { readonly read: readonly string[] },
): Promise<RejectsFile> {
  const same =
    path === undefined ? [] : await Promise.all(read.map((file) => isSameFile(path, file)))
  if (same.includes(true)) {
    throw badRequest([{ field: 'rejects', rule: 'is a file that is read here; name another one' }])
  }
  const file = path === undefined ? null : await open(path, 'w')
  return {
    async add(rows) {
      if (file === null) return
      const lines = rows.map((row) => `${JSON.stringify(row)}\n`)
      // A failed write reports no path, so it is added here.
      await file.appendFile(lines.join('')).catch((cause: Error) => {
        throw new Refusal(`rejects: ${path} was not written: ${cause.message}`, { cause })
      })
    },
    async [Symbol.asyncDispose]() {
      await file?.close()
    },
  }
}

/** Compares the files themselves: links and other spellings of a path are the same file. */
async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all(
    [path, other].map((each) => stat(each, { bigint: true }).catch(() => null)),
  )
  return one?.isFile() === true && one.dev === two?.dev && one.ino === two.ino
}
