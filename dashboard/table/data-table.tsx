/**
 * A dense table: sortable, filterable, with columns to choose, totals, and a CSV file of exactly
 * the rows and columns that it shows. Draws only the visible rows of a long list.
 */
import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { EmptyState } from '../ui/notice.tsx'
import { useChosenColumns } from './chosen-columns.ts'
import { type Column, compare, isNumeric, matches } from './column.ts'
import { TableGrid } from './table-grid.tsx'
import { TableTools } from './table-tools.tsx'

export interface DataTableProps<Row> {
  /** Names the remembered columns and the CSV file: lower case, with hyphens. */
  readonly id: string
  /** The name of the table for screen readers, and its heading unless `isBare`. */
  readonly label: string
  readonly isBare?: boolean
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  /** The first column names the row and stays visible while the others scroll. */
  readonly columns: readonly Column<Row>[]
  /** The order at first. */
  readonly sort?: { readonly by: string; readonly isAscending?: boolean }
  /** Called for a row that somebody clicks, or opens by keyboard. */
  readonly onRow?: (row: Row) => void
  /** Shown instead of the table without any row. */
  readonly empty?: ReactNode
  /** Shown under the table, such as a limit. */
  readonly note?: ReactNode
}

const FEATURES = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
})

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { id, label, rows, columns, keyOf, sort, empty } = props
  const [text, setText] = useState('')
  const [shown, show] = useChosenColumns(id, columns)
  const [sorting, setSorting] = useState(
    sort === undefined ? [] : [{ id: sort.by, desc: sort.isAscending !== true }],
  )
  // Typing stays fluent while a long list is filtered.
  const wanted = useDeferredValue(text.trim().toLowerCase())
  const data = useMemo(
    () => (wanted === '' ? [...rows] : rows.filter((row) => matches(row, columns, wanted))),
    [rows, columns, wanted],
  )
  const definitions = useMemo(() => columns.map(definitionOf), [columns])
  const table = useTable({
    features: FEATURES,
    data,
    columns: definitions,
    getRowId: (row: Row) => String(keyOf(row)),
    state: { sorting, columnVisibility: shown },
    onSortingChange: setSorting,
    enableSortingRemoval: false,
    enableMultiSort: false,
  })
  const visible = columns.filter((column, index) => index === 0 || shown[column.id] === true)
  const sorted = table.getRowModel().rows.map(({ original }) => original)
  if (rows.length === 0) {
    return empty ?? <EmptyState title={label}>Nothing to show for this period.</EmptyState>
  }
  const [order] = sorting
  return (
    <section aria-label={label} className="panel">
      <TableTools
        {...{ id, label, columns, shown, show, text, setText, visible }}
        isBare={props.isBare === true}
        rows={sorted}
        total={rows.length}
      />
      <TableGrid
        {...{ label, keyOf, columns: visible }}
        rows={sorted}
        order={order === undefined ? null : { by: order.id, isDescending: order.desc }}
        // Names sort from A, numbers from the largest. A second press reverses the order.
        onSort={(column) =>
          setSorting([
            {
              id: column.id,
              desc: order?.id === column.id ? !order.desc : isNumeric(column as Column<never>),
            },
          ])
        }
        onRow={props.onRow}
      />
      {props.note !== undefined && (
        <p className="border-t border-line px-4 py-2.5 text-sm text-soft">{props.note}</p>
      )}
    </section>
  )
}

function definitionOf<Row extends object>(column: Column<Row>) {
  const isNumber = isNumeric(column as Column<never>)
  return {
    id: column.id,
    header: column.head,
    // The library sorts `undefined` last in both directions.
    accessorFn: (row: Row) => column.value(row) ?? undefined,
    sortUndefined: 'last' as const,
    sortFn: (one: { original: Row }, other: { original: Row }) =>
      compare(column.value(one.original), column.value(other.original), isNumber),
  }
}
