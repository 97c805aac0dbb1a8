/** The file that `--rejects` names: a JSON line for each row that was left out, and why. */
import { open } from 'node:fs/promises'
import { Refusal } from '../platform/refusal.ts'

export interface RejectsFile extends AsyncDisposable {
  add(rows: readonly object[]): Promise<void>
}

/** Opened before anything is imported: a path that cannot be written to must not cost an import. */
export async function openRejects(path: string | undefined): Promise<RejectsFile> {
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
