/**
 * The event log: where an event becomes a fact.
 *
 * Guarantees, held by one contract test run on every implementation (test/event-log.test.ts):
 * - `append` resolves only when the events are durable (fsynced); it rejects when they may not be,
 *   and then the same events may be appended again: `(day, id)` keeps one of them.
 * - Within a lane, `read` returns events in one fixed order, and nothing ever appears before the
 *   position of an event already returned: a reader that keeps its position misses nothing.
 */
import type { LogEvent, StoredEvent } from './event.ts'

export interface EventLog {
  append(events: readonly LogEvent[]): Promise<void>
  /** Up to `limit` events of a lane after `position`, in order. */
  read(options: { lane: number; position: string; limit: number }): Promise<StoredEvent[]>
  /** Calls back soon after something was appended (also by other nodes); only a hint. */
  onAppended(callback: (lane: number) => void): void
  /** Whether it is known, without asking, that an append would fail now. */
  isAway(): boolean
  close(): Promise<void>
}

/** Thrown by `append` when nothing could be made durable, neither in the log nor in the spool. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable'
  /** They were being written to one of the two, and may be durable after all, or become so. */
  readonly isUncertain: boolean

  constructor(
    message: string,
    { isUncertain = false, ...options }: ErrorOptions & { isUncertain?: boolean } = {},
  ) {
    super(message, options)
    this.isUncertain = isUncertain
  }
}

/** Thrown by `append` for an event that the log will never take: trying again is pointless. */
export class EventRefused extends Error {
  override name = 'EventRefused'
}
