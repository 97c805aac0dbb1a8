/**
 * Events as JSON, for the spool and for JetStream. Another version of the program may read them, so
 * fields are named, and fields without a value are left out.
 */
import { type LogEvent, newEvent } from './event.ts'
import { EVENT_FIELDS } from './event-fields.ts'

const byteFields = EVENT_FIELDS.filter(({ type }) => type === 'bytea').map(({ name }) => name)

export function eventToJson(event: LogEvent): string {
  const present: Record<string, unknown> = { atMs: event.atMs }
  for (const { name } of EVENT_FIELDS) {
    const value = event[name]
    if (value === null) continue
    present[name] = value instanceof Uint8Array ? value.toString('base64') : value
  }
  return JSON.stringify(present)
}

/** Throws if the text is no event. */
export function eventFromJson(text: string): LogEvent {
  const present: unknown = JSON.parse(text)
  if (!isRecord(present) || typeof present.id !== 'string' || typeof present.atMs !== 'number') {
    throw new Error(`not an event: ${text.slice(0, 100)}`)
  }
  for (const name of byteFields) {
    const value = present[name]
    if (typeof value === 'string') present[name] = Buffer.from(value, 'base64')
  }
  return newEvent(present as unknown as LogEvent)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
