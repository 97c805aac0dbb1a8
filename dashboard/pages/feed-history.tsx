/** The last imports of a feed. A row opens its result. */

import { rejectedOf } from '../feed-import.ts'
import { date, time } from '../format.ts'
import type { FeedImport } from '../merchant-api.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'

const SOURCES: Readonly<Record<FeedImport['source'], string>> = {
  url: 'URL, on request',
  upload: 'File',
  schedule: 'URL, on schedule',
  command: 'Operator',
}

function stateOf({ state, dry_run: isDry }: FeedImport): string {
  if (state === 'failed') return 'Failed'
  if (state !== 'done') return 'Running'
  return isDry ? 'Trial' : 'Imported'
}

const COLUMNS: readonly Column<FeedImport>[] = [
  {
    id: 'started',
    head: 'Started (UTC)',
    value: ({ datetime_created: at }) => at,
    cell: ({ datetime_created: at }) => `${date(at)}, ${time(at).slice(0, 5)}`,
  },
  {
    id: 'state',
    head: 'Result',
    value: stateOf,
    cell: (run) => (
      <span
        className={`chip ${run.state === 'failed' ? 'bg-bad-tint text-bad' : run.state === 'done' && !run.dry_run ? 'bg-tint text-accent' : ''}`}
      >
        {stateOf(run)}
      </span>
    ),
  },
  { id: 'source', head: 'From', value: ({ source }) => SOURCES[source] },
  { id: 'rows', head: 'Rows', kind: 'count', value: ({ rows }) => rows },
  { id: 'changed', head: 'New or changed', kind: 'count', value: (run) => run.offers_upserted },
  { id: 'removed', head: 'Removed', kind: 'count', value: (run) => run.offers_removed },
  { id: 'rejected', head: 'Left out', kind: 'count', value: rejectedOf },
  { id: 'error', head: 'Problem', value: ({ error }) => error },
]

export function FeedHistory(props: {
  readonly imports: readonly FeedImport[]
  readonly openId: string | null
  readonly onOpen: (id: string) => void
}) {
  return (
    <DataTable
      id="feed-imports"
      label="Imports"
      rows={props.imports}
      keyOf={(run) => run.import_id}
      columns={COLUMNS}
      sort={{ by: 'started' }}
      onRow={(run) => props.onOpen(run.import_id)}
    />
  )
}
