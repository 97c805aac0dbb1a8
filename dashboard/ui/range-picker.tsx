/** Chooses the UTC days of a page: one of the usual ranges, or any two dates. */
import type { Range } from '../api.ts'
import { lastDays, RANGES, useRange } from '../range.ts'
import { Choice } from './choice.tsx'

export function RangePicker() {
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
      <div className="flex items-center gap-1.5 text-sm text-soft">
        <Day
          label="First day"
          value={range.from}
          onChange={(from) => change({ from, to: from > range.to ? from : range.to })}
        />
        –
        <Day
          label="Last day"
          value={range.to}
          onChange={(to) => change({ from: to < range.from ? to : range.from, to })}
        />
        UTC
      </div>
    </div>
  )
}

function Day(props: { label: string; value: string; onChange: (day: string) => void }) {
  return (
    <input
      type="date"
      aria-label={props.label}
      className="number h-9 rounded-lg border border-line bg-panel px-2 text-[0.8125rem] text-ink"
      value={props.value}
      onChange={({ target }) => {
        if (target.value !== '') props.onChange(target.value)
      }}
    />
  )
}

const isSame = (one: Range, other: Range): boolean => one.from === other.from && one.to === other.to
