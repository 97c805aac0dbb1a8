/**
 * What an order teaches the prediction (economics 3), as a function of all that is known of it.
 *
 * An order counts while somebody led to it and it stands: not while it is held, and no longer once
 * it is rejected or its click was found invalid. A revised amount, or another click that turns out
 * to have led to it, takes the old lesson back to the last digit and gives the new one.
 */
import { isDeepStrictEqual } from 'node:util'
import { figuresOf } from '../attribution/order-figures.ts'
import type { OrderRecord } from '../attribution/order-store.ts'
import { negativeEvidence, orderEvidence } from '../demand/evidence.ts'
import type { PairEvidence } from '../demand/evidence-store.ts'

/** What is to be added to the evidence when an order's record changes. */
export function lessonChange(before: OrderRecord, after: OrderRecord): PairEvidence[] {
  const [was, is] = [lessonOf(before), lessonOf(after)]
  if (isDeepStrictEqual(was, is)) return []
  const taken = was === null ? [] : [{ ...was, evidence: negativeEvidence(was.evidence) }]
  return [...taken, ...(is === null ? [] : [is])]
}

function lessonOf({ account, merchId }: OrderRecord): PairEvidence | null {
  const { acceptedAtMs, attribution, rejection, isClickReversed } = account
  if (acceptedAtMs === null || attribution === null) return null
  if (attribution.model === 'impression') return null // It says nothing about clicks.
  if (rejection !== null || isClickReversed) return null
  const { isHeld, gross } = figuresOf(account)
  if (isHeld || gross.revenueMicros === 0) return null
  const { pubId, clickAtMs } = attribution.owner
  return { pubId, merchId, evidence: orderEvidence(clickAtMs, gross.revenueMicros) }
}
