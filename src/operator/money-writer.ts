/** Writers for operations that append money events and wait until these count. */
import type { LogEvent } from '../events/event.ts'
import { waitUntilFolded } from '../fold/lane-store.ts'
import type { FoldedIntake, IntakeDeps } from '../orders/intake.ts'
import { ApiError } from '../platform/errors/api-errors.ts'

/** A writer for one call: it remembers what that call appended. */
export type OpenWriter = () => FoldedIntake

/** Twice the time within which figures are promised. */
const FOLD_MS_MAX = 10_000
const NOT_FOLDED = 'It is recorded, and counts as soon as a worker is at work'

/** Writers of a server, whose worker folds. */
export function openWriters(deps: IntakeDeps): OpenWriter {
  return () => {
    // Earlier events precede these in the lane as well.
    let last: readonly LogEvent[] = []
    const append: IntakeDeps['append'] = async (events, options) => {
      await deps.append(events, options)
      if (events.length > 0) last = events
    }
    const folded = async () => {
      const isFolded = await waitUntilFolded(deps.db, last, { timeoutMs: FOLD_MS_MAX })
      if (!isFolded) throw new ApiError('unavailable', { message: NOT_FOLDED })
    }
    return { ...deps, append, folded }
  }
}
