/** The heading of a page about a range of UTC days, with a choice of range. */
import type { Range } from '../api.ts'
import { lastDays, RANGES, useRange } from '../range.ts'
import { Choice } from './choice.tsx'
import { DayField } from './day-field.tsx'
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
        <DayField
          label="First day"
          value={range.from}
          onChange={(from) => change({ from, to: from > range.to ? from : range.to })}
        />
        {/* In narrow spaces the fields wrap together with the dash. */}
        <span className="flex flex-wrap items-center gap-1.5">
          –
          <DayField
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

const isSame = (one: Range, other: Range): boolean => one.from === other.from && one.to === other.to
