/** A table that scrolls sideways, with row names first. */
import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ReactNode
  /** Set if users can sort by this column. */
  readonly sort?: Sort
}

export interface Sort {
  readonly order: 'ascending' | 'descending' | 'none'
  readonly onPress: () => void
}

export function Table<Row>(props: {
  readonly label: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  /** Takes the remaining width. */
  readonly name: Column<Row> & { readonly className: string }
  readonly columns: readonly Column<Row>[]
  readonly className?: string
}) {
  const { label, rows, keyOf, name, columns, className = '' } = props
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
    <section aria-label={label} tabIndex={0} className={`scrolls ${className}`}>
      <table className="w-full text-right text-sm">
        <thead className="sticky top-0 bg-panel text-soft">
          <tr className="border-b border-line">
            {[name, ...columns].map(({ head, sort }) => (
              <Head key={head} head={head} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-b border-line last:border-0">
              <th scope="row" className={`w-full px-4 py-2.5 text-left ${name.className}`}>
                {name.cell(row)}
              </th>
              {columns.map(({ head, cell }) => (
                <td key={head} className="number px-4 py-2.5 whitespace-nowrap">
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const ARROWS = { ascending: '↑ ', descending: '↓ ', none: null } as const

function Head({ head, sort }: { head: string; sort: Sort | undefined }) {
  return (
    <th
      scope="col"
      aria-sort={sort?.order}
      className="px-4 py-2 font-medium whitespace-nowrap first:text-left aria-[sort$=ending]:text-ink"
    >
      {sort === undefined ? (
        head
      ) : (
        <button type="button" className="-my-1 rounded py-1 hover:text-ink" onClick={sort.onPress}>
          <span aria-hidden="true">{ARROWS[sort.order]}</span>
          {head}
        </button>
      )}
    </th>
  )
}
