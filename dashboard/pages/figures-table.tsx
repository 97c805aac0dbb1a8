/** The figures by article and merchant, in the order that the reader of the table chooses. */
import { useState } from 'react'
import type { Overview } from '../api.ts'
import { articleHref, articleTitle, count } from '../format.ts'
import { COLUMN_KEYS, COLUMNS, type Column, shown } from './figure-columns.ts'

type Row = Overview['rows'][number]

const nameOf = (row: Row): string => articleTitle(row) ?? 'No article'

type SortKey = Column | 'name'

interface Order {
  readonly by: SortKey
  readonly isAscending: boolean
}

function compare(one: Row, other: Row, by: SortKey): number {
  if (by !== 'name') return Number(one[by]) - Number(other[by])
  return (
    nameOf(one).localeCompare(nameOf(other)) ||
    (one.merchant_name ?? '').localeCompare(other.merchant_name ?? '')
  )
}

const SHOWN_MAX = 200

export function FiguresTable({
  rows,
  areRowsCut,
}: {
  rows: Overview['rows']
  areRowsCut: boolean
}) {
  const [order, setOrder] = useState<Order>({ by: 'earnings', isAscending: false })
  const sorted = rows.toSorted((a, b) => (order.isAscending ? 1 : -1) * compare(a, b, order.by))
  const sortBy = (by: SortKey) =>
    setOrder((before) => ({
      by,
      // Names begin at A, numbers at the largest; a second press turns round.
      isAscending: before.by === by ? !before.isAscending : by === 'name',
    }))
  return (
    <section aria-labelledby="by-article" className="panel">
      <h2 id="by-article" className="px-4 pt-4 pb-2">
        By article and merchant
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
      <section aria-label="Figures" tabIndex={0} className="scrolls">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-soft">
              {(['name', ...COLUMN_KEYS] as const).map((by) => (
                <Head key={by} by={by} order={order} onSort={sortBy} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, SHOWN_MAX).map((row) => (
              <Line key={`${row.article_id} ${row.merch_id}`} row={row} />
            ))}
          </tbody>
        </table>
      </section>
      {(areRowsCut || rows.length > SHOWN_MAX) && (
        <p className="border-t border-line px-4 py-3 text-sm text-soft">
          The first {SHOWN_MAX} rows{areRowsCut && ` of the ${count(rows.length)} that earned most`}
          . The statistics endpoint of the API returns all of them.
        </p>
      )}
    </section>
  )
}

function Head(props: { by: SortKey; order: Order; onSort: (by: SortKey) => void }) {
  const { by, order, onSort } = props
  const isSorted = order.by === by
  const direction = order.isAscending ? 'ascending' : 'descending'
  return (
    <th
      scope="col"
      aria-sort={isSorted ? direction : 'none'}
      className={`px-4 py-1 font-medium ${by === 'name' ? 'text-left' : 'text-right'}`}
    >
      <button
        type="button"
        className={`rounded py-1 whitespace-nowrap hover:text-ink ${isSorted ? 'text-ink' : ''}`}
        onClick={() => onSort(by)}
      >
        {isSorted && <span aria-hidden="true">{order.isAscending ? '↑ ' : '↓ '}</span>}
        {by === 'name' ? 'Article and merchant' : COLUMNS[by]}
      </button>
    </th>
  )
}

function Line({ row }: { row: Row }) {
  return (
    <tr className="border-b border-line last:border-0">
      {/* It takes the room that the figures leave, however long the name. */}
      <th
        scope="row"
        className="w-full max-w-0 min-w-40 px-4 py-2.5 text-left font-normal wrap-anywhere max-sm:pr-1"
      >
        <a
          href={articleHref(row.article_url)}
          target="_blank"
          rel="noreferrer"
          dir="auto"
          className="line-clamp-2 text-left font-medium hover:underline"
        >
          {nameOf(row)}
        </a>
        <bdi className="line-clamp-2 text-left text-soft">
          {row.merchant_name ?? (row.merch_id === 0 ? 'No merchant' : 'Unnamed')}
        </bdi>
      </th>
      {COLUMN_KEYS.map((key) => (
        <td key={key} className="number px-4 py-2.5 text-right whitespace-nowrap">
          {shown(row[key])}
        </td>
      ))}
    </tr>
  )
}
