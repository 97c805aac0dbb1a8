/** An input for a UTC day. */
import { useEffect, useState } from 'react'

/** A typed date is valid after each digit, so wait until typing stops. */
const TYPING_MS = 800
/** The year 2026 is typed as 2, 20, 202, 2026. */
const EARLIEST = '1000-01-01'
/** Without a maximum, browsers accept years of six digits. */
const LATEST = '9999-12-31'

export function DayField(props: { label: string; value: string; onChange: (day: string) => void }) {
  const { value, onChange } = props
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value || typed < EARLIEST) return
    const timer = setTimeout(() => onChange(typed), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed, value, onChange])
  return (
    <input
      type="date"
      aria-label={props.label}
      className="number h-9 rounded-lg border border-edge bg-panel px-2 text-[0.8125rem] text-ink"
      max={LATEST}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={() => typed < EARLIEST && setTyped(value)}
    />
  )
}
