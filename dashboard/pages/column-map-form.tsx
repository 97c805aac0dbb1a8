/** Which column of a feed is read as which field: found by name, or chosen by hand. */
import { useState } from 'react'
import type { ColumnMap } from '../feed-import.ts'
import type { FeedImport } from '../merchant-api.ts'

type Columns = NonNullable<FeedImport['columns']>

/** The fields that a merchant maps, the needed ones first. */
const FIELDS = [
  { name: 'id', label: 'Product id', isNeeded: true },
  { name: 'title', label: 'Title', isNeeded: true },
  { name: 'link', label: 'Product page', isNeeded: true },
  { name: 'price', label: 'Price', isNeeded: true },
  { name: 'sale_price', label: 'Sale price' },
  { name: 'currency', label: 'Currency' },
  { name: 'availability', label: 'Stock' },
  { name: 'image_link', label: 'Picture' },
  { name: 'gtin', label: 'GTIN (EAN, UPC)' },
  { name: 'mpn', label: 'Manufacturer’s number' },
  { name: 'brand', label: 'Brand' },
  { name: 'category', label: 'Google category' },
  { name: 'description', label: 'Description' },
  { name: 'color', label: 'Colour' },
  { name: 'size', label: 'Size' },
  { name: 'item_group_id', label: 'Variant group' },
] as const

export function ColumnMapForm(props: {
  readonly columns: Columns
  readonly map: ColumnMap
  readonly isOpen: boolean
  readonly isPending: boolean
  /** Null: the person may only look. */
  readonly onUse: ((map: ColumnMap) => void) | null
}) {
  const { columns, map, isOpen, isPending, onUse } = props
  const [chosen, setChosen] = useState<ColumnMap>(map)
  const missing = FIELDS.filter(
    (field) => 'isNeeded' in field && columnOf(columns, chosen, field.name) === null,
  )
  const ignored = columns.filter(({ field }) => field === null).length
  return (
    <details className="panel" open={isOpen}>
      <summary className="px-4 py-3 font-medium">
        Columns: {columns.length} found, {ignored} not used
        {missing.length > 0 && (
          <span className="text-bad">
            , none for {missing.map(({ label }) => label.toLowerCase()).join(', ')}
          </span>
        )}
      </summary>
      <form
        aria-label="Columns"
        className="space-y-4 border-t border-line p-4"
        onSubmit={(event) => {
          event.preventDefault()
          onUse?.(chosen)
        }}
      >
        <p className="text-sm text-soft">
          Columns are recognized by their names. Choose one yourself where that is wrong.
        </p>
        <fieldset disabled={onUse === null} className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
          {FIELDS.map((field) => (
            <MapField
              key={field.name}
              field={field}
              columns={columns}
              chosen={chosen}
              onChange={setChosen}
            />
          ))}
        </fieldset>
        {onUse !== null && (
          <button type="submit" className="button button-main" aria-busy={isPending}>
            Use these columns and try again
          </button>
        )}
      </form>
    </details>
  )
}

function MapField(props: {
  readonly field: (typeof FIELDS)[number]
  readonly columns: Columns
  readonly chosen: ColumnMap
  readonly onChange: (map: ColumnMap) => void
}) {
  const { field, columns, chosen, onChange } = props
  const { name, label } = field
  const found = columns.find((column) => column.field === name && chosen[name] === undefined)
  const value = chosen[name]?.[0] ?? ''
  const isMissing = 'isNeeded' in field && columnOf(columns, chosen, name) === null
  const set = (column: string) => {
    const { [name]: _, ...others } = chosen
    onChange(column === '' ? others : { ...others, [name]: [column] })
  }
  return (
    <div>
      <label htmlFor={`map-${name}`} className="label">
        {label}
        {'isNeeded' in field && <span className="font-normal text-soft"> (needed)</span>}
      </label>
      <select
        id={`map-${name}`}
        className="field field-small aria-invalid:border-bad"
        aria-invalid={isMissing}
        value={value}
        onChange={({ target }) => set(target.value)}
      >
        <option value="">{found === undefined ? 'None found' : `By name: ${found.name}`}</option>
        {columns.map((column) => (
          <option key={column.name} value={column.name}>
            {column.name}
          </option>
        ))}
      </select>
    </div>
  )
}

/** The column that a field is read from; null without one. */
function columnOf(columns: Columns, map: ColumnMap, name: string): string | null {
  const byHand = map[name]?.[0]
  const found = columns.find(({ field }) => field === name)
  return byHand ?? found?.name ?? null
}
