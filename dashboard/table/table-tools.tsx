/** The line above a data table: its name, a filter, the choice of columns, and the CSV file. */
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuSwitch } from '../ui/menu.tsx'
import type { Shown } from './chosen-columns.ts'
import { type Column, csvOf } from './column.ts'
import { saveFile } from './save-file.ts'

/** A shorter list can be read at a glance. */
const FILTERED_FROM = 8

export function TableTools<Row>(props: {
  id: string
  label: string
  isBare: boolean
  isFilterless: boolean
  columns: readonly Column<Row>[]
  visible: readonly Column<Row>[]
  shown: Shown
  show: (id: string, isShown: boolean) => void
  text: string
  setText: (text: string) => void
  /** The rows that are shown, and the number of all. */
  rows: readonly Row[]
  total: number
}) {
  const { id, label, columns, visible, shown, show, text, setText, rows, total } = props
  return (
    <div className="flex flex-wrap items-center gap-2 px-3 py-2 print:hidden">
      {!props.isBare && <h2 className="px-1">{label}</h2>}
      <span role="status" className="number px-1 text-xs text-soft">
        {rows.length === total ? total.toLocaleString('en-US') : `${rows.length} of ${total}`}
      </span>
      <div className="grow" />
      {!props.isFilterless && total >= FILTERED_FROM && (
        <input
          type="search"
          aria-label={`Filter ${label}`}
          placeholder="Filter"
          className="field field-small w-44 max-sm:w-28 max-sm:grow"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      {columns.length > 2 && (
        <Menu
          label={`Columns of ${label}`}
          button={
            <>
              <Icon name="columns" size={14} />
              <span className="max-sm:sr-only">Columns</span>
            </>
          }
        >
          {columns.slice(1).map((column) => (
            <MenuSwitch
              key={column.id}
              label={column.head}
              isOn={shown[column.id] === true}
              onChange={(isOn) => show(column.id, isOn)}
            />
          ))}
        </Menu>
      )}
      <button
        type="button"
        className="button button-small"
        aria-label={`Save ${label} as CSV`}
        onClick={() => saveFile(`souk-${id}.csv`, csvOf(rows, visible))}
      >
        <Icon name="download" size={14} />
        CSV
      </button>
    </div>
  )
}
