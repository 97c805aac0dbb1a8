/** The heading of a page about some UTC days: one of the usual ranges, or any two dates. */
import { useEffect, useState } from 'react'
import type { Range } from '../api.ts'
import { lastDays, RANGES, useRange } from '../range.ts'
import { Choice } from './choice.tsx'
import { type Heading, Title } from './title.tsx'

export function RangeTitle(heading: Heading) {
  return (
    <div className="flex flex-wrap items-end justify-between gap-4 *:[h1]:line-clamp-2">
      <Title {...heading} />
      <RangePicker />
    </div>
  )
}

function RangePicker() {
  const [range, change] = useRange()
  const nowMs = Date.now()
  const named = RANGES.find(({ days }) => isSame(lastDays(days, nowMs), range))
  const options = RANGES.map(({ label }) => ({ value: label, label }))
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Choice
        label="Days"
        options={options}
        value={named?.label ?? null}
        onChange={(label) => {
          const days = RANGES.find((one) => one.label === label)?.days ?? 1
          change(lastDays(days, Date.now()))
        }}
      />
      <div className="flex flex-wrap items-center gap-1.5 text-sm text-soft">
        <Day
          label="First day"
          value={range.from}
          onChange={(from) => change({ from, to: from > range.to ? from : range.to })}
        />
        {/* In a narrow place they stand below each other: no dash and no word alone. */}
        <span className="flex items-center gap-1.5">
          –
          <Day
            label="Last day"
            value={range.to}
            onChange={(to) => change({ from: to < range.from ? to : range.from, to })}
          />
          UTC
        </span>
      </div>
    </div>
  )
}

/** A date that is typed is a valid one after each digit: what counts is where the typing stops. */
const TYPING_MS = 800
/** The year 2026 is typed as 2, 20, 202, 2026. */
const EARLIEST = '1000-01-01'
/** Where nothing says so, browsers take years of six digits: one of five is no day of ours. */
const LATEST = '9999-12-31'

function Day(props: { label: string; value: string; onChange: (day: string) => void }) {
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

const isSame = (one: Range, other: Range): boolean => one.from === other.from && one.to === other.to
