/** The state of an order in the merchant's words. */
import type { ShopOrder } from '../merchant-api.ts'

type State = Pick<ShopOrder, 'state' | 'hold'>

const WORDS: Readonly<Record<ShopOrder['state'], string>> = {
  PENDING: 'Can change',
  LOCKED: 'Final',
  PAID: 'Paid',
  REJECTED: 'Rejected',
}

export const isWaiting = ({ state, hold }: State): boolean =>
  state !== 'REJECTED' && hold === 'review'

export function stateWords({ state, hold }: State): string {
  if (state === 'REJECTED') return WORDS.REJECTED // It keeps the hold that it had.
  if (hold === 'review') return 'Waits for you'
  if (hold === 'no_rate') return 'Waits for a rate'
  return WORDS[state]
}

export function OrderState({ order }: { order: State }) {
  const tone =
    order.state === 'REJECTED'
      ? 'bg-bad-tint text-bad'
      : order.hold !== null
        ? 'bg-second-tint text-second'
        : order.state === 'PENDING'
          ? ''
          : 'bg-tint text-accent'
  return <span className={`chip ${tone}`}>{stateWords(order)}</span>
}
