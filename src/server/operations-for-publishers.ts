/** The operations of a publisher (docs/spec/management.md#publishers). */
import type { Operation } from '../accounts/operation.ts'
import { publisherOperations } from '../accounts/publisher-operations.ts'
import { breakdownOperations } from '../stats/breakdown-operations.ts'

export function operationsForPublishers(): Operation[] {
  return [...publisherOperations, ...breakdownOperations]
}
