/** The operator's shell as the caller of an operation. */
import { type Caller, SHELL } from '../accounts/caller.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import type { CommandContext } from './command.ts'

/** What every call of a command has: it may do everything, and its changes are audited as `cli`. */
export function asShell<Database extends Db>(
  { now }: Pick<CommandContext, 'now'>,
  db: Database,
): { readonly db: Database; readonly caller: Caller; readonly now: Date } {
  return { db, caller: SHELL, now: now() }
}
