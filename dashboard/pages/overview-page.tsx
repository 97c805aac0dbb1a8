/** A publisher's figures in a range of days: totals, by day, and by article and merchant. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAddress } from '../address.ts'
import { api, type Overview } from '../api.ts'
import { cents, count } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { FIGURES, type Figure, PATHS } from '../paths.ts'
import { useChosenRange, useRange } from '../range.ts'
import { utcDay } from '../range-days.ts'
import { Change } from '../ui/figure-cards.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { TimeChart } from '../ui/time-chart.tsx'
import { DayTable } from './day-table.tsx'
import { FIGURE_NAMES } from './figure-columns.ts'
import { FiguresTable } from './figures-table.tsx'
import { OverviewAttention } from './overview-attention.tsx'
import { OverviewChanges } from './overview-changes.tsx'

/** The service shows a click within 5 s. An open page updates. */
const REFRESH_MS = 5_000

export function OverviewPage() {
  const { pub_id: pubId, name } = usePublisher()
  const [range] = useRange()
  const overview = useQuery({
    queryKey: ['overview', pubId, range],
    queryFn: () => api.overview(pubId, range),
    refetchInterval: REFRESH_MS,
    // Figures of the previous range, shown as outdated, but never of another publisher.
    placeholderData: (before) => (before?.pub_id === pubId ? before : undefined),
  })
  const { before: days } = useChosenRange()
  const before = useQuery({
    queryKey: ['overview', pubId, days],
    queryFn: () => api.overview(pubId, days ?? range),
    enabled: days !== null,
  })
  return (
    <div className="space-y-5">
      <RangeTitle name={name} isCompared />
      <Progress query={overview} />
      {overview.data !== undefined && (
        <Figures
          overview={overview.data}
          before={before.data ?? null}
          isOfOtherDays={overview.isPlaceholderData}
        />
      )}
    </div>
  )
}

const NO_DAYS: Overview['days'] = []

/** Figures of the previous range fade while new ones load. */
function Figures(props: { overview: Overview; before: Overview | null; isOfOtherDays: boolean }) {
  const { overview, isOfOtherDays } = props
  const [{ figure: wanted }, change] = useAddress()
  const figure = FIGURES.find((one) => one === wanted) ?? 'earnings'
  const setFigure = (next: Figure) =>
    change(
      { figure: next === 'earnings' ? undefined : next },
      // The back button leaves the page, instead of undoing a selection.
      { replace: true, resetScroll: false },
    )
  const { totals, days } = overview
  return (
    <div
      aria-busy={isOfOtherDays}
      className="space-y-5 aria-busy:opacity-40 aria-busy:transition-opacity aria-busy:delay-300"
    >
      <div className="flex flex-wrap gap-3">
        {FIGURES.map((one) => (
          <Total
            key={one}
            overview={overview}
            before={props.before}
            figure={one}
            isChosen={one === figure}
            onChoose={setFigure}
          />
        ))}
      </div>
      <OverviewChart days={days} before={props.before?.days ?? NO_DAYS} figure={figure} />
      <div className="grid items-start gap-3 *:min-w-0 lg:grid-cols-2">
        <OverviewChanges />
        <OverviewAttention />
      </div>
      {overview.rows.length > 0 ? (
        <>
          <DayTable days={days} />
          <FiguresTable rows={overview.rows} areRowsCut={overview.are_rows_cut} />
          <Proof />
        </>
      ) : totals.unpaid_clicks > 0 ? (
        <NothingPaid />
      ) : (
        <NothingYet />
      )}
    </div>
  )
}

/** Days of both periods stand beside each other by their position. */
function OverviewChart(props: {
  days: Overview['days']
  before: Overview['days']
  figure: Figure
}) {
  const { days, before, figure } = props
  const [, change] = useAddress()
  const points = useMemo(
    () =>
      days.map((day, at) => {
        const other = before[at]
        return {
          at: day.event_date,
          value: Number(day[figure]),
          before: other === undefined ? null : Number(other[figure]),
        }
      }),
    [days, before, figure],
  )
  return (
    <TimeChart
      label={FIGURE_NAMES[figure]}
      points={points}
      isMoney={figure === 'earnings'}
      openFrom={utcDay(Date.now())}
      onOpen={(day) => change({ from: day, to: day })}
    />
  )
}

function Total(props: {
  overview: Overview
  before: Overview | null
  figure: Figure
  isChosen: boolean
  onChoose: (figure: Figure) => void
}) {
  const { figure, isChosen, onChoose } = props
  const { totals } = props.overview
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={() => onChoose(figure)}
      className="panel max-w-full grow basis-[calc(50%-0.375rem)] flex flex-col px-4 py-3 text-left hover:border-soft lg:basis-0 aria-pressed:border-accent aria-pressed:shadow-[inset_0_-3px_0] aria-pressed:shadow-accent"
    >
      <span className="block text-sm text-soft">{FIGURE_NAMES[figure]}</span>
      <span className="number block w-full text-2xl font-semibold tracking-tight wrap-break-word">
        {headline(totals[figure])}
      </span>
      <span className="number block text-xs text-soft">
        {props.before !== null && (
          <Change
            total={{
              value: Number(totals[figure]),
              before: Number(props.before.totals[figure]),
            }}
          />
        )}{' '}
        {smallPrint(figure, totals)}
      </span>
    </button>
  )
}

const headline = (figure: string | number): string =>
  typeof figure === 'string' ? cents(figure) : count(figure)

function smallPrint(figure: Figure, totals: Overview['totals']): string {
  switch (figure) {
    case 'earnings':
      return totals.earnings_per_click === null
        ? 'your share of each price'
        : `${cents(totals.earnings_per_click)} per click`
    case 'clicks':
      if (totals.unpaid_clicks > 0) return `${count(totals.unpaid_clicks)} more were not valid`
      return totals.clicks === 0 ? 'by people, without bots' : 'all valid'
    case 'impressions':
      return 'by people, without bots'
    case 'sales':
      return `${cents(totals.revenue)} revenue`
  }
}

/** Links to the clicks, orders and payments behind the figures. */
function Proof() {
  return (
    <p className="text-sm text-soft">
      See every{' '}
      <Link to={PATHS.clicks} className="link">
        {' '}
        click{' '}
      </Link>{' '}
      and{' '}
      <Link to={PATHS.orders} className="link">
        {' '}
        order{' '}
      </Link>{' '}
      behind these figures, each with its receipt. Who owes this money, and when you are paid, is
      under{' '}
      <Link to={PATHS.payments} className="link">
        payments
      </Link>
      .
    </p>
  )
}

function NothingPaid() {
  return (
    <EmptyState title="No valid clicks in this period">
      <p>
        All clicks in this period were unpaid. See the reason for each one under{' '}
        <Link to={PATHS.clicks} className="link">
          all clicks
        </Link>
        .
      </p>
    </EmptyState>
  )
}

function NothingYet() {
  return (
    <EmptyState title="No activity in this period">
      <p>
        Choose other days, or get started: create a{' '}
        <Link to={PATHS.links} className="link">
          smart link
        </Link>{' '}
        and put it into an article, or paste the{' '}
        <Link to={PATHS.tag} className="link">
          page tag
        </Link>{' '}
        into your pages. Views and clicks appear here within seconds.
      </p>
    </EmptyState>
  )
}
