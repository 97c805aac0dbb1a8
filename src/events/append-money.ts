/** Appends money reports to the log: one body each, in the money lane. */
import { type DurableAppend, REPORT_PATIENCE_MS } from './durable-append.ts'
import { type LogEvent, MONEY_LANE, newEvent } from './event.ts'

/** The reason of a reversal. */
export const REASON_LENGTH_MAX = 255

export interface MoneyWriter {
  readonly append: DurableAppend['append']
  readonly nextId: () => string
  readonly now: () => number
}

export interface MoneyNews extends Partial<Pick<LogEvent, 'id' | 'pubId' | 'merchId'>> {
  readonly body: object
}

/** The appended events, once they are durable. */
export async function appendMoney(
  { append, nextId, now }: MoneyWriter,
  type: LogEvent['type'],
  news: readonly MoneyNews[],
): Promise<LogEvent[]> {
  const shared = { atMs: now(), lane: MONEY_LANE, type }
  const events = news.map(({ id = nextId(), body, ...subject }) =>
    newEvent({ ...shared, ...subject, id, body: JSON.stringify(body) }),
  )
  await append(events, { patienceMs: REPORT_PATIENCE_MS })
  return events
}
