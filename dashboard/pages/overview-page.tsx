/** What a publisher's links did in a range of days: in total, by day, by article and merchant. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useAddress } from '../address.ts'
import { api, type Overview } from '../api.ts'
import { count, dollars } from '../format.ts'
import { FIGURES, type Figure, PATHS } from '../paths.ts'
import { useRange } from '../range.ts'
import { usePublisher } from '../session.ts'
import { DayChart } from '../ui/day-chart.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { DayTable } from './day-table.tsx'
import { FIGURE_NAMES, shown } from './figure-columns.ts'
import { FiguresTable } from './figures-table.tsx'

/** The service shows a click within 5 s; a page that stands open follows. */
const REFRESH_MS = 5_000

export function OverviewPage() {
  const { pub_id: pubId, name } = usePublisher()
  const [range] = useRange()
  const overview = useQuery({
    queryKey: ['overview', pubId, range],
    queryFn: () => api.overview(pubId, range),
    refetchInterval: REFRESH_MS,
    // Of other days, and told as such; never another publisher's.
    placeholderData: (before) => (before?.pub_id === pubId ? before : undefined),
  })
  return (
    <div className="space-y-5">
      <RangeTitle name={name} />
      <Progress query={overview} />
      {overview.data !== undefined && (
        <Figures overview={overview.data} isOfOtherDays={overview.isPlaceholderData} />
      )}
    </div>
  )
}

/** Figures of other days fade while those of the chosen ones are on their way. */
function Figures(props: { overview: Overview; isOfOtherDays: boolean }) {
  const { overview, isOfOtherDays } = props
  const [{ figure = 'earnings' }, change] = useAddress()
  const setFigure = (next: Figure) =>
    change(
      { figure: next === 'earnings' ? undefined : next },
      { replace: true, resetScroll: false }, // Who goes back leaves the page, not a look at it.
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
            figure={one}
            isChosen={one === figure}
            onChoose={setFigure}
          />
        ))}
      </div>
      <DayChart
        label={FIGURE_NAMES[figure]}
        days={days}
        figure={figure}
        isMoney={figure === 'earnings'}
      />
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

function Total(props: {
  overview: Overview
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
        {shown(totals[figure])}
      </span>
      <span className="number block text-xs text-soft">{smallPrint(figure, totals)}</span>
    </button>
  )
}

function smallPrint(figure: Figure, totals: Overview['totals']): string {
  switch (figure) {
    case 'earnings':
      return totals.earnings_per_click === null
        ? 'your part of each price'
        : `${dollars(totals.earnings_per_click)} a click`
    case 'clicks':
      if (totals.unpaid_clicks > 0) return `and ${count(totals.unpaid_clicks)} not paid`
      return totals.clicks === 0 ? 'by people, not robots' : 'all of them valid'
    case 'impressions':
      return 'by people, not robots'
    case 'sales':
      return `${dollars(totals.revenue)} revenue`
  }
}

/** Where each cent of the figures comes from. */
function Proof() {
  return (
    <p className="text-sm text-soft">
      What earned it, one by one and each with its receipt: the{' '}
      <Link to={PATHS.clicks} className="link">
        clicks
      </Link>{' '}
      and the{' '}
      <Link to={PATHS.orders} className="link">
        orders
      </Link>{' '}
      of these days, with what came back on them. Who owes it, and when it is paid:{' '}
      <Link to={PATHS.payments} className="link">
        payments
      </Link>
      .
    </p>
  )
}

function NothingPaid() {
  return (
    <EmptyState title="No click counted on these days">
      <p>
        There were clicks that nobody pays for. Each of them says why, among{' '}
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
    <EmptyState title="Nothing has happened on these days">
      <p>
        Choose other days, or begin: make a{' '}
        <Link to={PATHS.links} className="link">
          smart link
        </Link>{' '}
        and put it into an article, or paste the page tag from{' '}
        <Link to={PATHS.developer} className="link">
          developer options
        </Link>{' '}
        into your pages. Views and clicks appear here within seconds.
      </p>
    </EmptyState>
  )
}
