/** Turns a unique violation into a 400 for the caller. */
import type pg from 'pg'
import { badRequest, type Fault } from '../errors/api-errors.ts'
import { hasSqlState, UNIQUE_VIOLATION } from './postgres.ts'

/** Runs a write that names something; throws its 400 if another row has that name. */
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
