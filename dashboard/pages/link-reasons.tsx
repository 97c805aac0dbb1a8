/** Why a link's latest auctions had no winner, the most costly reason first. */
import { useQuery } from '@tanstack/react-query'
import { Link as RouteLink } from '@tanstack/react-router'
import { cents, count, percent } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { publisherApi, type Reason } from '../publisher-api.ts'
import { Progress } from '../ui/notice.tsx'
import { reasonName, remedy } from './remedy.ts'

const MICROS = 1_000_000

export function LinkReasons({ id }: { id: string }) {
  const { pub_id: pubId } = usePublisher()
  const explained = useQuery({
    queryKey: ['link', pubId, id, 'explanation'],
    queryFn: () => publisherApi.explanation(pubId, id),
    staleTime: 60_000,
  })
  if (explained.data === undefined) return <Progress query={explained} />
  const { auctions, unfilled, reasons } = explained.data
  if (auctions === 0) {
    return (
      <p className="max-w-prose text-sm text-soft">
        No auction of the last days is stored. One runs whenever a reader opens a page with this
        link.
      </p>
    )
  }
  if (unfilled === 0) {
    return (
      <p className="text-sm text-soft">
        A merchant won each of its latest {count(auctions)} auctions.
      </p>
    )
  }
  return (
    <div className="space-y-2">
      <p className="text-sm">
        {count(unfilled)} of its latest {count(auctions)} auctions (
        {percent(unfilled / auctions, 0)}) had no winner:
      </p>
      <ol className="divide-y divide-line rounded-lg border border-line">
        {reasons.map((reason) => (
          <Line key={reason.code} reason={reason} />
        ))}
      </ol>
    </div>
  )
}

function Line({ reason }: { reason: Reason }) {
  const { name, sentence, auctions, missed_if_clicked_micros: missed, word } = reason
  const advice = remedy(word)
  return (
    <li className="space-y-1 px-3 py-2.5 text-sm">
      <p className="flex flex-wrap justify-between gap-x-4">
        <span className="font-medium">{reasonName(word, name)}</span>
        {missed > 0 && (
          <span className="number">
            {cents(String(missed / auctions / MICROS))} a click without this check
          </span>
        )}
      </p>
      <p className="max-w-prose">{sentence}</p>
      {advice !== null && <p className="max-w-prose text-soft">{advice}</p>}
      <RouteLink
        to={PATHS.receipt}
        params={{ result: reason.auction_result_number }}
        className="link"
      >
        Receipt
      </RouteLink>
    </li>
  )
}
