/** The latest auctions of a link: winners and earnings over time, and each with its receipt. */
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { shortDay, time } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { type Auction, publisherApi } from '../publisher-api.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { Failure } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { reasonName } from './remedy.ts'
import { WinnerChart } from './winner-chart.tsx'

export function LinkAuctions({ id }: { id: string }) {
  const { pub_id: pubId } = usePublisher()
  const navigate = useNavigate()
  const pages = usePages(['link', pubId, id, 'auctions'], (cursor) =>
    publisherApi.auctions(pubId, id, cursor),
  )
  const auctions = useMemo(() => pages.data?.pages.flatMap(({ rows }) => rows) ?? [], [pages.data])
  if (pages.failureReason !== null) {
    return <Failure error={pages.failureReason} isGoingOn={pages.isFetching} />
  }
  if (pages.isPending) return <TableSkeleton />
  if (auctions.length === 0) return null // The state above says so.
  return (
    <>
      <WinnerChart auctions={auctions} />
      <DataTable
        id="link-auctions"
        label="Latest auctions"
        rows={auctions}
        keyOf={(auction) => auction.auction_result_number}
        columns={COLUMNS}
        sort={{ by: 'at' }}
        onRow={({ auction_result_number: result }) =>
          void navigate({ to: PATHS.receipt, params: { result } })
        }
        note="A row opens its receipt. Auctions without a click are stored for a few days only."
      />
      <NextPage pages={pages} label="Older auctions" />
    </>
  )
}

const COLUMNS: readonly Column<Auction>[] = [
  {
    ...{ id: 'at', head: 'When (UTC)', value: ({ at }) => at },
    cell: ({ at }) => `${shortDay(at)}, ${time(at).slice(0, 'HH:MM'.length)}`,
  },
  {
    ...{ id: 'winner', head: 'Winner' },
    value: ({ merchant_name: name, reason }) =>
      name ?? (reason === null ? 'A merchant' : `None: ${reasonName(reason.word, reason.name)}`),
  },
  {
    ...{ id: 'earns', head: 'You earn a click', kind: 'money' },
    value: ({ earnings_per_click: epc }) => epc,
    cell: ({ earnings_per_click: epc, price }) =>
      epc === null ? '–' : `${Number(price) === 0 ? '≈ ' : ''}$${Number(epc).toFixed(2)}`,
  },
  { id: 'price', head: 'Merchant pays', kind: 'money', value: ({ price }) => price },
  { id: 'reader', head: 'Reader pays', kind: 'money', value: (auction) => auction.reader_price },
  {
    ...{ id: 'competitors', head: 'Competitors', kind: 'count' },
    value: ({ competitors }) => competitors,
  },
  { id: 'clicks', head: 'Clicks', kind: 'count', isSum: true, value: ({ clicks }) => clicks },
]
