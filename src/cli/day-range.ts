/** The days of what a command shows or writes: `--from` and `--to`, both of them included. */
import { badRequest } from '../platform/errors.ts'
import { type OptionSpec, readDay } from './option.ts'

export const DAYS: readonly OptionSpec[] = [
  { flags: '--from <D>', help: 'first day', read: readDay, isRequired: true },
  { flags: '--to <D>', help: 'last day', read: readDay, isRequired: true },
]

/** Throws a 400 for days the wrong way round. */
export function requireDaysInOrder({
  from,
  to,
}: {
  readonly from: string
  readonly to: string
}): void {
  if (to < from) throw badRequest([{ field: 'to', rule: 'must not be before from' }])
}
