/** A publisher's figures by any property. A click on a row filters everything else by it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useAddress } from '../address.ts'
import { type BreakdownRow, readBreakdown } from '../breakdown-api.ts'
import { PERFORMANCE_FIGURES, shownFigure, totalOf } from '../figures.ts'
import { usePublisher, usePublisherSettings } from '../organization.ts'
import type { Group } from '../paths.ts'
import { useChosenRange } from '../range.ts'
import { utcDay } from '../range-days.ts'
import { FigureCards } from '../ui/figure-cards.tsx'
import { Progress } from '../ui/notice.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { CardsSkeleton } from '../ui/skeleton.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { TimeChart } from '../ui/time-chart.tsx'
import { FilterChips } from './filter-chips.tsx'
import { PerformanceTable } from './performance-table.tsx'

const TABS = [
  { value: 'article', label: 'Articles' },
  { value: 'link', label: 'Links' },
  { value: 'merchant', label: 'Merchants' },
  { value: 'product', label: 'Products' },
  { value: 'device', label: 'Devices' },
  { value: 'country', label: 'Countries' },
  { value: 'time', label: 'Time' },
] as const satisfies readonly { value: Group; label: string }[]

const NO_FILTERS = {}

/** The answer for a range and filters, by day; by hour for a single day. */
function useTimes() {
  const { pub_id: pubId } = usePublisher()
  const range = useChosenRange()
  const [{ only = NO_FILTERS }] = useAddress()
  const group = range.from === range.to ? 'hour' : 'day'
  return useQuery({
    queryKey: ['breakdown', pubId, range, group, only],
    queryFn: () => readBreakdown(pubId, { range, group, only }),
    placeholderData: keepPreviousData,
  })
}

export function PerformancePage() {
  const settings = usePublisherSettings()
  const ownZone = settings.data?.time_zone
  const { isUtc } = useChosenRange()
  const times = useTimes()
  const [{ by = 'article' }, change] = useAddress()
  const zone = isUtc ? 'UTC' : (ownZone ?? 'UTC')
  return (
    <div className="space-y-4">
      <RangeTitle isCompared {...(ownZone === undefined ? {} : { ownZone })}>
        Performance
      </RangeTitle>
      <FilterChips />
      {times.isPending && times.failureReason === null ? (
        <CardsSkeleton cards={6} />
      ) : (
        <Progress query={times} />
      )}
      {times.data !== undefined && (
        <div
          aria-busy={times.isPlaceholderData}
          className="space-y-4 aria-busy:opacity-40 aria-busy:transition-opacity aria-busy:delay-300"
        >
          <Summary rows={times.data.rows} zone={zone} />
        </div>
      )}
      <Tabs
        label="Break down by"
        tabs={TABS}
        value={by}
        onChange={(next) =>
          change(
            { by: next === 'article' ? undefined : next },
            { replace: true, resetScroll: false },
          )
        }
      >
        <PerformanceTable group={by} />
      </Tabs>
    </div>
  )
}

function Summary({ rows, zone }: { rows: readonly BreakdownRow[]; zone: string }) {
  const [{ figure = 'earnings' }, change] = useAddress()
  const chosen = PERFORMANCE_FIGURES.find(({ id }) => id === figure) ?? PERFORMANCE_FIGURES[0]
  const cards = PERFORMANCE_FIGURES.map(({ id, label, field, isMoney }) => {
    const total = totalOf(rows, field)
    return { id, label, total, text: shownFigure(total.value, isMoney) }
  })
  const points = useMemo(
    () =>
      rows.map((row) => {
        const before = row[`compared_${chosen.field}`]
        return {
          at: row.hour ?? row.day ?? '',
          value: Number(row[chosen.field] ?? 0),
          before: before === null ? null : Number(before),
        }
      }),
    [rows, chosen],
  )
  const isHours = points[0]?.at.includes('T') === true
  return (
    <>
      <FigureCards
        cards={cards}
        chosen={chosen.id}
        onChoose={(id) =>
          change(
            { figure: id === 'earnings' ? undefined : id },
            // The back button leaves the page, instead of undoing a selection.
            { replace: true, resetScroll: false },
          )
        }
      />
      <TimeChart
        label={chosen.label}
        points={points}
        isMoney={chosen.isMoney}
        zone={zone}
        openFrom={openFrom(isHours, zone)}
        onOpen={isHours ? undefined : (day) => change({ from: day, to: day })}
      />
    </>
  )
}

/** The present day or hour in a time zone, which is not over. */
function openFrom(isHours: boolean, zone: string): string {
  if (zone === 'UTC' && !isHours) return utcDay(Date.now())
  const options = { timeZone: zone, dateStyle: 'short', timeStyle: 'short' } as const
  // Sweden writes dates and times as ISO 8601 does.
  const [day = '', time = ''] = new Intl.DateTimeFormat('sv-SE', options)
    .format(Date.now())
    .split(' ')
  return isHours ? `${day}T${time.slice(0, 2)}:00` : day
}
