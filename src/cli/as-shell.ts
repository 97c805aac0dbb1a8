/** The operator's shell as the caller of an operation. */
import { type Caller, SHELL } from '../accounts/caller.ts'
import { ApiError, badRequest, type Fault } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import type { CommandContext } from './command.ts'

/** What every call of a command has: it may do everything, and its changes are audited as `cli`. */
export function asShell<Database extends Db>(
  { now }: Pick<CommandContext, 'now'>,
  db: Database,
): { readonly db: Database; readonly caller: Caller; readonly now: Date } {
  return { db, caller: SHELL, now: now() }
}

/**
 * The result of an operation, whose refusals name the options of a command instead of the fields of
 * a body.
 */
export async function namingOptions<T>(
  names: Readonly<Record<string, string>>,
  result: Promise<T>,
): Promise<T> {
  try {
    return await result
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error
    const faults = error.data as readonly Fault[]
    throw badRequest(faults.map(({ field, rule }) => ({ field: names[field] ?? field, rule })))
  }
}
