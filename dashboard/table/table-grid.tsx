/** The rows of a data table. The header and the first column stay visible while it scrolls. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type Column, formatted, isNumeric, sumOf } from './column.ts'

export interface Order {
  readonly by: string
  readonly isDescending: boolean
}

interface GridProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string | number
  readonly order: Order | null
  readonly onSort: (column: Column<Row>) => void
  readonly onRow: ((row: Row) => void) | undefined
}

/** 15 rows, a header and the totals fit below the rest of a page 900 px high. */
const ROW_PX = 34
/** Longer lists draw only the visible rows, and the ones just outside. */
const DRAWN_MAX = 100
const OVERSCAN = 12

export function TableGrid<Row>(props: GridProps<Row>) {
  const { label, rows, columns, keyOf } = props
  const box = useRef<HTMLDivElement>(null)
  const isPrinting = usePrinting()
  const isLong = rows.length > DRAWN_MAX && !isPrinting
  const virtual = useVirtualizer({
    count: rows.length,
    enabled: isLong,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  })
  const items = virtual.getVirtualItems()
  const first = isLong ? (items[0]?.index ?? 0) : 0
  const end = isLong ? (items.at(-1)?.index ?? -1) + 1 : rows.length
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
    <section ref={box} tabIndex={0} aria-label={`Rows of ${label}`} className="data-scroll">
      <table
        aria-rowcount={isLong ? rows.length + 1 : undefined}
        className={`data-table ${isLong ? 'table-fixed' : ''}`}
      >
        <caption className="sr-only">{label}</caption>
        <colgroup>
          {columns.map((column, index) => (
            <col key={column.id} className={widthOf(column as Column<never>, index)} />
          ))}
        </colgroup>
        <Head {...props} />
        <tbody>
          <Gap rows={first} span={columns.length} />
          {rows.slice(first, end).map((row, at) => (
            <Line key={keyOf(row)} {...props} row={row} index={isLong ? first + at + 2 : null} />
          ))}
          <Gap rows={rows.length - end} span={columns.length} />
        </tbody>
        <Totals rows={rows} columns={columns} />
      </table>
    </section>
  )
}

/** Paper does not scroll, so a print has every row. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    // At once, because the browser prints the page as this event leaves it.
    const start = () => flushSync(() => setPrinting(true))
    const end = () => setPrinting(false)
    addEventListener('beforeprint', start)
    addEventListener('afterprint', end)
    return () => {
      removeEventListener('beforeprint', start)
      removeEventListener('afterprint', end)
    }
  }, [])
  return isPrinting
}

/** In a long list, rows come and go; fixed widths keep the columns still. */
function widthOf(column: Column<never>, index: number): string {
  if (index === 0) return 'w-64 max-sm:w-40'
  return isNumeric(column) || column.kind === 'day' ? 'w-32' : 'w-56'
}

/** The space of the rows that are not drawn. */
function Gap({ rows, span }: { rows: number; span: number }) {
  if (rows <= 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without content takes no focus.
    <tr aria-hidden="true" style={{ height: rows * ROW_PX }}>
      <td colSpan={span} />
    </tr>
  )
}

function Head<Row>({ columns, order, onSort }: GridProps<Row>) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const isBy = order?.by === column.id
          const direction = order?.isDescending === true ? 'descending' : 'ascending'
          return (
            <th
              key={column.id}
              scope="col"
              aria-sort={isBy ? direction : 'none'}
              className={isNumeric(column as Column<never>) ? 'text-right' : ''}
            >
              <button type="button" onClick={() => onSort(column)}>
                {column.head}
                <span aria-hidden="true" className="inline-block w-3 text-accent">
                  {isBy ? (order.isDescending ? '↓' : '↑') : ''}
                </span>
              </button>
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

function Line<Row>(props: GridProps<Row> & { row: Row; index: number | null }) {
  const { row, columns, onRow, index } = props
  const [name, ...rest] = columns
  if (name === undefined) return null
  return (
    // The button in the first cell does the same for the keyboard.
    <tr
      aria-rowindex={index ?? undefined}
      className={onRow === undefined ? '' : 'cursor-pointer hover:bg-sunk'}
      onClick={onRow && (({ target }) => isPlain(target) && onRow(row))}
    >
      <th scope="row">
        {onRow === undefined ? (
          <Cell column={name} row={row} />
        ) : (
          <button type="button" className="name" onClick={() => onRow(row)}>
            <Cell column={name} row={row} />
          </button>
        )}
      </th>
      {rest.map((column) => (
        <td
          key={column.id}
          className={isNumeric(column as Column<never>) ? 'number text-right' : ''}
        >
          <Cell column={column} row={row} />
        </td>
      ))}
    </tr>
  )
}

/** A click on a link or a button inside of the row is not one on the row. */
const isPlain = (target: EventTarget): boolean =>
  target instanceof Element && target.closest('a, button, input, select') === null

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }): ReactNode {
  if (column.cell !== undefined) return column.cell(row)
  const text = formatted(column.value(row), column.kind)
  return isNumeric(column as Column<never>) ? text : <bdi title={text}>{text}</bdi>
}

function Totals<Row>({ rows, columns }: { rows: readonly Row[]; columns: readonly Column<Row>[] }) {
  if (rows.length < 2 || !columns.some(({ isSum }) => isSum === true)) return null
  return (
    <tfoot>
      <tr>
        <th scope="row">Total</th>
        {columns.slice(1).map((column) => (
          <td key={column.id} className="number text-right">
            {column.total?.(rows) ??
              (column.isSum === true ? formatted(sumOf(rows, column), column.kind) : '')}
          </td>
        ))}
      </tr>
    </tfoot>
  )
}
