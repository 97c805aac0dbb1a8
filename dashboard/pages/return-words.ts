/** A return in the merchant's words: its goods, its state, and why it was refused. */

import { count } from '../format.ts'
import type { ShopReturn } from '../merchant-api.ts'

type Goods = Pick<ShopReturn, 'quantity' | 'amount' | 'currency'>

export function goodsOf({ quantity, amount, currency }: Goods): string {
  if (amount !== null) return `${amount} ${currency ?? ''}`
  return quantity === 1 ? '1 item' : `${count(quantity)} items`
}

export const RETURN_STATES: Readonly<Record<string, string>> = {
  applied: 'Applied',
  refused: 'Refused',
  waiting: 'Waits for its order',
}

const REFUSALS: Readonly<Record<string, string>> = {
  unknown_line: 'The order has no such product.',
  over_quantity: 'More pieces than were bought and not yet returned.',
  over_amount: 'More than is left of the order’s value.',
  other_currency: 'The amount is not in the order’s currency.',
}

export const refusalOf = (reason: string | null): string | null =>
  reason === null ? null : (REFUSALS[reason] ?? reason)
