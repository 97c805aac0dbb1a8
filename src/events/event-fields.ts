/** The fields of an event as the SQL log, the spool and JetStream write them. */
import { isId } from '../platform/ids.ts'
import { snakeCase } from '../platform/text/snake-case.ts'
import { FIELD_TYPES, type FieldName, type FieldType, LANES, type LogEvent } from './event.ts'

export interface EventField {
  readonly name: FieldName
  readonly column: string // `pubId` → `pub_id`
  readonly type: FieldType
  readonly sqlType: string
}

/** Every field except `atMs`, which the table stores as `day` and `at`. */
export const EVENT_FIELDS: readonly EventField[] = (
  Object.entries(FIELD_TYPES) as [FieldName, FieldType][]
).map(([name, type]) => ({
  name,
  column: snakeCase(name),
  type,
  sqlType: type === 'id' ? 'bigint' : type,
}))

/** Text that a database column accepts: well-formed Unicode without NUL. */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed
}

/** JSON text that a jsonb column accepts: the same rule, also for escapes. */
export function storableJson(json: string): string {
  // Only these escapes can name what jsonb refuses; bodies almost never contain them.
  if (!/\\u(0000|d[89a-f])/i.test(json)) return storableText(json)
  return JSON.stringify(cleaned(JSON.parse(json)))
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableText(key), cleaned(inner)]),
  )
}

const INTEGER_MAX: Partial<Record<FieldType, number>> = {
  smallint: 2 ** 15 - 1,
  integer: 2 ** 31 - 1,
  bigint: Number.MAX_SAFE_INTEGER,
}
const TIME_MAX_MS = Date.UTC(9999, 11, 31)

/** Why the table would refuse an event, for a log that is not the table; null if it accepts it. */
export function refusalOf(event: LogEvent): string | null {
  if (!(Math.abs(event.atMs) <= TIME_MAX_MS && Number.isInteger(event.atMs))) {
    return `atMs: ${event.atMs} is no time in whole milliseconds`
  }
  for (const { name, type, sqlType } of EVENT_FIELDS) {
    const value = event[name]
    if (value !== null && !isStorable(value, type)) {
      return `${name}: ${String(value).slice(0, 50)} does not fit a ${sqlType}`
    }
  }
  return LANES.includes(event.lane) ? null : `lane: there is no lane ${event.lane}`
}

function isStorable(value: unknown, type: FieldType): boolean {
  const max = INTEGER_MAX[type]
  if (max !== undefined) return Number.isSafeInteger(value) && Math.abs(Number(value)) <= max
  if (type === 'id') return typeof value === 'string' && (value === '0' || isId(value))
  if (type === 'bytea') return value instanceof Uint8Array
  return typeof value === 'string' && (type === 'text' || isJson(value))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
