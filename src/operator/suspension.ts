/** Suspending and resuming: the same two states and the same refusals for every kind of record. */
import { ApiError } from '../platform/errors/api-errors.ts'

/** Throws a 409 if the record is already in the wanted state. */
export function requireOtherState(record: { readonly is_suspended: boolean }, to: boolean): void {
  if (record.is_suspended !== to) return
  throw new ApiError('wrongState', { message: to ? 'Already suspended' : 'Not suspended' })
}

export const suspendAction = (kind: string, to: boolean): string =>
  `${kind}.${to ? 'suspend' : 'resume'}`
