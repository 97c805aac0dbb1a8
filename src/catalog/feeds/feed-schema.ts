/** Wire shapes of feeds in the management API: the source, imports, rejected rows. */
import Type, { type Static } from 'typebox'
import { orNull, TextOrNull, Time, TimeOrNull, webUrl } from '../../platform/http/field-types.ts'
import { withoutPassword } from '../../platform/net/fetch-guard.ts'
import { snakeCase } from '../../platform/text/snake-case.ts'
import { formatTimestamp, formatTimestampOrNull } from '../../platform/time/timestamp.ts'
import { type FeedMap, FIELDS } from './feed-columns.ts'
import { FEED_FORMATS } from './feed-format.ts'
import type { FeedOptions } from './feed-options.ts'
import {
  type FeedRun,
  REJECTS_STORED_MAX,
  RUN_SOURCES,
  RUN_STATES,
  RUNS_KEPT,
  RUNS_WITH_REJECTS,
  type StoredReject,
} from './feed-run-store.ts'
import type { StoredFeedSource } from './feed-source-store.ts'
import { OFFER_NOTES, REJECT_REASONS, REJECT_WORDS } from './reject-words.ts'

/** How often a source is fetched, in hours; a daily one before its offers are too old to bid. */
export const SCHEDULES = {
  hourly: 1,
  every_6_hours: 6,
  every_12_hours: 12,
  daily: 23,
  manual: null,
} as const
export type FeedSchedule = keyof typeof SCHEDULES
const SCHEDULE_NAMES = Object.keys(SCHEDULES) as FeedSchedule[]

const CREDENTIAL_LENGTH_MAX = 255
const Credential = (description: string) =>
  Type.Optional(orNull(Type.String({ maxLength: CREDENTIAL_LENGTH_MAX, description })))

const MapRecord = Type.Object(
  Object.fromEntries(
    FIELDS.map((field) => [snakeCase(field), Type.Optional(Type.Array(Type.String()))]),
  ),
)

export const SourceRecord = Type.Object({
  merch_id: Type.Integer(),
  url: Type.String({ description: 'Without a user name and password' }),
  username: TextOrNull,
  has_password: Type.Boolean({ description: 'The password itself is never answered' }),
  format: Type.Enum([...FEED_FORMATS]),
  map: orNull(MapRecord, 'For each field the names of its columns, where the usual ones do not do'),
  element: orNull(Type.String(), 'The repeated element of an XML feed'),
  default_currency: orNull(Type.String(), 'ISO 4217: of prices that name no currency'),
  schedule: Type.Enum(SCHEDULE_NAMES),
  error: orNull(Type.String(), 'Why the last import from the source failed or was not whole'),
  feed_imported_at: orNull(Time, 'The last import that changed or confirmed offers'),
  datetime_created: Time,
  datetime_updated: Time,
})

export const SourceBody = Type.Object({
  url: webUrl('Where the feed is fetched'),
  username: Credential('For Basic authentication'),
  password: Credential(
    'Not sent: the stored one stays while host and user name stay the same; null: none',
  ),
  format: Type.Optional(Type.Enum([...FEED_FORMATS])),
  map: Type.Optional(
    orNull(
      Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
      'For each field a column’s name or a list of names: `{"id": "Artikelnummer"}`',
    ),
  ),
  element: Type.Optional(TextOrNull),
  default_currency: Type.Optional(TextOrNull),
  schedule: Type.Optional(
    Type.Enum(SCHEDULE_NAMES, { description: 'Default every_6_hours; offers bid for 24 hours' }),
  ),
})

const counts = (names: readonly string[], description: string) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Integer())])), {
    description,
  })

export const ImportRecord = Type.Object({
  import_id: Type.String(),
  merch_id: Type.Integer(),
  source: Type.Enum([...RUN_SOURCES], {
    description:
      '`url`: from the source, on request; `upload`: a file in the request; `schedule`: from the ' +
      'source, when due; `command`: the operator’s shell',
  }),
  dry_run: Type.Boolean({ description: 'Whether rows were only judged and nothing was changed' }),
  state: Type.Enum([...RUN_STATES]),
  url: orNull(Type.String(), 'Without a user name and password; null for a file'),
  rows: Type.Integer({ description: 'Read so far, rejected ones included' }),
  bytes_read: Type.Integer({ description: 'Of the file, so far' }),
  bytes_total: orNull(Type.Integer(), 'Null until it is known'),
  offers_upserted: Type.Integer({ description: 'New and changed offers' }),
  offers_removed: Type.Integer({ description: 'Offers that the feed no longer has' }),
  offers_unchanged: Type.Integer(),
  rejected: counts(REJECT_REASONS, 'Rows left out, by reason'),
  noted: counts(OFFER_NOTES, 'Rows kept with a remark, by remark'),
  read_whole: Type.Boolean({ description: 'If false, no offer was removed' }),
  truncated: Type.Boolean({ description: 'Whether the end of the feed is missing' }),
  rejects_stored: Type.Integer({
    description:
      `Rejected rows in \`rejects/\`: the first ${REJECTS_STORED_MAX} of an import, of the last ` +
      `${RUNS_WITH_REJECTS} imports. The last ${RUNS_KEPT} imports are listed.`,
  }),
  rejects_left_out: Type.Integer({ description: 'Rejected rows that are counted and not stored' }),
  columns: orNull(
    Type.Array(
      Type.Object({
        name: Type.String(),
        field: orNull(
          Type.Enum(FIELDS.map(snakeCase)),
          'The field that it is read as; null: it is ignored',
        ),
      }),
    ),
    'The feed’s columns, as far as they were read; null before that',
  ),
  error: orNull(Type.String(), 'Why it failed; nothing was changed then'),
  datetime_ended: TimeOrNull,
  datetime_created: Time,
  datetime_updated: Time,
})

export const RejectRecord = Type.Object({
  reject_id: Type.Integer({ description: 'Counted from 1, in the order of the feed' }),
  line: Type.Integer({ description: 'Where the row begins in the feed, counted from 1' }),
  id: orNull(Type.String(), 'The product’s id, where it could be read'),
  column: orNull(Type.String(), 'The field at fault; null where the row could not be read'),
  value: Type.String({ description: 'What it says there, cut to 200 characters' }),
  reason: Type.Enum(REJECT_REASONS),
  detail: Type.String({ description: 'What is wrong' }),
  fix: Type.String({ description: 'What to write instead' }),
  datetime_created: Time,
  datetime_updated: Time,
})

export function toSourceRecord(
  source: StoredFeedSource,
  importedAt: Date | null,
): Static<typeof SourceRecord> {
  const url = new URL(source.url)
  const schedule = SCHEDULE_NAMES.find((name) => SCHEDULES[name] === source.every_hours)
  return {
    merch_id: source.merch_id,
    url: withoutPassword(url),
    username: url.username === '' ? null : decoded(url.username),
    has_password: url.password !== '',
    format: source.format,
    map: source.map === null ? null : toMapRecord(source.map),
    element: source.element,
    default_currency: source.currency,
    schedule: schedule ?? 'every_6_hours',
    error: source.error,
    feed_imported_at: formatTimestampOrNull(importedAt),
    datetime_created: formatTimestamp(source.datetime_created),
    datetime_updated: formatTimestamp(source.datetime_updated),
  }
}

function toMapRecord(map: FeedMap): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(map).map(([field, names]) => [snakeCase(field), [...names]]),
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // As the operator typed it.
  }
}

export type SourceBody = Static<typeof SourceBody>

/** The URL with its credentials, as it is stored and fetched. */
export function sourceUrl(body: SourceBody, stored: StoredFeedSource | null): string {
  const url = new URL(body.url)
  const before = stored === null ? null : new URL(stored.url)
  if (body.username !== undefined) url.username = encodeURIComponent(body.username ?? '')
  const isSamePlace = before?.origin === url.origin && before.username === url.username
  // A stored password must not be sent to another host that somebody enters.
  if (body.password !== undefined) url.password = encodeURIComponent(body.password ?? '')
  else if (url.password === '' && isSamePlace) url.password = before.password
  return url.href
}

export function toImportRecord(run: FeedRun): Static<typeof ImportRecord> {
  const { result } = run
  const rejected = result?.rejected ?? {}
  const total = Object.values(rejected).reduce((sum, count) => sum + count, 0)
  return {
    import_id: run.import_id,
    merch_id: run.merch_id,
    source: run.source,
    dry_run: run.is_dry_run,
    state: run.state,
    url: run.url,
    rows: Number(run.rows),
    bytes_read: Number(run.bytes_read),
    bytes_total: run.bytes_total === null ? null : Number(run.bytes_total),
    offers_upserted: result?.offers_upserted ?? 0,
    offers_removed: result?.offers_removed ?? 0,
    offers_unchanged: result?.offers_unchanged ?? 0,
    rejected,
    noted: result?.notes ?? {},
    read_whole: result?.read_whole ?? false,
    truncated: result?.truncated ?? false,
    rejects_stored: run.rejects_stored,
    rejects_left_out: Math.max(0, total - run.rejects_stored),
    columns:
      run.columns?.map(({ name, field }) => ({
        name,
        field: field === null ? null : snakeCase(field),
      })) ?? null,
    error: run.error,
    datetime_ended: formatTimestampOrNull(run.ended_at),
    datetime_created: formatTimestamp(run.started_at),
    datetime_updated: formatTimestamp(run.alive_at),
  }
}

export function toRejectRecord(
  reject: StoredReject,
  run: Pick<FeedRun, 'started_at'>,
): Static<typeof RejectRecord> {
  const reason = REJECT_REASONS.find((name) => name === reject.reason) ?? 'row_malformed'
  const at = formatTimestamp(run.started_at)
  return {
    reject_id: reject.reject_id,
    line: reject.line,
    id: reject.sku,
    column: reject.field === null ? null : snakeCase(reject.field),
    value: reject.value,
    reason,
    detail: reject.detail,
    fix: REJECT_WORDS[reason].fix,
    datetime_created: at,
    datetime_updated: at,
  }
}

/** Of a merchant without a source. */
export const NO_OPTIONS: FeedOptions = { format: 'auto', map: null, currency: null, element: null }
