/** The audit log of an organization, to read and to export. */
import Type, { type Static } from 'typebox'
import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { orNull, Time } from '../platform/http/field-types.ts'
import { formatTimestamp, isPlainDate } from '../platform/time/timestamp.ts'
import { AUDIT_DAYS, type AuditRow, listAudit } from './audit-store.ts'
import { toOrganization } from './membership-store.ts'
import { list, type Operation } from './operation.ts'
import { ORGANIZATION_PATHS, type OrganizationPath, paramsOf } from './organization-path.ts'
import { OrganizationRecord } from './schema.ts'

const ACTION_LENGTH_MAX = 100

export const AuditRecord = Type.Object({
  audit_id: Type.String(),
  datetime_created: Type.String({ format: 'date-time', description: 'When it happened' }),
  datetime_updated: Time,
  uid: orNull(Type.Integer(), 'Who; null: the operator'),
  email: orNull(Type.String(), 'Of that user, now'),
  through: Type.Enum(['session', 'key', 'cli', 'link'], {
    description: 'cli: the operator’s command line; link: a link from an e-mail',
  }),
  token_id: orNull(Type.Integer(), 'The API key'),
  organization: OrganizationRecord,
  action: Type.String({ description: 'Subject and verb, such as `member.update`' }),
  target: Type.String({ description: 'On what, such as `user:7`' }),
  before: Type.Unknown({ description: 'The changed fields before; null where there were none' }),
  after: Type.Unknown({ description: 'The same after' }),
  request_id: orNull(Type.String(), 'The `X-Request-Id` of the answer'),
})

const Day = Type.Optional(Type.String({ maxLength: 10, description: 'UTC day, YYYY-MM-DD' }))
const Filters = Type.Object({
  date_from: Day,
  date_to: Day,
  action: Type.Optional(
    Type.String({
      maxLength: ACTION_LENGTH_MAX,
      description: 'Only this action, or all of a subject: `member.update` or `member`',
    }),
  ),
})

export function auditOperations(): Operation[] {
  return ORGANIZATION_PATHS.map((path) => auditLogOf(path))
}

const auditLogOf = (path: OrganizationPath) =>
  list({
    id: `list${path.noun}AuditLog`,
    tag: path.tag,
    path: `${path.base}/audit_log/`,
    summary: 'Who changed what, the newest first',
    description:
      `Kept for ${AUDIT_DAYS} days; nobody can change an entry.` +
      (path.kind === 'network' ? ' With the entries of all organizations.' : ''),
    permission: 'audit.read',
    params: paramsOf(path, {}),
    query: Filters,
    entry: AuditRecord,
    run: async ({ db, organization, query }) => {
      const { limit, cursor, date_from = null, date_to = null, action = null } = query
      refuseBadFilters({ date_from, date_to, cursor })
      const rows = await listAudit(db, {
        ...{ organization, limit, action },
        before: cursor,
        from: date_from,
        to: date_to,
      })
      return {
        rows: rows.map(toAuditRecord),
        nextCursor: rows.length < limit ? null : `${rows.at(-1)?.audit_id}`,
      }
    },
  })

function refuseBadFilters(
  asked: Readonly<Record<'date_from' | 'date_to' | 'cursor', string | null>>,
): void {
  const { date_from: from, date_to: to, cursor } = asked
  const faults: Fault[] = Object.entries({ date_from: from, date_to: to }).flatMap(
    ([field, day]) =>
      day === null || isPlainDate(day) ? [] : [{ field, rule: 'must be a day, YYYY-MM-DD' }],
  )
  if (faults.length === 0 && from !== null && to !== null && from > to) {
    faults.push({ field: 'date_to', rule: 'must not be before date_from' })
  }
  if (cursor !== null && !/^\d{1,18}$/.test(cursor)) {
    faults.push({ field: 'cursor', rule: 'must be the next_cursor of a page of this list' })
  }
  if (faults.length > 0) throw badRequest(faults)
}

function toAuditRecord({ at, pub_id, merch_id, ...row }: AuditRow): Static<typeof AuditRecord> {
  const when = formatTimestamp(at)
  const organization = toOrganization({ pub_id, merch_id })
  return { ...row, organization, datetime_created: when, datetime_updated: when }
}
