/** A chart of one figure of the API's rows by UTC day. */
import { useMemo } from 'react'
import { utcDay } from '../range-days.ts'
import { TimeChart } from './time-chart.tsx'

export function DayChart<Figure extends string>(props: {
  readonly label: string
  /** A new array redraws the chart. */
  readonly days: readonly ({ readonly event_date: string } & Readonly<
    Record<Figure, string | number>
  >)[]
  /** The figure to draw: an amount in dollars, or a count. */
  readonly figure: Figure
  readonly isMoney: boolean
}) {
  const { days, figure } = props
  const points = useMemo(
    () => days.map((day) => ({ at: day.event_date, value: Number(day[figure]) })),
    [days, figure],
  )
  return (
    <TimeChart
      label={props.label}
      points={points}
      isMoney={props.isMoney}
      openFrom={utcDay(Date.now())}
    />
  )
}
