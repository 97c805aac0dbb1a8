/** How many bytes an event takes in the database, for quotas (docs/spec/limits.md#storage). */
import type { LogEvent } from './event.ts'

/** Its row without texts, its indexes, and the rows that the fold derives from it. */
const ROW_BYTES = 500
const TEXTS = ['url', 'referrer', 'u1', 'utmSource', 'body'] as const

export function storedSize(events: readonly LogEvent[]): number {
  let bytes = events.length * ROW_BYTES
  for (const event of events) {
    for (const name of TEXTS) bytes += event[name]?.length ?? 0
  }
  return bytes
}
