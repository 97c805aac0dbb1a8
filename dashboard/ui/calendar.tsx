/** A month of days to choose from. Arrow keys move by days and weeks, Page keys by months. */
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Range } from '../api.ts'
import { date, monthOfYear } from '../format.ts'
import { addDays, monthStart, weeksOf } from '../range-days.ts'
import { Icon } from './icon.tsx'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export function Calendar(props: {
  label: string
  /** The days to mark. */
  range: Range
  /** The month to show at first. */
  at: string
  onChoose: (day: string) => void
}) {
  const { label, range, onChoose } = props
  const [focused, setFocused] = useState(props.at)
  useEffect(() => setFocused(props.at), [props.at])
  const grid = useRef<HTMLTableElement>(null)
  const move = (event: KeyboardEvent) => {
    const next = moved(focused, event.key)
    if (next === null) return
    event.preventDefault()
    // Draws at once: the next key must meet the button of the new day.
    flushSync(() => setFocused(next))
    grid.current?.querySelector<HTMLElement>(`[data-day="${next}"]`)?.focus()
  }
  const month = monthStart(focused)
  return (
    <div className="w-full min-w-64">
      <div className="mb-1 flex items-center justify-between">
        <Step
          label="Previous month"
          icon="left"
          onPress={() => setFocused(monthStart(month, -1))}
        />
        <span aria-live="polite" className="text-sm font-medium">
          {monthOfYear(month)}
        </span>
        <Step label="Next month" icon="right" onPress={() => setFocused(monthStart(month, 1))} />
      </div>
      <table ref={grid} aria-label={label} className="w-full table-fixed text-center text-xs">
        <thead>
          <tr>
            {WEEKDAYS.map((name) => (
              <th key={name} scope="col" abbr={name} className="h-7 font-normal text-soft">
                {name.slice(0, 2)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={move}>
          {weeksOf(month).map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <Day
                  key={day}
                  {...{ day, range, onChoose }}
                  isFocusable={day === focused}
                  isOfMonth={monthStart(day) === month}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Step(props: { label: string; icon: 'left' | 'right'; onPress: () => void }) {
  return (
    <button
      type="button"
      aria-label={props.label}
      className="button button-small button-quiet"
      onClick={props.onPress}
    >
      <Icon name={props.icon} size={14} />
    </button>
  )
}

/** One day is in the order of the Tab key; arrow keys reach the others. */
function Day(props: {
  day: string
  range: Range
  isFocusable: boolean
  isOfMonth: boolean
  onChoose: (day: string) => void
}) {
  const { day, range, isFocusable, isOfMonth, onChoose } = props
  const isEnd = day === range.from || day === range.to
  const isInside = day > range.from && day < range.to
  return (
    <td className={`p-0 ${isInside ? 'bg-tint' : ''}`}>
      <button
        type="button"
        data-day={day}
        tabIndex={isFocusable ? 0 : -1}
        aria-label={date(day)}
        aria-pressed={isEnd || isInside}
        className={`number h-8 w-full rounded-md hover:bg-sunk ${
          isEnd ? 'bg-accent text-on-accent hover:bg-accent/90' : isOfMonth ? '' : 'text-soft'
        }`}
        onClick={() => onChoose(day)}
      >
        {Number(day.slice(-2))}
      </button>
    </td>
  )
}

/** The day that a key leads to; null for other keys. */
function moved(day: string, key: string): string | null {
  switch (key) {
    case 'ArrowLeft':
      return addDays(day, -1)
    case 'ArrowRight':
      return addDays(day, 1)
    case 'ArrowUp':
      return addDays(day, -7)
    case 'ArrowDown':
      return addDays(day, 7)
    case 'PageUp':
      return monthStart(day, -1)
    case 'PageDown':
      return monthStart(day, 1)
    default:
      return null
  }
}
