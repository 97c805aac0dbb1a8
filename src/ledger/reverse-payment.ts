/**
 * Reverses a payment that bounced or was recorded by mistake.
 *
 * The merchant owes the amount again. Earnings that the payment released stay released: they
 * may have been paid already.
 */

import { appendMoney, REASON_LENGTH_MAX } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import type { FoldedIntake } from '../orders/intake.ts'
import { type Fault, notFound, wrongState } from '../platform/errors/api-errors.ts'
import { formatExact } from '../platform/money/money.ts'
import { requireText } from '../platform/text/characters.ts'
import { readAccount } from './debt-store.ts'
import { findPayment, type PaymentReversalBody } from './payment-store.ts'

const REVERSED_ALREADY: Fault = {
  field: 'reference',
  rule: 'this payment was reversed before; at most once each',
}

export interface WantedPaymentReversal {
  readonly merchId: number
  readonly reference: string
  readonly reason: string
}

/**
 * Reverses a payment and waits until that is folded. Throws a 404 for an unknown payment, a 409 for
 * one that was reversed before, a 400 for a missing reason.
 */
export async function reversePayment(
  deps: FoldedIntake,
  { merchId, reference, ...wanted }: WantedPaymentReversal,
) {
  const reason = requireText('reason', wanted.reason, REASON_LENGTH_MAX)
  const payment = await findPayment(deps.db, { merchId, reference })
  if (payment === null) {
    const message = `The merchant has no payment ${reference}; souk payment list shows them`
    throw notFound(message)
  }
  if (payment.reversalId !== null) throw wrongState(REVERSED_ALREADY)
  const body: PaymentReversalBody = { reference, reason }
  const id = deps.nextId()
  await appendMoney(deps, EVENT_TYPE.paymentReversal, [{ id, merchId, body }])
  await deps.folded()
  // Of two concurrent ones the fold takes the earlier one in the log.
  const reversed = await findPayment(deps.db, { merchId, reference })
  if (reversed?.reversalId !== id) throw wrongState(REVERSED_ALREADY)
  const until = new Date(deps.now())
  return {
    payment_id: payment.eventId,
    merch_id: merchId,
    reference,
    amount_usd: formatExact(payment.amountMicros),
    reason,
    ...(await readAccount(deps.db, { merchId, until })),
  }
}
