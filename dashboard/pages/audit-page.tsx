/** Who changed what in an organization, the newest first. */
import type { Organization } from '../../src/accounts/permission.ts'
import { date, time } from '../format.ts'
import { nameOf, organizationOf } from '../membership.ts'
import { type AuditEntry, people } from '../people-api.ts'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { OfOrganization } from '../ui/of-organization.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'

export function AuditPage() {
  return (
    <OfOrganization title="Changes" permission="audit.read" who="owners">
      {(membership) => <Entries at={organizationOf(membership)} />}
    </OfOrganization>
  )
}

function Entries({ at }: { at: Organization }) {
  const pages = usePages(['audit', nameOf(at)], (cursor) => people.auditLog(at, cursor))
  const entries = pages.data?.pages.flatMap(({ rows }) => rows) ?? []
  if (pages.data !== undefined && entries.length === 0) {
    return <EmptyState title="No changes yet">Changes are listed here for 400 days.</EmptyState>
  }
  return (
    <>
      <Progress query={pages} />
      {entries.length > 0 && (
        <ol className="panel divide-y divide-line">
          {entries.map((entry) => (
            <Entry key={entry.audit_id} entry={entry} />
          ))}
        </ol>
      )}
      <NextPage pages={pages} label="Earlier changes" />
    </>
  )
}

const THROUGH: Readonly<Record<AuditEntry['through'], string>> = {
  session: 'in the dashboard',
  key: 'with an API key',
  cli: 'on the command line',
  link: 'with a link from an e-mail',
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { datetime_created: at, email, through, token_id, action, target } = entry
  const changes = changesOf(entry)
  return (
    <li className="space-y-1 px-4 py-3">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-medium">{action}</span>
        <code className="text-sm wrap-anywhere text-soft">{target}</code>
      </p>
      <p className="number text-sm wrap-anywhere text-soft">
        {date(at)}, {time(at)} UTC · <bdi>{email ?? 'the operator'}</bdi> {THROUGH[through]}
        {token_id !== null && ` (${token_id})`}
      </p>
      {changes.length > 0 && (
        <dl className="text-sm">
          {changes.map(({ field, before, after }) => (
            <div key={field} className="flex flex-wrap gap-x-2">
              <dt className="text-soft">{field}</dt>
              <dd className="min-w-0 wrap-anywhere">
                {before !== null && <del>{before}</del>}
                {before !== null && after !== null && ' → '}
                {after !== null && <ins className="no-underline">{after}</ins>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  )
}

/** The fields that differ, as texts; null where there was none. */
export function changesOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>) {
  const [old, fresh] = [fieldsOf(before), fieldsOf(after)]
  const isUpdate = before !== null && after !== null
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((field) => ({
      field,
      before: old.get(field) ?? null,
      after: fresh.get(field) ?? null,
    }))
    .filter((change) => change.before !== change.after)
    .filter(({ field, after: now }) => !isUpdate || now !== null || !fresh.has(field))
}

function fieldsOf(record: unknown): Map<string, string> {
  if (typeof record !== 'object' || record === null) return new Map()
  return new Map(
    Object.entries(record).map(([field, value]) => [
      field,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}
