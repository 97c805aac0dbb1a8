/** The audit log of an organization, to read and to export. */
import Type, { type Static } from 'typebox'
import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { orNull, Time } from '../platform/http/field-types.ts'
import { formatTimestamp, isPlainDate } from '../platform/time/timestamp.ts'
import { AUDIT_DAYS, type AuditRow, listAudit } from './audit-store.ts'
import { cursorId, pageOf } from './id-pages.ts'
import { toOrganization } from './membership-store.ts'
import { list, type Operation } from './operation.ts'
import { ORGANIZATION_PATHS, type OrganizationPath, paramsOf } from './organization-path.ts'
import { OrganizationRecord } from './schema.ts'
import { EMAIL_LENGTH_MAX } from './user.ts'

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
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: EMAIL_LENGTH_MAX,
      description: 'Only what this user changed: a `uid`, or the e-mail address',
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
      const { limit, user = null, action = null } = query
      const { date_from: from = null, date_to: to = null } = query
      refuseBadDays(from, to)
      const before = cursorId(query)
      const wanted = { organization, from, to, action, user, before, limit: limit + 1 }
      return pageOf(await listAudit(db, wanted), limit, {
        idOf: ({ audit_id: id }) => id,
        toEntry: toAuditRecord,
      })
    },
  })

function refuseBadDays(from: string | null, to: string | null): void {
  const faults: Fault[] = Object.entries({ date_from: from, date_to: to }).flatMap(
    ([field, day]) =>
      day === null || isPlainDate(day) ? [] : [{ field, rule: 'must be a day, YYYY-MM-DD' }],
  )
  if (faults.length === 0 && from !== null && to !== null && from > to) {
    faults.push({ field: 'date_to', rule: 'must not be before date_from' })
  }
  if (faults.length > 0) throw badRequest(faults)
}

function toAuditRecord({ at, pub_id, merch_id, ...row }: AuditRow): Static<typeof AuditRecord> {
  const when = formatTimestamp(at)
  const organization = toOrganization({ pub_id, merch_id })
  return { ...row, organization, datetime_created: when, datetime_updated: when }
}
