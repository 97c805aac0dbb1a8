/**
 * The evidence that an order gives to the prediction, as a function of everything known about it.
 *
 * An order counts while it has a click and stands: not while it is held, and not after it was
 * rejected or its click reversed. A revised amount, or another click that turns out to be the right
 * one, removes the old sample exactly and adds the new one.
 */
import { isDeepStrictEqual } from 'node:util'
import { orderFigures } from '../orders/order-figures.ts'
import type { OrderRecord } from '../orders/order-store.ts'
import { negativeEvidence, orderEvidence } from '../prediction/evidence.ts'
import type { PairEvidence } from '../prediction/evidence-store.ts'

/** The change of the evidence when an order's record changes. */
export function sampleChange(before: OrderRecord, after: OrderRecord): PairEvidence[] {
  const [was, is] = [sampleOf(before), sampleOf(after)]
  if (isDeepStrictEqual(was, is)) return []
  const taken = was === null ? [] : [{ ...was, evidence: negativeEvidence(was.evidence) }]
  return [...taken, ...(is === null ? [] : [is])]
}

function sampleOf({ account, merchId }: OrderRecord): PairEvidence | null {
  const { acceptedAtMs, attribution, rejection, isClickReversed } = account
  if (acceptedAtMs === null || attribution === null) return null
  if (attribution.model === 'impression') return null // An impression says nothing about clicks.
  if (rejection !== null || isClickReversed) return null
  const { isHeld, gross } = orderFigures(account)
  if (isHeld || gross.revenueMicros === 0) return null
  const { pubId, clickAtMs } = attribution.owner
  return { pubId, merchId, evidence: orderEvidence(clickAtMs, gross.revenueMicros) }
}
