/** Records a merchant's payment once and reports what it releases per publisher. */

import { appendMoney } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import type { FoldedIntake, IntakeDeps } from '../orders/intake.ts'
import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { formatExact, type Micros, sumExact } from '../platform/money/money.ts'
import { characterCount } from '../platform/text/characters.ts'
import { isPlainDate, latestDay } from '../platform/time/timestamp.ts'
import { matchMerchantDebts } from './debt-store.ts'
import { findPayment, type PaymentBody } from './payment-store.ts'
import { accountOf } from './release.ts'

const REFERENCE_LENGTH_MAX = 100
const RECORDED_ALREADY: Fault = {
  field: 'reference',
  rule: 'of this merchant is recorded already; a payment after its reversal needs another one',
}

export interface NewPayment {
  readonly merchId: number
  readonly amountMicros: Micros | null
  readonly paidOn: string // YYYY-MM-DD
  readonly reference: string
}

/** Records a payment and waits until it is folded. Throws a 400 that names every fault. */
export async function recordPayment(deps: FoldedIntake, payment: NewPayment) {
  const { merchId, amountMicros, paidOn, reference } = payment
  const faults = await faultsOf(deps, payment)
  if (faults.length > 0) throw badRequest(faults)
  const body: PaymentBody = {
    reference,
    paid_on: paidOn,
    amount_micros: amountMicros ?? 0,
  }
  const id = deps.nextId()
  await appendMoney(deps, EVENT_TYPE.payment, [{ id, merchId, body }])
  await deps.folded()
  // Of two concurrent ones the fold takes the earlier one in the log.
  const recorded = await findPayment(deps.db, { merchId, reference })
  if (recorded?.eventId !== id) throw badRequest([RECORDED_ALREADY])
  const matched = await matchMerchantDebts(deps.db, { merchId, until: new Date(deps.now()) })
  const own = matched.releases.filter(({ paymentId, pubId }) => paymentId === id && pubId !== 0)
  return {
    payment_id: id,
    merch_id: merchId,
    reference,
    paid_on: paidOn,
    amount_usd: formatExact(body.amount_micros),
    releases: [...Map.groupBy(own, ({ pubId }) => pubId)].map(([pubId, ofPublisher]) => ({
      pub_id: pubId,
      earnings_usd: formatExact(sumExact(ofPublisher.map(({ earningsMicros }) => earningsMicros))),
      items: ofPublisher.length,
    })),
    ...accountOf(matched),
  }
}

async function faultsOf(
  { db, now }: IntakeDeps,
  { merchId, amountMicros, paidOn, reference }: NewPayment,
): Promise<Fault[]> {
  const isPaidOn = isPlainDate(paidOn)
  return [
    ...(amountMicros !== null && amountMicros > 0
      ? []
      : [{ field: 'amount_usd', rule: 'must be US dollars above 0, such as 120.50' }]),
    ...(isPaidOn ? [] : [{ field: 'paid_on', rule: 'must be a date, such as 2026-03-02' }]),
    ...(isPaidOn && paidOn > latestDay(now())
      ? [{ field: 'paid_on', rule: 'must not lie in the future' }]
      : []),
    ...(reference !== '' && characterCount(reference) <= REFERENCE_LENGTH_MAX
      ? []
      : [{ field: 'reference', rule: `1 to ${REFERENCE_LENGTH_MAX} characters` }]),
    ...((await findPayment(db, { merchId, reference })) === null ? [] : [RECORDED_ALREADY]),
  ]
}
