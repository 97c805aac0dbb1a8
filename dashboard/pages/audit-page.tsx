/** Who changed what in an organization, the newest first. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Organization } from '../../src/accounts/permission.ts'
import { date, time } from '../format.ts'
import { nameOf, organizationOf } from '../membership.ts'
import { type AuditEntry, type AuditFilters, people } from '../people-api.ts'
import { saveFile } from '../table/save-file.ts'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
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
  const [filters, setFilters] = useState(NO_FILTERS)
  const pages = usePages(['audit', nameOf(at), filters], (cursor) =>
    people.auditLog(at, filters, cursor),
  )
  const entries = pages.data?.pages.flatMap(({ rows }) => rows) ?? []
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return (
    <>
      <Filters at={at} filters={filters} onFilter={setFilters} error={pages.failureReason} />
      <Progress query={pages} />
      {pages.data !== undefined && entries.length === 0 && (
        <EmptyState title={isFiltered ? 'No change matches' : 'No changes yet'}>
          {isFiltered
            ? 'Remove a filter to see more changes.'
            : 'Changes are listed here for 400 days.'}
        </EmptyState>
      )}
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

const NO_FILTERS: AuditFilters = { date_from: '', date_to: '', action: '', user: '' }

/** Filters take effect with the button, because a half-typed day is an error. */
function Filters(props: {
  at: Organization
  filters: AuditFilters
  onFilter: (filters: AuditFilters) => void
  error: unknown
}) {
  const { at, filters, onFilter, error } = props
  const [typed, setTyped] = useState(filters)
  const save = useMutation({
    mutationFn: async () => saveFile('changes.csv', await people.auditCsv(at, filters)),
  })
  const field = (name: keyof AuditFilters, label: string, placeholder: string) => (
    <Field
      {...{ name, label, placeholder, error }}
      isOptional
      value={typed[name]}
      onChange={(value) => setTyped({ ...typed, [name]: value })}
    />
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onFilter(typed)
  }
  return (
    <form
      aria-label="Filter changes"
      className="panel grid grid-cols-2 items-end gap-3 p-4 lg:grid-cols-[1fr_1fr_1fr_1fr_auto_auto] print:hidden"
      onSubmit={submit}
    >
      {field('action', 'Action', 'member.update')}
      {field('user', 'Person', 'E-mail')}
      {field('date_from', 'From', '2026-03-01')}
      {field('date_to', 'To', '2026-03-31')}
      <button type="submit" className="button">
        Filter
      </button>
      <button
        type="button"
        className="button"
        aria-busy={save.isPending}
        onClick={() => save.isPending || save.mutate()}
      >
        <Icon name="download" size={14} />
        CSV
      </button>
      {save.error !== null && <Failure error={save.error} />}
    </form>
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
    .filter((change) => change.before !== change.after && change.field !== 'datetime_updated')
    .filter(({ field, after: now }) => !isUpdate || now !== null || !fresh.has(field))
}

function fieldsOf(record: unknown): Map<string, string> {
  if (typeof record !== 'object' || record === null) return new Map()
  return new Map(
    Object.entries(record).map(([field, value]) => [
      field,
      value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}
