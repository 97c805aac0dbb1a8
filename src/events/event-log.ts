/**
 * The event log: where an event becomes a fact.
 *
 * One contract test checks these guarantees on every implementation (test/event-log.test.ts):
 * - `append` resolves only when the events are durable (fsynced). It rejects if they may not be;
 *   the same events may then be appended again, because `(day, id)` keeps one of them.
 * - Within a lane, `read` returns events in one fixed order, and nothing ever appears before an
 *   event that was already returned. So a reader that stores its position misses nothing.
 */
import type { LogEvent, StoredEvent } from './event.ts'

export interface EventLog {
  append(events: readonly LogEvent[]): Promise<void>
  /** Up to `limit` events of a lane after `position`, in order. */
  read(options: { lane: number; position: string; limit: number }): Promise<StoredEvent[]>
  /** Calls back soon after an append, also by other nodes; only a hint. */
  onAppended(callback: (lane: number) => void): void
  /** Whether it is known, without asking, that an append would fail now. */
  isUnreachable(): boolean
  close(): Promise<void>
}

/** Thrown by `append` if nothing became durable, neither in the log nor in the spool. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable'
  /** A write was in progress, so the events may be durable or become so. */
  readonly isUncertain: boolean

  constructor(
    message: string,
    { isUncertain = false, ...options }: ErrorOptions & { isUncertain?: boolean } = {},
  ) {
    super(message, options)
    this.isUncertain = isUncertain
  }
}

/** Thrown by `append` for an event that the log will never accept: retrying is pointless. */
export class EventRefused extends Error {
  override name = 'EventRefused'
}
