/** For tests that run programs as the user nobody, which needs root and a readable checkout. */
import { NOBODY, outcome } from '../../src/platform/postgres/postgres-binaries.ts'

export const AS_NOBODY = { uid: NOBODY, gid: NOBODY } as const

/** Options of such a test: skipped, with the reason, if it cannot run. */
export const whereNobodyCanRun = { skip: await reasonNot() }

async function reasonNot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'needs root: it runs programs as another user'
  const fault = await outcome([process.execPath, '--version'], { kind: 'user', ...AS_NOBODY })
  return fault === null ? false : 'needs a checkout that other users may read'
}
