/** The chart's figures as a table, latest day first. */
import type { Overview } from '../api.ts'
import { date } from '../format.ts'
import { Table } from '../ui/table.tsx'
import { FIGURE_COLUMNS } from './figure-columns.ts'

type Day = Overview['days'][number]

const NAME = {
  head: 'Day (UTC)',
  cell: (day: Day) => date(day.event_date),
  className: 'number font-normal whitespace-nowrap',
}

export function DayTable({ days }: { days: readonly Day[] }) {
  return (
    <details className="panel">
      <summary className="px-4 py-3 text-base font-semibold">Daily figures</summary>
      <Table
        label="Figures by day"
        rows={days.toReversed()}
        keyOf={(day) => day.event_date}
        name={NAME}
        columns={FIGURE_COLUMNS}
        className="max-h-96 print:max-h-none"
      />
    </details>
  )
}
