/**
 * A dense table: sortable, filterable, with columns to choose, totals, and a CSV file of exactly
 * the rows and columns that it shows. Draws only the visible rows of a long list.
 */
import {
  columnFilteringFeature,
  columnVisibilityFeature,
  createFilteredRowModel,
  globalFilteringFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { EmptyState } from '../ui/notice.tsx'
import { useChosenColumns } from './chosen-columns.ts'
import { type Column, isNumeric, matcher, remembered, sortRows } from './column.ts'
import { type Order, TableGrid } from './table-grid.tsx'
import { TableTools } from './table-tools.tsx'

export interface DataTableProps<Row> {
  /** Names the remembered columns and the CSV file: lower case, with hyphens. */
  readonly id: string
  /** The name of the table for screen readers, and its heading unless `isBare`. */
  readonly label: string
  readonly isBare?: boolean
  /** Without the filter by text, on a page that has its own search. */
  readonly isFilterless?: boolean
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
  columnFilteringFeature,
  columnVisibilityFeature,
  globalFilteringFeature,
  filteredRowModel: createFilteredRowModel(),
})

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { id, label, rows, keyOf, sort, empty } = props
  const columns = useMemo(() => props.columns.map(remembered), [props.columns])
  const [text, setText] = useState('')
  const [shown, show] = useChosenColumns(id, columns)
  const [order, setOrder] = useState<Order | null>(
    sort === undefined ? null : { by: sort.by, isDescending: sort.isAscending !== true },
  )
  // Typing stays fluent while a long list is filtered.
  const globalFilter = useDeferredValue(text.trim().toLowerCase())
  const definitions = useMemo(() => columns.map(definitionOf), [columns])
  const isMatch = useMemo(() => matcher(columns), [columns])
  const table = useTable({
    features: FEATURES,
    data: rows as Row[],
    columns: definitions,
    getRowId: (row: Row) => String(keyOf(row)),
    state: { globalFilter, columnVisibility: shown },
    // Asked once a row: the function looks into every column.
    getColumnCanGlobalFilter: (column) => column.id === columns[0]?.id,
    globalFilterFn: (row, _column, wanted: string) => isMatch(row.original, wanted),
  })
  const visible = columns.filter((column, index) => index === 0 || shown[column.id] === true)
  // The header shows the new order at once; a long list follows.
  const shownOrder = useDeferredValue(order)
  const filtered = table.getRowModel().rows
  const sorted = useMemo(() => {
    const column = columns.find((one) => one.id === shownOrder?.by)
    const found = filtered.map(({ original }) => original)
    return column === undefined ? found : sortRows(found, column, shownOrder?.isDescending === true)
  }, [filtered, columns, shownOrder])
  if (rows.length === 0) {
    return empty ?? <EmptyState title={label}>Nothing to show for this period.</EmptyState>
  }
  return (
    <section aria-label={label} className="panel">
      <TableTools
        {...{ id, label, columns, shown, show, text, setText, visible }}
        isBare={props.isBare === true}
        isFilterless={props.isFilterless === true}
        rows={sorted}
        total={rows.length}
      />
      <TableGrid
        {...{ label, keyOf, columns: visible }}
        rows={sorted}
        order={order}
        onSort={(column) => setOrder(nextOrder(order, column as Column<never>))}
        onRow={props.onRow}
      />
      {props.note !== undefined && (
        <p className="border-t border-line px-4 py-2.5 text-sm text-soft">{props.note}</p>
      )}
    </section>
  )
}

/** Names sort from A, numbers from the largest. A second press reverses the order. */
function nextOrder(order: Order | null, column: Column<never>): Order {
  const isSame = order?.by === column.id
  return { by: column.id, isDescending: isSame ? !order.isDescending : isNumeric(column) }
}

const definitionOf = <Row extends object>(column: Column<Row>) => ({
  id: column.id,
  header: column.head,
  accessorFn: column.value,
})
