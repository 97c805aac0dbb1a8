/** The file that `--rejects` names: a JSON line for each row that was left out, and why. */
import { open, stat } from 'node:fs/promises'
import { badRequest } from '../platform/errors.ts'
import { Refusal } from '../platform/refusal.ts'

export interface RejectsFile extends AsyncDisposable {
  add(rows: readonly object[]): Promise<void>
}

/**
 * Opened before anything is imported: a path that cannot be written to must not cost an import.
 * What the import reads is not emptied for it, whatever name it goes by.
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
      // Of a write the system says what failed, and not where.
      await file.appendFile(lines.join('')).catch((cause: Error) => {
        throw new Refusal(`rejects: ${path} was not written: ${cause.message}`, { cause })
      })
    },
    async [Symbol.asyncDispose]() {
      await file?.close()
    },
  }
}

/** By what the names lead to: links and other ways to write a path are the same file as well. */
async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all(
    [path, other].map((each) => stat(each, { bigint: true }).catch(() => null)),
  )
  return one?.isFile() === true && one.dev === two?.dev && one.ino === two.ino
}
