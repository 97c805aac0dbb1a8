/** Reports of orders and returns that were refused, or accepted with warnings, with the reasons. */
import { useQuery } from '@tanstack/react-query'
import { api, type Refusal } from '../api.ts'
import { date, time } from '../format.ts'
import { CodeBlock } from '../ui/code-block.tsx'

export function RefusedList({ merchId }: { merchId: number }) {
  const { data: refused = [] } = useQuery({
    queryKey: ['refused', merchId],
    queryFn: () => api.refused(merchId),
  })
  if (refused.length === 0) return null
  return (
    <section aria-labelledby="refused" className="panel">
      <div className="px-4 pt-3 pb-2">
        <h2 id="refused">Refused reports and warnings</h2>
        <p className="text-sm text-soft">
          Reports of your shop that we could not use as they were. Correct them and send them again.
        </p>
      </div>
      <ul className="divide-y divide-line border-t border-line">
        {refused.map((refusal) => (
          <RefusalLine key={refusal.refused_id} refusal={refusal} />
        ))}
      </ul>
    </section>
  )
}

const ENDPOINTS: Readonly<Record<string, string>> = {
  orders: 'Order from your server',
  returns: 'Return from your server',
  checkout: 'Order from a browser',
}

function RefusalLine({ refusal }: { refusal: Refusal }) {
  const { at, endpoint, origin, reason, faults, body, is_accepted: isAccepted } = refusal
  return (
    <li className="grid gap-x-6 gap-y-1 px-4 py-2.5 text-sm sm:grid-cols-[12rem_1fr]">
      <div className="text-soft">
        <time dateTime={at} className="number">
          {date(at)}, {time(at).slice(0, 5)} UTC
        </time>
        <span className={`chip mt-1 block w-fit ${isAccepted ? '' : 'bg-bad-tint text-bad'}`}>
          {isAccepted ? 'Accepted' : 'Refused'}
        </span>
      </div>
      <div className="min-w-0">
        <p className="text-soft">
          {ENDPOINTS[endpoint] ?? endpoint}
          {origin !== null && (
            <>
              , <bdi>{origin}</bdi>
            </>
          )}
        </p>
        {faults.length === 0 ? (
          <p className={isAccepted ? '' : 'text-bad'}>{reason}</p>
        ) : (
          <ul>
            {faults.map(({ field, rule }) => (
              <li key={`${field} ${rule}`} className={isAccepted ? '' : 'text-bad'}>
                <code className="text-[0.8125rem] wrap-anywhere">{field}</code>: {rule}
              </li>
            ))}
          </ul>
        )}
        <details className="mt-1">
          <summary className="link w-fit">
            Message<span className="sr-only"> of {time(at)}</span>
          </summary>
          <CodeBlock label="Message" text={pretty(body)} />
        </details>
      </div>
    </li>
  )
}

/** JSON with line breaks; anything else as it was sent. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
