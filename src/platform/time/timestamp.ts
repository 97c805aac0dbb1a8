/**
 * Times on the wire: ISO 8601 in UTC, whole seconds, `Z`.
 *
 * Reading is strict: a time without an offset is ambiguous and is refused. A plain date is midnight
 * UTC.
 */
const PLAIN_DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d{2}(?::?\d{2})?)$/
/** The offset's `+` arrives as a space if a query is not percent-encoded. */
const LOST_PLUS = / (?=\d{2}:\d{2}$)/
export const MINUTE_MS = 60_000
export const TIMESTAMP_RULE =
  'must be ISO 8601 with an offset or Z, such as 2026-03-02T10:00:00Z, or a plain date'

/** The instant that a text names; null if it is ambiguous or does not exist. */
export function parseTimestamp(text: string): Date | null {
  const match = PLAIN_DATE.exec(text) ?? DATE_TIME.exec(text.replace(LOST_PLUS, '+'))
  if (match === null) return null
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '0', zone] =
    match
  const ms = fraction.padEnd(3, '0').slice(0, 3)
  const local = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`)
  // Date.parse turns 30 February into March; such a day does not exist.
  if (Number.isNaN(local.getTime()) || local.getUTCDate() !== Number(day)) return null
  const offsetMinutes = readOffset(zone ?? 'Z')
  if (offsetMinutes === null) return null
  const instant = new Date(local.getTime() - offsetMinutes * MINUTE_MS)
  // Year 0 and five-digit years have no four-digit form for the answer.
  return instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9999 ? instant : null
}

/** Whether a text is an existing day without a time: `2026-03-02`. */
export function isPlainDate(text: string): boolean {
  return PLAIN_DATE.test(text) && parseTimestamp(text) !== null
}

/** `2026-03-02T10:00:00Z`; fractions of a second are cut. */
export function formatTimestamp(instant: Date): string {
  return `${instant.toISOString().slice(0, -5)}Z`
}

export function formatTimestampOrNull(instant: Date | null): string | null {
  return instant === null ? null : formatTimestamp(instant)
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
const days = new Map<number, string>()

/** The UTC day of an instant, `2026-03-02`. Cached, because the log needs it per event. */
export function utcDay(instant: Date | number): string {
  const number = Math.floor(Number(instant) / DAY_MS)
  const known = days.get(number)
  if (known !== undefined) return known
  const day = new Date(number * DAY_MS).toISOString().slice(0, 10)
  if (days.size > 1_000) days.clear() // Only an import can span this many days.
  days.set(number, day)
  return day
}

/** The latest day that anybody may use: far in the east, tomorrow has started. */
export function latestDay(nowMs: number): string {
  return utcDay(nowMs + DAY_MS)
}

/** The UTC day of a text that names an instant; null for anything else. */
export function dayOf(text: unknown): string | null {
  const at = typeof text === 'string' ? parseTimestamp(text) : null
  return at === null ? null : utcDay(at)
}

function readOffset(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')]
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
