/** The rows that an import left out: where, why, and how to fix them. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { readCsv } from '../api.ts'
import { count } from '../format.ts'
import { type FeedImport, merchantApi, type Reject, rejectsUrl } from '../merchant-api.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { saveFile } from '../table/save-file.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Facts, known } from '../ui/facts.tsx'
import { Failure, Progress } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'

const COLUMNS: readonly Column<Reject>[] = [
  { id: 'line', head: 'Line', kind: 'text', value: ({ line }) => String(line) },
  { id: 'id', head: 'Product', value: ({ id }) => id },
  { id: 'column', head: 'Column', value: ({ column }) => column },
  { id: 'value', head: 'Value', value: ({ value }) => value },
  { id: 'detail', head: 'Reason', value: ({ detail }) => detail },
  { id: 'fix', head: 'Fix', value: ({ fix }) => fix },
]

export function RejectTable({ merchId, run }: { merchId: number; run: FeedImport }) {
  const { import_id: id, rejects_stored: stored, rejects_left_out: leftOut } = run
  const [shown, show] = useState<Reject | null>(null)
  const pages = usePages(['rejects', merchId, id], (cursor) =>
    merchantApi.rejects(merchId, id, cursor),
  )
  const rows = pages.data?.pages.flatMap((page) => page.rows) ?? []
  if (stored === 0) {
    return (
      <p className="panel px-4 py-3 text-sm text-soft">
        The rejected rows of older imports are not stored. Import again to see them.
      </p>
    )
  }
  return (
    <div className="space-y-3">
      <Progress query={pages} />
      {rows.length > 0 && (
        <DataTable
          id="rejected-rows"
          label="Rows left out"
          rows={rows}
          keyOf={(row) => row.reject_id}
          columns={COLUMNS}
          sort={{ by: 'line', isAscending: true }}
          onRow={show}
          note={
            <>
              {rows.length < stored &&
                `${count(rows.length)} of ${count(stored)} rows are loaded. `}
              {leftOut > 0 && `${count(leftOut)} more were counted, and not stored. `}
              <SaveAll merchId={merchId} id={id} />
            </>
          }
        />
      )}
      <NextPage pages={pages} label="More rows" />
      {shown !== null && (
        <Dialog title={`Line ${shown.line}`} isOpen onOpenChange={() => show(null)}>
          <p className="font-medium first-letter:uppercase">{shown.detail}</p>
          <p className="mt-1">{shown.fix}</p>
          <Facts facts={[...known('Product', shown.id), ...known('Column', shown.column)]} />
          <code className="code mt-3 whitespace-pre-wrap wrap-anywhere">
            {shown.value === '' ? '(empty)' : shown.value}
          </code>
        </Dialog>
      )}
    </div>
  )
}

function SaveAll({ merchId, id }: { merchId: number; id: string }) {
  const save = useMutation({
    mutationFn: async () =>
      saveFile('souk-rejected-rows.csv', await readCsv(rejectsUrl(merchId, id))),
  })
  return (
    <>
      <button type="button" className="link" onClick={() => save.mutate()}>
        Save all stored rows as CSV
      </button>
      {save.error !== null && <Failure error={save.error} />}
    </>
  )
}
