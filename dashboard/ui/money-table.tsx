/** A table of amounts: whose or what each row is, then its cells, below their heads. */
import type { ReactNode } from 'react'
import { Amount, roomFor } from './amount.tsx'

interface CellColumn<Row> {
  readonly head: string
  readonly cell: (row: Row) => ReactNode
}

/** Its cents stand below each other. */
interface AmountColumn<Row> {
  readonly head: string
  readonly amount: (row: Row) => string
}

export type Column<Row> = CellColumn<Row> | AmountColumn<Row>

export function MoneyTable<Row>(props: {
  readonly id: string
  readonly title: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  readonly name: CellColumn<Row>
  readonly columns: readonly Column<Row>[]
}) {
  const { id, title, rows, keyOf, name, columns } = props
  const cells = columns.map((column) => [column.head, cellOf(column, rows)] as const)
  return (
    <section aria-labelledby={id} className="panel">
      <h2 id={id} className="px-4 pt-4 pb-2">
        {title}
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
      <section aria-label={`${title}, table`} tabIndex={0} className="scrolls">
        <table className="w-full text-right text-sm">
          <thead>
            <tr className="border-b border-line text-soft">
              {[name, ...columns].map(({ head }) => (
                <th
                  key={head}
                  scope="col"
                  className="px-4 py-2 font-medium whitespace-nowrap first:text-left"
                >
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)} className="border-b border-line last:border-0">
                <th
                  scope="row"
                  className="w-full min-w-32 px-4 py-2.5 text-left font-medium wrap-anywhere max-sm:pr-1"
                >
                  {name.cell(row)}
                </th>
                {cells.map(([head, cell]) => (
                  <td key={head} className="number px-4 py-2.5 whitespace-nowrap">
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function cellOf<Row>(column: Column<Row>, rows: readonly Row[]): (row: Row) => ReactNode {
  if ('cell' in column) return column.cell
  const room = roomFor(rows.map(column.amount))
  return (row) => <Amount value={column.amount(row)} room={room} />
}
