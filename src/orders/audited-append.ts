/** Audits what is appended to the event log: neither happens without the other. */
import type { Db } from '../platform/postgres/postgres.ts'
import type { IntakeDeps } from './intake.ts'

/**
 * The same dependencies with an `append` that first writes the audit entry. Its transaction commits
 * once the events are durable; an append that fails takes the entry back.
 */
export function auditedAppend<Deps extends IntakeDeps>(
  deps: Deps,
  audit: (tx: Db) => Promise<void>,
): Deps {
  const append: IntakeDeps['append'] = (events, options) =>
    deps.db.transaction(async (tx) => {
      await audit(tx)
      await deps.append(events, options)
    })
  return { ...deps, append }
}
