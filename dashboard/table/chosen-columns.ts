/** Which columns of a table the user shows, remembered in this browser. */
import { useState } from 'react'
import type { Column } from './column.ts'

export type Shown = Readonly<Record<string, boolean>>

const keyOf = (table: string) => `souk columns ${table}`

export function useChosenColumns<Row>(table: string, columns: readonly Column<Row>[]) {
  const [chosen, setChosen] = useState(() => read(table))
  const shown: Shown = Object.fromEntries(
    columns.map(({ id, isHidden }) => [id, chosen[id] ?? isHidden !== true]),
  )
  const show = (id: string, isShown: boolean) => {
    const next = { ...chosen, [id]: isShown }
    setChosen(next)
    try {
      localStorage.setItem(keyOf(table), JSON.stringify(next))
    } catch {
      // Without storage, the choice lasts until the page is left.
    }
  }
  return [shown, show] as const
}

function read(table: string): Shown {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(table)) ?? '{}')
    return typeof stored === 'object' && stored !== null ? (stored as Shown) : {}
  } catch {
    return {}
  }
}
