/**
 * The fields of an event and what kind of value each holds: one table for the SQL log, for the
 * spool and for JetStream, so that a new field is added here and nowhere else.
 */
import { isId } from '../platform/ids.ts'
import { LANES, type LogEvent } from './event.ts'

/**
 * - `integer`: a safe integer
 * - `id`: a 64-bit integer in decimal digits
 * - `text`: any text; what no database column takes (NUL, half a surrogate pair) is replaced
 * - `json`: JSON text of an object
 * - `bytes`: a buffer
 */
type FieldKind = 'integer' | 'id' | 'text' | 'json' | 'bytes'

export interface EventField {
  readonly name: keyof LogEvent
  readonly column: string
  readonly sqlType: string
  readonly kind: FieldKind
}

const field = (
  name: keyof LogEvent,
  column: string,
  sqlType: string,
  kind: FieldKind,
): EventField => ({ name, column, sqlType, kind })

/** Every field but `atMs`, which the table keeps as `day` and `at`. */
export const EVENT_FIELDS: readonly EventField[] = [
  field('id', 'id', 'bigint', 'id'),
  field('lane', 'lane', 'smallint', 'integer'),
  field('type', 'type', 'smallint', 'integer'),
  field('reason', 'reason', 'smallint', 'integer'),
  field('pubId', 'pub_id', 'integer', 'integer'),
  field('sessionKey', 'session_key', 'bytea', 'bytes'),
  field('auctionId', 'auction_id', 'bigint', 'id'),
  field('resultNumber', 'result_number', 'bytea', 'bytes'),
  field('merchId', 'merch_id', 'integer', 'integer'),
  field('campaignId', 'campaign_id', 'integer', 'integer'),
  field('offerId', 'offer_id', 'bigint', 'id'),
  field('model', 'model', 'smallint', 'integer'),
  field('priceMicros', 'price_micros', 'bigint', 'integer'),
  field('sharePpm', 'share_ppm', 'integer', 'integer'),
  field('leaseId', 'lease_id', 'bigint', 'id'),
  field('reservedMicros', 'reserved_micros', 'bigint', 'integer'),
  field('clickId', 'click_id', 'bytea', 'bytes'),
  field('visitorKey', 'visitor_key', 'bytea', 'bytes'),
  field('addressKey', 'address_key', 'bytea', 'bytes'),
  field('resultAgeMs', 'result_age_ms', 'bigint', 'integer'),
  field('device', 'device', 'smallint', 'integer'),
  field('uaFamily', 'ua_family', 'text', 'text'),
  field('country', 'country', 'text', 'text'),
  field('consent', 'consent', 'smallint', 'integer'),
  field('url', 'url', 'text', 'text'),
  field('urlKey', 'url_key', 'bytea', 'bytes'),
  field('referrer', 'referrer', 'text', 'text'),
  field('u1', 'u1', 'text', 'text'),
  field('utmSource', 'utm_source', 'text', 'text'),
  field('body', 'body', 'jsonb', 'json'),
]

/** Text as a database column takes it: well-formed Unicode without NUL. */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed
}

/** JSON text as a jsonb column takes it: the same, also where it is written as an escape. */
export function storableJson(json: string): string {
  // Only these escapes can name what jsonb refuses; bodies almost never hold one.
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

const INTEGER_MAX: Readonly<Record<string, number>> = {
  smallint: 2 ** 15 - 1,
  integer: 2 ** 31 - 1,
  bigint: Number.MAX_SAFE_INTEGER,
}
const TIME_MAX_MS = Date.UTC(9999, 11, 31)

/** Why the table would refuse an event, for a log that is not the table; null: it takes it. */
export function refusalOf(event: LogEvent): string | null {
  if (!(Math.abs(event.atMs) <= TIME_MAX_MS && Number.isInteger(event.atMs))) {
    return `atMs: ${event.atMs} is no time in whole milliseconds`
  }
  for (const { name, kind, sqlType } of EVENT_FIELDS) {
    const value = event[name]
    if (value !== null && !isStorable(value, { kind, sqlType })) {
      return `${name}: ${String(value).slice(0, 50)} does not fit a ${sqlType}`
    }
  }
  return LANES.includes(event.lane) ? null : `lane: there is no lane ${event.lane}`
}

function isStorable(value: unknown, { kind, sqlType }: Pick<EventField, 'kind' | 'sqlType'>) {
  if (kind === 'integer') {
    return Number.isSafeInteger(value) && Math.abs(Number(value)) <= (INTEGER_MAX[sqlType] ?? 0)
  }
  if (kind === 'id') return typeof value === 'string' && (value === '0' || isId(value))
  if (kind === 'bytes') return value instanceof Uint8Array
  return typeof value === 'string' && (kind === 'text' || isJson(value))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
