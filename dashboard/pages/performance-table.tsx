/** The rows of one tab of Performance, compared with the other period. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useAddress } from '../address.ts'
import { type BreakdownRow, keyOf, readBreakdown } from '../breakdown-api.ts'
import { shownFigure, totalOf } from '../figures.ts'
import { date, shortUrl } from '../format.ts'
import { usePublisher } from '../organization.ts'
import type { Group } from '../paths.ts'
import { useChosenRange } from '../range.ts'
import type { Column, Value } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { Change } from '../ui/figure-cards.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'

const NO_FILTERS = {}

export function PerformanceTable({ group }: { group: Group }) {
  const { pub_id: pubId } = usePublisher()
  const range = useChosenRange()
  const [{ only = NO_FILTERS }, change] = useAddress()
  const wanted = group !== 'time' ? group : range.from === range.to ? 'hour' : 'day'
  const query = useQuery({
    queryKey: ['breakdown', pubId, range, wanted, only],
    queryFn: () => readBreakdown(pubId, { range, group: wanted, only }),
    placeholderData: keepPreviousData,
  })
  const isCompared = range.compare !== null
  const columns = useMemo(() => columnsOf(group, isCompared), [group, isCompared])
  if (query.data === undefined || (query.isPlaceholderData && query.isFetching)) {
    return query.failureReason === null ? <TableSkeleton /> : <Progress query={query} />
  }
  const { rows, areCut } = query.data
  const open = (row: BreakdownRow) => {
    const key = keyOf(row, group)
    if (key === null) return
    if (group !== 'time') change({ only: { ...only, [group]: key } })
    else if (row.day !== null) change({ from: row.day, to: row.day })
  }
  return (
    <DataTable
      key={group}
      id={`performance-${group}`}
      label={LABELS[group]}
      isBare
      rows={rows}
      keyOf={(row) => keyOf(row, group) ?? 'none'}
      columns={columns}
      sort={group === 'time' ? { by: 'name' } : { by: 'earnings' }}
      onRow={open}
      empty={
        <EmptyState title="No figures for these days">
          Choose more days, or remove a filter. Views and clicks appear here within seconds.
        </EmptyState>
      }
      {...(areCut ? { note: `The ${rows.length} rows with the highest earnings.` } : {})}
    />
  )
}

const LABELS: Readonly<Record<Group, string>> = {
  article: 'Articles',
  link: 'Links',
  merchant: 'Merchants',
  product: 'Products',
  device: 'Devices',
  country: 'Countries',
  time: 'Times',
}

const HEADS: Readonly<Record<Group, string>> = {
  article: 'Article',
  link: 'Link',
  merchant: 'Merchant',
  product: 'Product',
  device: 'Device',
  country: 'Country',
  time: 'Time',
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' })

function nameOf(row: BreakdownRow, group: Group): string {
  switch (group) {
    case 'article':
      return row.name?.trim() || shortUrl(row.url ?? '') || 'No article'
    case 'link':
      return row.url ? shortUrl(row.url) : 'Link without a URL'
    case 'merchant':
      return row.name ?? (row.merch_id === null ? 'No merchant' : `Merchant ${row.merch_id}`)
    case 'product':
      return row.name ?? (row.product_id === null ? 'No product' : `Product ${row.product_id}`)
    case 'device':
      return DEVICES[row.device ?? ''] ?? 'Unknown device'
    case 'country':
      return row.country === null ? 'Unknown country' : (COUNTRIES.of(row.country) ?? row.country)
    case 'time':
      return row.hour ?? row.day ?? ''
  }
}

const DEVICES: Readonly<Record<string, string>> = {
  desktop: 'Desktop',
  mobile: 'Phone',
  tablet: 'Tablet',
}

type Field = 'earnings' | 'clicks' | 'earnings_per_click' | 'orders' | 'revenue' | 'page_views'

function columnsOf(group: Group, isCompared: boolean): Column<BreakdownRow>[] {
  const name: Column<BreakdownRow> = {
    ...{ id: 'name', head: HEADS[group], value: (row: BreakdownRow) => nameOf(row, group) },
    ...(group === 'time' ? { cell: (row: BreakdownRow) => spellTime(row) } : {}),
  }
  const figure = (field: Field, head: string, kind: 'money' | 'count'): Column<BreakdownRow> => ({
    ...{ id: field, head, kind, isSum: true },
    value: (row) => row[field],
  })
  const epc: Column<BreakdownRow> = {
    ...figure('earnings_per_click', 'Per click', 'money'),
    total: (rows) => shownFigure(totalOf(rows, 'earnings_per_click').value, true),
  }
  // Elsewhere a view would count once for each row.
  const hasViews = group === 'article' || group === 'time'
  return [
    name,
    figure('earnings', 'Earnings', 'money'),
    ...(isCompared ? [changeColumn('earnings')] : []),
    figure('clicks', 'Clicks', 'count'),
    ...(isCompared ? [changeColumn('clicks')] : []),
    epc,
    ...(hasViews ? [figure('page_views', 'Page views', 'count')] : []),
    figure('orders', 'Orders', 'count'),
    figure('revenue', 'Revenue', 'money'),
    {
      ...{ id: 'invalid_clicks', head: 'Unpaid clicks', kind: 'count', isSum: true },
      ...{ isHidden: true, value: (row) => row.invalid_clicks },
    },
  ]
}

const spellTime = ({ hour, day }: BreakdownRow): string =>
  hour === null ? date(day ?? '') : hour.slice('YYYY-MM-DDT'.length)

/** The relative change against the compared period. */
function changeColumn(field: 'earnings' | 'clicks'): Column<BreakdownRow> {
  const total = (row: BreakdownRow) => {
    const before = row[`compared_${field}`]
    return { value: Number(row[field]), before: before === null ? null : Number(before) }
  }
  return {
    ...{ id: `${field}_change`, head: 'Change', kind: 'share' },
    value: (row): Value => {
      const { value, before } = total(row)
      return before === null || before === 0 ? null : (value - before) / Math.abs(before)
    },
    cell: (row) => <Change total={total(row)} />,
    total: (rows) => {
      const sum = totalOf(rows, field)
      return sum.value === null || !sum.before
        ? ''
        : `${(((sum.value - sum.before) / sum.before) * 100).toFixed(1)} %`
    },
  }
}
