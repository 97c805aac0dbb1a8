/** The days of a command: `--from` and `--to`, both included. */
import { badRequest } from '../platform/errors/api-errors.ts'
import { type OptionSpec, readDay } from './option.ts'

export const DAYS: readonly OptionSpec[] = [
  { flags: '--from <D>', help: 'first day', read: readDay, isRequired: true },
  { flags: '--to <D>', help: 'last day', read: readDay, isRequired: true },
]

/** Throws a 400 if the days are in the wrong order. */
export function requireDaysInOrder({
  from,
  to,
}: {
  readonly from: string
  readonly to: string
}): void {
  if (to < from) throw badRequest([{ field: 'to', rule: 'must not be before from' }])
}
