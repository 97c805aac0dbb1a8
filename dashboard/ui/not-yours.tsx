/** An address that names somebody else's publisher or merchant: says so, and offers one's own. */
import { useAddress } from '../address.ts'
import { EmptyState } from './notice.tsx'

/** As many as fit on a screen; the menu has all. */
const OFFERED_MAX = 6

export function NotYours(props: {
  readonly kind: 'publisher' | 'merchant'
  readonly id: number
  readonly own: readonly { readonly id: number; readonly name: string }[]
}) {
  const { kind, id, own } = props
  const [, change] = useAddress()
  return (
    <EmptyState title={`This ${kind} is not yours`} isPage>
      <p>
        The address names {kind} {id}. Your account does not belong to it, or it does not exist.
        {own.length > 0 ? ' Show one of yours instead:' : ''}
      </p>
      <div className="mt-4 flex flex-wrap justify-center gap-2">
        {own.slice(0, OFFERED_MAX).map((one) => (
          <button
            key={one.id}
            type="button"
            className="button"
            onClick={() => change(kind === 'publisher' ? { pub: one.id } : { merch: one.id })}
          >
            <bdi>{one.name}</bdi>
          </button>
        ))}
      </div>
    </EmptyState>
  )
}
