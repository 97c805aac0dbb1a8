/**
 * The two statements of the event log, and events as their parameters and rows.
 *
 * A batch is one array per column. The arrays are formatted here because the driver's general
 * conversion of every value costs three times as much. A column that no event of the batch uses is
 * null, which `unnest` expands for free.
 */
import pg from 'pg'
import { bytesElement, quotedElement } from '../platform/postgres/pg-array.ts'
import { sessionSettings } from '../platform/postgres/postgres.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import type { FieldType, LogEvent, StoredEvent } from './event.ts'
import { EVENT_FIELDS, type EventField, storableJson, storableText } from './event-fields.ts'

/** An append that waits longer for other nodes' commits goes to the spool instead. */
const LOCK_TIMEOUT_MS = 1_000
const CHECK_VIOLATION = '23514'
/** First key of the advisory locks that order appends; the second is the lane. */
const LANE_LOCKS = 0x534c414e // 'SLAN'

const columns = EVENT_FIELDS.map(({ column }) => column).join(', ')
const arrays = EVENT_FIELDS.map(({ sqlType }, index) => `$${index + 4}::${sqlType}[]`).join(', ')

/**
 * Parameters: lanes ascending, days, times in milliseconds, then one array per field.
 *
 * The count makes the locks a condition of the whole statement: they are taken in the given order,
 * before the first row and so before its number is drawn, and released at commit. So a lane's
 * numbers become visible in ascending order, and `seq > position` misses nothing.
 */
export const INSERT_EVENTS = `
with locked as materialized (
  select pg_advisory_xact_lock(${LANE_LOCKS}, lane) from unnest($1::int[]) as wanted (lane)
)
insert into event (seq, day, at, ${columns})
select nextval('event_seq'), day, timestamptz 'epoch' + at_ms * interval '1 millisecond', ${columns}
from unnest($2::date[], $3::bigint[], ${arrays}) as appended (day, at_ms, ${columns})
where (select count(*) from locked) > 0
on conflict do nothing`

/**
 * Parameters: lane, position, limit, the first day to open. Rows are arrays: the first day that may
 * hold something, then seq, day, time in milliseconds, fields. Without events it is a single row
 * without these. If its first day is before the given one, events are missing.
 *
 * One statement uses one snapshot: it shows either that a late event reached a closed day, or
 * nothing that came after it. Ids are text; amounts are float8, which the driver returns as exact
 * numbers.
 *
 * The table is locked before the days are looked up, so a partition being created, which takes
 * events from the default one, is waited for first. Otherwise it would be unknown and its events
 * would be skipped.
 */
export const READ_EVENTS = `
with named as (select from event_default),
known as materialized (select first_unread_day($1, $2) as first_day) -- else asked for each row
select first_day::text, found.seq::text, day::text, (extract(epoch from at) * 1000)::float8,
  ${EVENT_FIELDS.map(readAs).join(', ')}
from known left join lateral (
  select * from event where lane = $1 and seq > $2 and day >= $4 order by seq limit $3
) as found on true
order by found.seq`

function readAs({ column, type }: EventField): string {
  if (type === 'id' || type === 'jsonb') return `${column}::text`
  return type === 'bigint' ? `${column}::float8` : column
}

/** Settings of a connection that appends. */
export const APPEND_SESSION = [
  sessionSettings(),
  `set lock_timeout to ${LOCK_TIMEOUT_MS}`,
  'set synchronous_commit to on', // Whatever the server's default: a resolved append is on disk.
  'set plan_cache_mode to force_generic_plan', // One plan fits arrays of any length.
].join('; ')

/** A batch as the parameters of INSERT_EVENTS. */
export function insertParameters(events: readonly LogEvent[]): (string | null)[] {
  const lanes = [...new Set(events.map(({ lane }) => lane))].sort((a, b) => a - b)
  return [
    `{${lanes.join(',')}}`,
    `{${events.map(({ atMs }) => utcDay(atMs)).join(',')}}`,
    `{${events.map(({ atMs }) => atMs).join(',')}}`,
    ...EVENT_FIELDS.map((field) => arrayOf(field, events)),
  ]
}

/** An array literal of one field of every event; null if none has it. */
function arrayOf({ name, type }: EventField, events: readonly LogEvent[]): string | null {
  let literal = ''
  let isUsed = false
  for (const event of events) {
    const value = event[name]
    if (literal.length > 0) literal += ','
    if (value === null) {
      literal += 'null'
    } else {
      isUsed = true
      literal += elementOf(value, type)
    }
  }
  return isUsed ? `{${literal}}` : null
}

function elementOf(value: string | number | Buffer, type: FieldType): string | number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return bytesElement(value)
  if (type === 'id') return quotedElement(value)
  return quotedElement(type === 'jsonb' ? storableJson(value) : storableText(value))
}

/** A row of READ_EVENTS as an event; null if it has none. */
export function storedEvent(row: readonly unknown[]): StoredEvent | null {
  const [, seq, day, atMs, ...values] = row
  if (seq === null) return null
  const fields: Record<string, unknown> = { atMs, seq, day }
  EVENT_FIELDS.forEach(({ name }, index) => {
    fields[name] = values[index]
  })
  return fields as unknown as StoredEvent // READ_EVENTS lists every field.
}

/** Whether the database rejected the values for good. */
export function isRefusal(error: unknown): error is pg.DatabaseError {
  if (!(error instanceof pg.DatabaseError)) return false
  // A partition's bounds are a check without a name: the event's partition was created while it
  // waited for the default one, and accepts it the next time.
  if (error.code === CHECK_VIOLATION && error.constraint === undefined) return false
  // Class 22: a value outside its type. Class 23: a constraint.
  return /^2[23]/.test(error.code ?? '')
}
