/** Lists the entries of a merchant's account in a range of days. */
import type { ReactNode } from 'react'
import { type AccountPage, api, ledgerUrl } from '../api.ts'
import { date, time } from '../format.ts'
import { useRange } from '../range.ts'
import { Amount, type Room, roomFor } from '../ui/amount.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { Parts } from '../ui/parts.tsx'
import { EntryWhy } from './entry-why.tsx'

type Entry = AccountPage['entries'][number]

export function AccountList({ merchId }: { merchId: number }) {
  const [range] = useRange()
  const pages = usePages(['entries', merchId, range], (cursor) =>
    api.entries(merchId, range, cursor),
  )
  const entries = pages.data?.pages.flatMap((page) => page.entries) ?? []
  const room = roomFor(entries.map(({ amount_usd }) => amount_usd))
  return (
    <section aria-label="Account entries" className="space-y-3">
      {pages.isSuccess && entries.length === 0 && <NoEntry />}
      {entries.length > 0 && (
        <a href={ledgerUrl(merchId, range)} download className="link block w-fit text-sm">
          Download all entries of these days as CSV
        </a>
      )}
      {entries.length > 0 && (
        <ul className="panel divide-y divide-line">
          {entries.map((entry) => (
            <EntryLine key={entry.line} merchId={merchId} entry={entry} room={room} />
          ))}
        </ul>
      )}
      <Progress query={pages} />
      <NextPage pages={pages} label="Earlier entries" />
    </section>
  )
}

function EntryLine(props: { merchId: number; entry: Entry; room: Room }) {
  const { merchId, entry, room } = props
  const { day, at, campaign_id: campaign, publisher_name: publisher } = entry
  return (
    <li className="grid grid-cols-[1fr_auto] gap-x-6 px-4 py-2.5 text-sm sm:grid-cols-[7rem_1fr_auto]">
      <time dateTime={at ?? day} className="number col-span-2 text-soft sm:col-span-1">
        {at !== null && time(at)} <span className="block max-sm:inline">{date(day)}</span>
      </time>
      <div className="min-w-0">
        <p className="font-medium">{titleOf(entry)}</p>
        <p className="flex gap-x-1 overflow-hidden text-soft *:truncate">
          <Parts of={[publisher, campaign === null ? null : `campaign ${campaign}`]} />
        </p>
        <EntryWhy merchId={merchId} entry={entry} />
      </div>
      <p className="number text-right font-semibold">
        <Amount value={entry.amount_usd} room={room} />
      </p>
    </li>
  )
}

/** Ids come from other systems and may have another writing direction. */
function titleOf({ kind, order_id: order, payment_reference: payment }: Entry): ReactNode {
  const id = <bdi>{order ?? payment}</bdi>
  switch (kind) {
    case 'click':
      return 'Click'
    case 'reversal':
      return 'Click reversed'
    case 'order':
      return <>Order {id}</>
    case 'revision':
      return <>Order {id}, changed</>
    case 'return':
      return <>Return of order {id}</>
    case 'payment':
      return <>Your payment {id}</>
    case 'payment_reversal':
      return <>Your payment {id} was reversed</>
    default:
      return kind ?? 'Entry without details. Please report this line to the operator.'
  }
}

function NoEntry() {
  return (
    <EmptyState title="No entries in this period">
      Clicks and orders appear here as soon as they cost you something. Your payments appear here
      too.
    </EmptyState>
  )
}
