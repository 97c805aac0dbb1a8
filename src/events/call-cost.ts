/**
 * What an events call costs its caller, counted before the body is parsed
 * (docs/spec/limits.md#calls): the limit exists for reading hostile bodies.
 */

import type { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { addressUnit } from '../platform/net/client-address.ts'
import { EVENTS_PER_CALL_MAX } from './schema.ts'

/** A call of 100 usual events has 10 KiB. */
const BYTES_PER_TOKEN = 1_024
const BRACE = 0x7b // This byte has no other meaning in UTF-8.
/** Braces of the body itself and of its user. */
const OTHER_BRACES = 2

const ORGANIZATION = Buffer.from('"organization_id"')
const NUMBER_BYTES_MAX = 32

interface Call {
  readonly address: string
  readonly body: Buffer
  readonly nowMs: number
}

/**
 * Charges a call to its address and the organization that its bytes name; throws a 429. The
 * returned function gets the organization in the parsed body, and charges that one too if it
 * differs: JSON can name it twice.
 */
export function chargeCall(
  limits: TokenBuckets | null,
  { address, body, nowMs }: Call,
): (organizationId: number) => void {
  if (limits === null) return () => undefined
  const cost = costOf(body)
  const spend = (organizationId: number) =>
    limits.spend(`${addressUnit(address)} ${organizationId}`, nowMs, cost)
  const named = namedOrganization(body)
  spend(named)
  return (organizationId) => {
    if (organizationId !== named) spend(organizationId)
  }
}

/** Tokens: one an event, or one for each KiB if that is more. */
export function costOf(body: Buffer): number {
  // Every event is an object, so there are at least as many braces.
  const bracesMax = EVENTS_PER_CALL_MAX + OTHER_BRACES
  let braces = 0
  for (let at = body.indexOf(BRACE); at >= 0 && braces < bracesMax; braces += 1) {
    at = body.indexOf(BRACE, at + 1)
  }
  return Math.max(1, braces - OTHER_BRACES, Math.ceil(body.length / BYTES_PER_TOKEN))
}

/** Zero where the bytes name none. */
function namedOrganization(body: Buffer): number {
  const at = body.indexOf(ORGANIZATION)
  if (at < 0) return 0
  const start = at + ORGANIZATION.length
  const text = body.toString('latin1', start, start + NUMBER_BYTES_MAX)
  return Number(/^\s*:\s*(\d{1,10})\b/.exec(text)?.[1] ?? 0)
}
