/** A name that another row has is the caller's fault, and told as one. */
import type pg from 'pg'
import { badRequest, type Fault } from './errors.ts'
import { hasSqlState, UNIQUE_VIOLATION } from './postgres.ts'

/** Does a write that names something; where another row has that name, throws its 400. */
export async function refusingTaken<T>(
  write: () => Promise<T>,
  fault: (detail: string) => Fault,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!hasSqlState(error, UNIQUE_VIOLATION)) throw error
    throw badRequest([fault((error as pg.DatabaseError).detail ?? '')])
  }
}
