/** The number of clicks by validity and reason. */
import type { ClickPage } from '../api.ts'
import { count } from '../format.ts'

export function ClickReasons({ reasons }: { reasons: ClickPage['reasons'] }) {
  return (
    <dl className="panel grid grid-cols-[auto_1fr] gap-x-3 gap-y-2 px-4 py-3 text-sm sm:grid-cols-[auto_1fr_auto_1fr]">
      {reasons.map(({ reason, why, clicks }) => (
        <div key={reason} className="col-span-2 grid grid-cols-subgrid">
          <dt className={`order-last ${reason === 'ok' ? '' : 'text-soft'}`}>
            {reason === 'ok' ? 'Valid clicks' : why}
          </dt>
          <dd className="number text-right font-semibold">{count(clicks)}</dd>
        </div>
      ))}
    </dl>
  )
}
