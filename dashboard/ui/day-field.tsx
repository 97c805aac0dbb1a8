/** An input for a day, written as 2026-03-02 whatever the language of the browser. */
import { useEffect, useState } from 'react'
import { isDay } from '../paths.ts'

export function DayField(props: {
  label: string
  value: string
  onChange: (day: string) => void
  isSmall?: boolean
}) {
  const { label, value, onChange, isSmall = true } = props
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const day = typed.trim()
  const isWrong = !isDay(day)
  return (
    <input
      type="text"
      inputMode="numeric"
      aria-label={label}
      aria-invalid={isWrong}
      title="Year, month and day, such as 2026-03-02"
      placeholder="YYYY-MM-DD"
      maxLength={10}
      className={`field number aria-invalid:border-bad ${isSmall ? 'field-small' : ''}`}
      value={typed}
      onChange={({ target }) => {
        setTyped(target.value)
        if (isDay(target.value.trim())) onChange(target.value.trim())
      }}
      // An unfinished date gives way to the last valid one.
      onBlur={() => isWrong && setTyped(value)}
    />
  )
}
