/**
 * The two statements of the event log in PostgreSQL, and events as their parameters and rows.
 *
 * A batch travels as one array per column. The arrays are written as text here rather than by
 * the driver: it would walk every value through its general conversion, three times the cost.
 * A column that no event of the batch uses goes as null, which `unnest` fills up for nothing.
 */
import pg from 'pg'
import { bytesElement, quotedElement } from '../platform/pg-array.ts'
import { sessionSettings } from '../platform/postgres.ts'
import { utcDay } from '../platform/timestamp.ts'
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
 * The count makes the locks a condition of the whole statement: they are taken, in the order
 * given, before the first row and so before its number is drawn. They are let go at commit.
 * So a lane's numbers become visible in ascending order, and `seq > position` misses nothing.
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
 * Parameters: lane, position, limit, the first day to look into. Rows are arrays: the first day
 * that may hold something, then seq, day, time in milliseconds, fields; a single row without these
 * when there is no event. Where that first day is before the one looked into, events are missing.
 *
 * One statement, so one snapshot: it either shows that something came late to a day that is over,
 * or nothing that came after it. Ids come as text; amounts as float8, which the driver gives as
 * numbers and holds them exactly.
 *
 * What is named is locked before the days are looked up, so a partition that is being made, which
 * takes events out of the default one, is waited for first. Waited for later, it would not be known
 * and its events passed.
 */
export const READ_EVENTS = `
with named as (select from event_default),
known as materialized (select first_unread_day($1, $2) as first_day) -- else asked for each row
select first_day::text, told.seq::text, day::text, (extract(epoch from at) * 1000)::float8,
  ${EVENT_FIELDS.map(readAs).join(', ')}
from known left join lateral (
  select * from event where lane = $1 and seq > $2 and day >= $4 order by seq limit $3
) as told on true
order by told.seq`

function readAs({ column, type }: EventField): string {
  if (type === 'id' || type === 'jsonb') return `${column}::text`
  return type === 'bigint' ? `${column}::float8` : column
}

/** Settings of a connection that appends. */
export const APPEND_SESSION = [
  sessionSettings(),
  `set lock_timeout to ${LOCK_TIMEOUT_MS}`,
  'set synchronous_commit to on', // whatever the server's default: what append resolved is on disk
  'set plan_cache_mode to force_generic_plan', // one plan fits arrays of any length
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

/** An array literal of one field of every event; null when none has it. */
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

/** A row of READ_EVENTS as an event; null where it has none. */
export function storedEvent(row: readonly unknown[]): StoredEvent | null {
  const [, seq, day, atMs, ...values] = row
  if (seq === null) return null
  const fields: Record<string, unknown> = { atMs, seq, day }
  EVENT_FIELDS.forEach(({ name }, index) => {
    fields[name] = values[index]
  })
  return fields as unknown as StoredEvent // the statement above lists every field of one
}

/** Whether the database looked at the values and will never take them. */
export function isRefusal(error: unknown): error is pg.DatabaseError {
  if (!(error instanceof pg.DatabaseError)) return false
  // The bounds of a partition are a check without a name: the event's own was made while it waited
  // for the default one, and takes it the next time.
  if (error.code === CHECK_VIOLATION && error.constraint === undefined) return false
  // Class 22: a value outside its type. Class 23: a constraint.
  return /^2[23]/.test(error.code ?? '')
}
