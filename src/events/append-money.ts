/** Appends money reports to the log: one body each, in the money lane. */
import type { Db } from '../platform/postgres/postgres.ts'
import { type DurableAppend, REPORT_TIMEOUT_MS } from './durable-append.ts'
import { type LogEvent, MONEY_LANE, newEvent } from './event.ts'

/** The reason of a reversal. */
export const REASON_LENGTH_MAX = 255

export interface MoneyWriter {
  readonly append: DurableAppend['append']
  readonly nextId: () => string
  readonly now: () => number
}

export interface NewMoneyEvent extends Partial<Pick<LogEvent, 'id' | 'pubId' | 'merchId'>> {
  readonly body: object
}

/** The appended events, once they are durable. */
export async function appendMoney(
  { append, nextId, now }: MoneyWriter,
  type: LogEvent['type'],
  newEvents: readonly NewMoneyEvent[],
): Promise<LogEvent[]> {
  const events = moneyEvents({ nextId, now }, type, newEvents)
  await append(events, { timeoutMs: REPORT_TIMEOUT_MS })
  return events
}

/** The events of money reports, to be appended. */
export function moneyEvents(
  { nextId, now }: Pick<MoneyWriter, 'nextId' | 'now'>,
  type: LogEvent['type'],
  newEvents: readonly NewMoneyEvent[],
): LogEvent[] {
  const shared = { atMs: now(), lane: MONEY_LANE, type }
  return newEvents.map(({ id = nextId(), body, ...subject }) =>
    newEvent({ ...shared, ...subject, id, body: JSON.stringify(body) }),
  )
}

/**
 * Appends the events of a whole file, or none of them, with the writes of `also`: a stopped import
 * leaves nothing.
 */
export type AppendWhole = (
  events: readonly LogEvent[],
  also: (tx: Db) => Promise<void>,
) => Promise<void>
