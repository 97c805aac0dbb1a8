/** Sentences about an order for its merchant: its cost, its state, and the click behind it. */
import type { MerchantOrder } from '../api.ts'
import { count, date, dollars, percent, time } from '../format.ts'

export function costWords({ terms, revenue_usd, commission_usd }: MerchantOrder): string {
  if (terms === null) return 'No click of a smart link led to this order, so it costs nothing.'
  const { rate, payment_usd: payment, model } = terms
  if (model === 'cpc') return 'The click was paid for, so the order itself costs nothing.'
  if (rate !== null) {
    return `${percent(rate)} of ${dollars(revenue_usd)} is ${dollars(commission_usd)}.`
  }
  return `A fixed payment of ${dollars(payment ?? commission_usd)} per order, whatever its value.`
}

export function orderStateWords(order: MerchantOrder): string {
  const { state, hold, locks_at, reject_reason: reason } = order
  // A rejected order keeps the hold that it had.
  if (state === 'REJECTED') {
    return `Rejected: ${reason === 'cancelled' ? 'you cancelled it' : reason}.`
  }
  if (hold === 'review') return 'It waits for your approval.'
  if (hold === 'no_rate') return 'It waits for the exchange rate of its day.'
  if (locks_at === null) return ''
  return `${state === 'PENDING' ? 'You may cancel it until' : 'Final since'} ${date(locks_at)}.`
}

export function clickWords({ evidence, attribution }: MerchantOrder): string | null {
  const won = evidence.find(({ verdict }) => verdict === 'won')
  if (won === undefined) return null
  const at = won.clicked_at === null ? '' : ` of ${date(won.clicked_at)}, ${time(won.clicked_at)}`
  const what = attribution === 'impression' ? 'a view of the link' : `the click${at}`
  return evidence.length > 1 ? `${what} (${count(evidence.length)} candidates)` : what
}
