/** Lists a merchant's refused order and return reports with the reasons. */
import { useQuery } from '@tanstack/react-query'
import { api, type Refusal } from '../api.ts'
import { date, time } from '../format.ts'

export function RefusedList({ merchId }: { merchId: number }) {
  const { data: refused = [] } = useQuery({
    queryKey: ['refused', merchId],
    queryFn: () => api.refused(merchId),
  })
  if (refused.length === 0) return null
  return (
    <details className="panel">
      <summary className="px-4 py-3 text-base font-semibold">
        Refused orders and returns, and warnings
      </summary>
      <ul className="divide-y divide-line border-t border-line">
        {refused.map((refusal) => (
          <RefusalLine key={refusal.refused_id} refusal={refusal} />
        ))}
      </ul>
    </details>
  )
}

function RefusalLine({ refusal }: { refusal: Refusal }) {
  const { at, endpoint, origin, reason, faults, body, is_accepted: isAccepted } = refusal
  return (
    <li className="px-4 py-3 text-sm">
      <p className="text-soft">
        <time dateTime={at} className="number">
          {time(at)} UTC, {date(at)}
        </time>
        , {endpoint}
        {origin !== null && `, from ${origin}`}
      </p>
      <p className={isAccepted ? 'mt-1' : 'mt-1 text-bad'}>
        {isAccepted && 'Accepted. '}
        {faults.length === 0
          ? reason
          : faults.map(({ field, rule }) => `${field}: ${rule}`).join('; ')}
      </p>
      <code className="code mt-2 max-h-40 whitespace-pre-wrap wrap-anywhere">{body}</code>
    </li>
  )
}
