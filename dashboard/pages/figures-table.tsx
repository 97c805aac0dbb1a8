/** The figures by article and merchant, in the order that the reader of the table chooses. */
import { useState } from 'react'
import type { Overview } from '../api.ts'
import { articleHref, articleTitle, count } from '../format.ts'
import { COLUMNS } from './figure-columns.ts'

type Row = Overview['rows'][number]

const nameOf = (row: Row): string => articleTitle(row) ?? 'No article'

const BY_NAME = (one: Row, other: Row): number =>
  nameOf(one).localeCompare(nameOf(other)) ||
  (one.merchant_name ?? '').localeCompare(other.merchant_name ?? '')

const SHOWN_MAX = 200

export function FiguresTable({
  rows,
  areRowsCut,
}: {
  rows: Overview['rows']
  areRowsCut: boolean
}) {
  const [order, setOrder] = useState({ name: 'Earnings', isAscending: false })
  const compare = COLUMNS.find(({ name }) => name === order.name)?.compare ?? BY_NAME
  const sorted = rows.toSorted((a, b) => (order.isAscending ? compare(a, b) : compare(b, a)))
  const sortBy = (name: string) =>
    setOrder((before) => ({
      name,
      // Names begin at A, numbers at the largest; a second press turns round.
      isAscending: before.name === name ? !before.isAscending : name === NAMES,
    }))
  return (
    <section aria-labelledby="by-article" className="panel">
      <h2 id="by-article" className="px-4 pt-4 pb-2">
        By article and merchant
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
      <section aria-label="Figures" tabIndex={0} className="overflow-x-auto">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-soft">
              {[NAMES, ...COLUMNS.map(({ name }) => name)].map((name) => (
                <Head key={name} name={name} order={order} onSort={sortBy} />
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

const NAMES = 'Article and merchant'

function Head(props: {
  name: string
  order: { name: string; isAscending: boolean }
  onSort: (name: string) => void
}) {
  const { name, order, onSort } = props
  const isSorted = order.name === name
  const direction = order.isAscending ? 'ascending' : 'descending'
  return (
    <th
      scope="col"
      aria-sort={isSorted ? direction : 'none'}
      className={`px-4 py-1 font-medium ${name === NAMES ? 'text-left' : 'text-right'}`}
    >
      <button
        type="button"
        className={`rounded py-1 whitespace-nowrap hover:text-ink ${isSorted ? 'text-ink' : ''}`}
        onClick={() => onSort(name)}
      >
        {isSorted && <span aria-hidden="true">{order.isAscending ? '↑ ' : '↓ '}</span>}
        {name}
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
      {COLUMNS.map(({ name, of }) => (
        <td key={name} className="number px-4 py-2.5 text-right whitespace-nowrap">
          {of(row)}
        </td>
      ))}
    </tr>
  )
}
