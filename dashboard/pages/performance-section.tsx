/** A merchant's auctions: how often its campaigns win, at what price, and why they lose. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { lossReasonOf } from '../../src/auction/loss-reason.ts'
import { api, type Performance, type PerformanceGroup, type Range } from '../api.ts'
import { cents, count, dollars, percent, shortDay } from '../format.ts'
import { Choice } from '../ui/choice.tsx'
import { type MoneyColumn, MoneyTable } from '../ui/money-table.tsx'
import { Progress } from '../ui/notice.tsx'

const GROUPS = [
  { value: 'campaign', label: 'Campaign' },
  { value: 'publisher', label: 'Publisher' },
  { value: 'product', label: 'Product' },
  { value: 'device', label: 'Device' },
  { value: 'country', label: 'Country' },
  { value: 'day', label: 'Day' },
] as const

export function PerformanceSection({ merchId, range }: { merchId: number; range: Range }) {
  const [group, setGroup] = useState<PerformanceGroup>('campaign')
  const performance = useQuery({
    queryKey: ['performance', merchId, range, group],
    queryFn: () => api.performance(merchId, range, group),
    placeholderData: (before) => before,
  })
  const rows = performance.data ?? []
  return (
    <section aria-labelledby="auctions" className="space-y-3">
      <h2 id="auctions">Auctions</h2>
      <p className="max-w-prose text-sm text-soft">
        Each time a reader opens an article with a product that you sell, your campaigns compete for
        the click.
      </p>
      <Choice label="Group by" options={GROUPS} value={group} onChange={setGroup} />
      <Progress query={performance} />
      {performance.data !== undefined && rows.length === 0 && (
        <p className="panel px-4 py-3 text-sm text-soft">
          No auction in these days. Your campaigns enter one as soon as an article links to a
          product in your feed.
        </p>
      )}
      {rows.length > 0 && (
        <>
          <MoneyTable
            id="performance"
            title={`By ${group}`}
            rows={rows}
            keyOf={nameOf}
            name={{
              head: GROUPS.find(({ value }) => value === group)?.label ?? '',
              cell: (row) => <bdi>{nameOf(row)}</bdi>,
            }}
            columns={COLUMNS}
          />
          <LossReasons rows={rows} />
        </>
      )}
    </section>
  )
}

const COLUMNS: readonly MoneyColumn<Performance>[] = [
  { head: 'Auctions', cell: (row) => count(row.auctions) },
  { head: 'Won', cell: (row) => (row.win_rate === null ? '–' : percent(row.win_rate, 1)) },
  { head: 'Average bid', cell: (row) => (row.average_bid === null ? '–' : cents(row.average_bid)) },
  {
    head: 'Average price',
    cell: (row) => (row.average_price === null ? '–' : cents(row.average_price)),
  },
  { head: 'Clicks', cell: (row) => count(row.clicks) },
  { head: 'Cost', cell: (row) => cents(row.cost) },
  { head: 'Orders', cell: (row) => count(row.orders) },
  { head: 'Revenue', cell: (row) => cents(row.revenue) },
  {
    head: 'Revenue per $1',
    cell: (row) => (row.roas === null ? '–' : dollars(row.roas.toFixed(2))),
  },
]

function nameOf(row: Performance): string {
  if (row.day !== null) return shortDay(row.day)
  if (row.campaign_id !== null) return `Campaign ${row.campaign_id}`
  if (row.pub_id !== null) return row.publisher_name ?? `Publisher ${row.pub_id}`
  if (row.offer_id !== null) return row.title ?? 'Pages of your shop that are not in your feed'
  if (row.device !== null) return row.device === 'unknown' ? 'Unknown device' : row.device
  return row.country === 'ZZ' || row.country === null ? 'Unknown country' : row.country
}

/** Why auctions were lost, the most frequent reason first, with what to change. */
function LossReasons({ rows }: { rows: readonly Performance[] }) {
  const counts = new Map<string, number>()
  for (const { lost } of rows) {
    for (const [word, lostHere] of Object.entries(lost)) {
      counts.set(word, (counts.get(word) ?? 0) + (lostHere ?? 0))
    }
  }
  const reasons = [...counts].toSorted(([, one], [, other]) => other - one)
  const total = reasons.reduce((sum, [, lost]) => sum + lost, 0)
  if (total === 0) return null
  return (
    <div className="panel px-4 py-3">
      <h3 className="font-semibold">Why auctions were lost</h3>
      <ul className="mt-2 space-y-2 text-sm">
        {reasons.map(([word, lost]) => (
          <li key={word} className="grid grid-cols-[4rem_1fr] gap-x-3 sm:grid-cols-[4rem_8rem_1fr]">
            <span className="number text-right font-semibold">{percent(lost / total, 0)}</span>
            <meter
              aria-hidden="true"
              className="score mt-1.5 h-2 w-full max-sm:hidden"
              min={0}
              max={1}
              value={lost / total}
            />
            <span>{lossReasonOf(word)?.merchant ?? word}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
