/** The figures of a range as cards, of which one is drawn by day. */
import { useMemo } from 'react'
import { useAddress } from '../address.ts'
import type { Performance } from '../api.ts'
import { cents, count, percent } from '../format.ts'
import { changeWords, type PerformanceSums, ratio, sumPerformance } from '../performance-sums.ts'
import type { ChosenRange } from '../range.ts'
import { addDays, lengthOf, utcDay } from '../range-days.ts'
import { Choice } from '../ui/choice.tsx'
import { Sums } from '../ui/sums.tsx'
import { TimeChart } from '../ui/time-chart.tsx'

const FIGURES = [
  { value: 'cost', label: 'Cost' },
  { value: 'revenue', label: 'Revenue' },
  { value: 'clicks', label: 'Clicks' },
  { value: 'auctions', label: 'Auctions' },
] as const
type Figure = (typeof FIGURES)[number]['value']

export function PerformanceCards(props: {
  readonly rows: readonly Performance[]
  readonly before: readonly Performance[] | undefined
  readonly range: ChosenRange
}) {
  const { rows, before, range } = props
  const [{ state }, change] = useAddress()
  const figure = FIGURES.find(({ value }) => value === state) ?? FIGURES[0]
  const points = useMemo(
    () => pointsOf({ rows, before, range, figure: figure.value }),
    [rows, before, range, figure.value],
  )
  return (
    <>
      <Sums sums={cardsOf(sumPerformance(rows), before && sumPerformance(before))} />
      <div className="space-y-2">
        <Choice
          label="Figure of the chart"
          options={FIGURES}
          value={figure.value}
          onChange={(next) => change({ state: next }, { replace: true, resetScroll: false })}
        />
        <TimeChart
          label={figure.label}
          points={points}
          isMoney={figure.value === 'cost' || figure.value === 'revenue'}
          openFrom={utcDay(Date.now())}
          onOpen={(day) => change({ from: day, to: day })}
        />
      </div>
    </>
  )
}

function cardsOf(now: PerformanceSums, before: PerformanceSums | undefined) {
  const was = (of: (sums: PerformanceSums) => number | null) => (before ? of(before) : null)
  const note = (of: (sums: PerformanceSums) => number | null, otherwise: string) =>
    changeWords(of(now), was(of)) ?? otherwise
  const winRate = ({ won, auctions }: PerformanceSums) => ratio(won, auctions)
  const roas = ({ revenue, cost }: PerformanceSums) => ratio(revenue, cost)
  const shownRate = winRate(now)
  const shownRoas = roas(now)
  return [
    {
      name: 'Auctions won',
      value: shownRate === null ? '–' : percent(shownRate, 1),
      note: `of ${count(now.auctions)} entered`,
    },
    {
      name: 'Clicks',
      value: count(now.clicks),
      note: note(({ clicks }) => clicks, 'readers sent to your shop'),
    },
    {
      name: 'Cost',
      value: cents(String(now.cost)),
      note: note(({ cost }) => cost, 'after returns and reversals'),
    },
    {
      name: 'Revenue',
      value: cents(String(now.revenue)),
      note: note(({ revenue }) => revenue, `from ${count(now.orders)} orders`),
    },
    {
      name: 'Revenue per $1',
      value: shownRoas === null ? '–' : cents(String(shownRoas)),
      note: note(roas, 'revenue divided by cost (ROAS)'),
    },
  ]
}

interface Drawn {
  readonly rows: readonly Performance[]
  readonly before: readonly Performance[] | undefined
  readonly range: ChosenRange
  readonly figure: Figure
}

/** Every day of the range, because the API leaves out days without an auction. */
function pointsOf({ rows, before, range, figure }: Drawn) {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const beforeByDay = new Map(before?.map((row) => [row.day, row]))
  const figureOf = (row: Performance | undefined) => Number(row?.[figure] ?? 0)
  return Array.from({ length: lengthOf(range) }, (_, at) => {
    const day = addDays(range.from, at)
    const same = range.before === null ? null : addDays(range.before.from, at)
    const isCompared = same !== null && before !== undefined && same <= (range.before?.to ?? '')
    return {
      at: day,
      value: figureOf(byDay.get(day)),
      ...(isCompared ? { before: figureOf(beforeByDay.get(same)) } : {}),
    }
  })
}
