/** What the bars show, to be read and copied: the figures of each day, the last one first. */
import type { Overview } from '../api.ts'
import { date } from '../format.ts'
import { COLUMN_KEYS, COLUMNS, shown } from './figure-columns.ts'

export function DayTable({ days }: { days: Overview['days'] }) {
  return (
    <details className="panel">
      <summary className="px-4 py-3 text-base font-semibold">Day by day</summary>
      <section
        aria-label="Figures by day"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
        tabIndex={0}
        className="scrolls max-h-96 print:max-h-none"
      >
        <table className="w-full text-right text-sm">
          <thead className="sticky top-0 bg-panel text-soft">
            <tr>
              <Head name="UTC day" />
              {COLUMN_KEYS.map((key) => (
                <Head key={key} name={COLUMNS[key]} />
              ))}
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.event_date} className="border-t border-line whitespace-nowrap">
                <th scope="row" className="number w-full px-4 py-2 text-left font-normal">
                  {date(day.event_date)}
                </th>
                {COLUMN_KEYS.map((key) => (
                  <td key={key} className="number px-4 py-2">
                    {shown(day[key])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}

function Head({ name }: { name: string }) {
  return (
    <th scope="col" className="px-4 py-2 font-medium whitespace-nowrap first:text-left">
      {name}
    </th>
  )
}
