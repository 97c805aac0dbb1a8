/** A merchant's performance: auctions entered and won, price against bid, cost and revenue. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useAddress } from '../address.ts'
import { api, type Performance, type PerformanceGroup, type Range } from '../api.ts'
import { shortDay } from '../format.ts'
import { useMerchant } from '../organization.ts'
import { lossesOf } from '../performance-sums.ts'
import { type ChosenRange, useChosenRange } from '../range.ts'
import { NONE } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { CardsSkeleton, TableSkeleton } from '../ui/skeleton.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { LossReasons } from './loss-reasons.tsx'
import { PerformanceCards } from './performance-cards.tsx'
import { columnsOf } from './performance-columns.tsx'

export const GROUPS = [
  { value: 'campaign', label: 'Campaigns' },
  { value: 'publisher', label: 'Publishers' },
  { value: 'product', label: 'Products' },
  { value: 'device', label: 'Devices' },
  { value: 'country', label: 'Countries' },
  { value: 'day', label: 'Days' },
] as const satisfies readonly { value: PerformanceGroup; label: string }[]

export function MerchantPerformancePage() {
  const { merch_id: merchId, name } = useMerchant()
  const chosen = useChosenRange()
  const [{ campaign }, change] = useAddress()
  const days = useDays(merchId, chosen, campaign)
  return (
    <div className="space-y-5">
      <RangeTitle name={name} isCompared>
        {' · Performance'}
      </RangeTitle>
      <p className="max-w-prose text-soft">
        Each time a reader opens an article with a product that you sell, your campaigns compete for
        the click. Figures of today follow within seconds.
      </p>
      {campaign !== undefined && (
        <p className="flex flex-wrap items-center gap-2">
          <span className="chip bg-tint text-accent">Only campaign {campaign}</span>
          <button
            type="button"
            className="button button-small"
            onClick={() => change({ campaign: undefined }, { resetScroll: false })}
          >
            Show all campaigns
          </button>
        </p>
      )}
      {days.now.failureReason !== null && <Progress query={days.now} />}
      {days.now.data === undefined ? (
        <CardsSkeleton cards={5} />
      ) : (
        <PerformanceCards rows={days.now.data} before={days.before.data} range={chosen} />
      )}
      <Groups merchId={merchId} range={chosen} campaign={campaign} />
      {days.now.data !== undefined && <LossReasons losses={lossesOf(days.now.data)} />}
    </div>
  )
}

/** The figures by day, of the range and of the compared one. */
function useDays(merchId: number, chosen: ChosenRange, campaign: number | undefined) {
  const { from, to, before } = chosen
  const read = (range: Range | null) => ({
    queryKey: ['performance', merchId, range, 'day', campaign],
    queryFn: () => api.performance(merchId, range ?? { from, to }, { group: 'day', campaign }),
    enabled: range !== null,
  })
  return { now: useQuery(read({ from, to })), before: useQuery(read(before)) }
}

function Groups(props: { merchId: number; range: Range; campaign: number | undefined }) {
  const { merchId, campaign } = props
  const { from, to } = props.range
  const [{ view }, change] = useAddress()
  const group = GROUPS.find(({ value }) => value === view)?.value ?? 'campaign'
  const range = { from, to }
  const performance = useQuery({
    queryKey: ['performance', merchId, range, group, campaign],
    queryFn: () => api.performance(merchId, range, { group, campaign }),
  })
  const columns = useMemo(() => columnsOf(group, nameOf), [group])
  const label = GROUPS.find(({ value }) => value === group)?.label ?? ''
  return (
    <Tabs
      label="Group by"
      tabs={GROUPS}
      value={group}
      onChange={(next) => change({ view: next }, { replace: true, resetScroll: false })}
    >
      {performance.data === undefined ? (
        performance.failureReason === null ? (
          <TableSkeleton rows={6} />
        ) : (
          <Progress query={performance} />
        )
      ) : (
        <DataTable
          key={group}
          id={`performance-${group}`}
          label={label}
          rows={performance.data}
          keyOf={keyOf}
          columns={columns}
          sort={group === 'day' ? { by: 'name' } : { by: 'cost' }}
          {...rowAction(group, change)}
          empty={<NoAuction />}
          note={hintOf(group)}
        />
      )}
    </Tabs>
  )
}

type Change = ReturnType<typeof useAddress>[1]

/** The API limits figures to one campaign or to fewer days, so these rows can be clicked. */
function rowAction(group: PerformanceGroup, change: Change) {
  if (group === 'campaign') {
    return {
      onRow: ({ campaign_id: id }: Performance) =>
        change({ campaign: id ?? undefined, view: 'product' }, { resetScroll: false }),
    }
  }
  if (group !== 'day') return {}
  return {
    onRow: ({ day }: Performance) =>
      change({ from: day ?? undefined, to: day ?? undefined, view: 'product' }),
  }
}

function hintOf(group: PerformanceGroup): string {
  if (group === 'campaign') return 'Choose a campaign to see only its products and publishers.'
  if (group === 'day') return 'Choose a day to see only its products and publishers.'
  return 'The first 500 rows by cost.'
}

const keyOf = (row: Performance): string =>
  [row.day, row.campaign_id, row.pub_id, row.offer_id, row.device, row.country].join(' ')

export function nameOf(row: Performance): string {
  if (row.day !== null) return shortDay(row.day)
  if (row.campaign_id !== null) return `Campaign ${row.campaign_id}`
  if (row.pub_id !== null) return row.publisher_name ?? `Publisher ${row.pub_id}`
  if (row.offer_id !== null) return row.title ?? 'Pages of your shop that are not in your feed'
  if (row.device !== null) return DEVICES[row.device] ?? 'Unknown device'
  return row.country === 'ZZ' || row.country === null ? 'Unknown country' : countryOf(row.country)
}

const DEVICES: Readonly<Record<string, string>> = {
  desktop: 'Desktop',
  mobile: 'Phone',
  tablet: 'Tablet',
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

function countryOf(code: string): string {
  try {
    return COUNTRIES.of(code) ?? NONE
  } catch {
    return code
  }
}

function NoAuction() {
  return (
    <EmptyState title="No auction in these days">
      Your campaigns enter an auction as soon as an article links to a product in your feed. Choose
      other days, or check that a campaign runs and your feed is up to date.
    </EmptyState>
  )
}
