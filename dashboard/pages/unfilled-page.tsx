/** A day's auctions without a winner, by the earnings that each reason cost. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useAddress } from '../address.ts'
import { api, type NoFill } from '../api.ts'
import { count, date, percent } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { useRange } from '../range.ts'
import { addDays, utcDay } from '../range-days.ts'
import { Choice } from '../ui/choice.tsx'
import { DayField } from '../ui/day-field.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { Title } from '../ui/title.tsx'
import { ReasonList } from './reason-list.tsx'

/** The service replays the day's auctions for this page. */
const FRESH_MS = 60_000

export function UnfilledPage() {
  const { pub_id: pubId } = usePublisher()
  const [range] = useRange()
  const [{ day = range.to }, change] = useAddress()
  const noFill = useQuery({
    queryKey: ['no fill', pubId, day],
    queryFn: () => api.noFill(pubId, day),
    staleTime: FRESH_MS,
  })
  return (
    <div className="space-y-5">
      <div className="flex flex-wrap items-end justify-between gap-4">
        <Title>Unfilled auctions</Title>
        <DayPicker day={day} onChange={(next) => change({ day: next })} />
      </div>
      <Progress query={noFill} />
      {noFill.data !== undefined && <Day day={day} noFill={noFill.data} />}
    </div>
  )
}

function DayPicker({ day, onChange }: { day: string; onChange: (day: string) => void }) {
  const today = utcDay(Date.now())
  const yesterday = addDays(today, -1)
  const options = [
    { value: yesterday, label: 'Yesterday' },
    { value: today, label: 'Today' },
  ]
  return (
    <div className="flex max-w-full min-w-0 flex-wrap items-center gap-2">
      <Choice label="Day" options={options} value={day} onChange={onChange} />
      <span className="flex max-w-full min-w-0 items-center gap-1.5 text-sm text-soft">
        <span className="w-32 min-w-0">
          <DayField label="Day" value={day} onChange={onChange} />
        </span>
        UTC
      </span>
    </div>
  )
}

function Day({ day, noFill }: { day: string; noFill: NoFill }) {
  const { held, auctions, unfilled, unfilled_clicks: clicks, is_complete, reasons } = noFill
  if (auctions === 0) return <NoAuctions isComplete={is_complete} />
  const totals = [
    { name: 'Auctions', value: auctions, note: date(day) },
    {
      name: 'Without a winner',
      value: unfilled,
      note: `${percent(unfilled / auctions, 1)} of them`,
    },
    { name: 'Unpaid clicks', value: clicks, note: 'sent to the original page' },
  ]
  return (
    <>
      <dl className="flex flex-wrap gap-3">
        {totals.map(({ name, value, note }) => (
          <div key={name} className="panel grow basis-32 px-4 py-3">
            <dt className="text-sm text-soft">{name}</dt>
            <dd className="number text-2xl font-semibold tracking-tight">{count(value)}</dd>
            <dd className="text-xs text-soft">{note}</dd>
          </div>
        ))}
      </dl>
      {held > auctions && (
        <p className="text-sm text-soft">
          These figures are based on an even sample: {count(auctions)} of the day’s {count(held)}{' '}
          auctions. The API’s <code>no_fill/</code> covers every auction.
        </p>
      )}
      {!is_complete && <SomeGone />}
      {reasons.length > 0 ? (
        <ReasonList reasons={reasons} />
      ) : (
        <EmptyState title="Every auction had a winner">
          On this day, every auction led to a page that pays you.
        </EmptyState>
      )}
    </>
  )
}

function SomeGone() {
  return (
    <p className="text-sm text-soft">
      Auctions without a click are stored for a few days only. Some from this day may be missing.
    </p>
  )
}

function NoAuctions({ isComplete }: { isComplete: boolean }) {
  return (
    <EmptyState title="No auctions on this day">
      {isComplete ? (
        <p>
          An auction runs whenever a reader opens a page with a{' '}
          <Link to={PATHS.links} className="link">
            smart link
          </Link>
          . Auctions that nobody won are listed here, with the reason and the cost to you.
        </p>
      ) : (
        <p>Auctions without a click are stored for a few days only. Choose a later day.</p>
      )}
    </EmptyState>
  )
}
