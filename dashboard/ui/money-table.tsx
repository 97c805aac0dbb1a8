/** A table of amounts in a panel. */
import type { ReactNode } from 'react'
import { Amount, roomFor } from './amount.tsx'
import { type Column, Table } from './table.tsx'

/** The cents of this column align. */
interface AmountColumn<Row> {
  readonly head: string
  readonly amount: (row: Row) => string
}

export type MoneyColumn<Row> = Column<Row> | AmountColumn<Row>

export function MoneyTable<Row>(props: {
  readonly id: string
  readonly title: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  readonly name: Column<Row>
  readonly columns: readonly MoneyColumn<Row>[]
}) {
  const { id, title, rows, keyOf, name, columns } = props
  return (
    <section aria-labelledby={id} className="panel">
      <h2 id={id} className="px-4 pt-4 pb-2">
        {title}
      </h2>
      <Table
        label={`${title}, table`}
        rows={rows}
        keyOf={keyOf}
        name={{ ...name, className: 'min-w-32 font-medium wrap-anywhere max-sm:pr-1' }}
        columns={columns.map((column) => ({ head: column.head, cell: cellOf(column, rows) }))}
      />
    </section>
  )
}

function cellOf<Row>(column: MoneyColumn<Row>, rows: readonly Row[]): (row: Row) => ReactNode {
  if ('cell' in column) return column.cell
  const room = roomFor(rows.map(column.amount))
  return (row) => <Amount value={column.amount(row)} room={room} />
}
