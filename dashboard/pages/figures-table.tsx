/** Figures by article and merchant. The user chooses the order. */
import { useState } from 'react'
import type { Overview } from '../api.ts'
import { articleHref, articleTitle, count } from '../format.ts'
import { type Sort, Table } from '../ui/table.tsx'
import { FIGURE_COLUMNS, type FigureKey } from './figure-columns.ts'

type Row = Overview['rows'][number]

const nameOf = (row: Row): string => articleTitle(row) ?? 'No article'

type SortKey = FigureKey | 'name'

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
/** A view belongs to an article, so it would repeat for each of the article's merchants. */
const COLUMNS = FIGURE_COLUMNS.filter(({ key }) => key !== 'impressions')

export function FiguresTable({
  rows,
  areRowsCut,
}: {
  rows: Overview['rows']
  areRowsCut: boolean
}) {
  const [order, setOrder] = useState<Order>({ by: 'earnings', isAscending: false })
  const sorted = rows.toSorted((a, b) => (order.isAscending ? 1 : -1) * compare(a, b, order.by))
  const sortOf = (by: SortKey): Sort => ({
    order: order.by !== by ? 'none' : order.isAscending ? 'ascending' : 'descending',
    // Names sort from A, numbers from the largest. A second press reverses the order.
    onPress: () =>
      setOrder({ by, isAscending: order.by === by ? !order.isAscending : by === 'name' }),
  })
  return (
    <section aria-labelledby="by-article" className="panel">
      <h2 id="by-article" className="px-4 pt-4 pb-2">
        By article and merchant
      </h2>
      <Table
        label="Figures"
        rows={sorted.slice(0, SHOWN_MAX)}
        keyOf={(row) => `${row.article_id} ${row.merch_id}`}
        name={{ ...NAME, sort: sortOf('name') }}
        columns={COLUMNS.map((column) => ({ ...column, sort: sortOf(column.key) }))}
      />
      {(areRowsCut || rows.length > SHOWN_MAX) && (
        <p className="border-t border-line px-4 py-3 text-sm text-soft">
          The first {SHOWN_MAX} rows
          {areRowsCut && ` of ${count(rows.length)}, highest earnings first`}. The API’s statistics
          endpoint returns every row.
        </p>
      )}
    </section>
  )
}

const NAME = {
  head: 'Article and merchant',
  cell: (row: Row) => <Name row={row} />,
  className: 'max-w-0 min-w-40 font-normal wrap-anywhere max-sm:pr-1',
}

function Name({ row }: { row: Row }) {
  return (
    <>
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
    </>
  )
}
