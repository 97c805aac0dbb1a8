/**
 * Verifies that a request comes from the merchant's server and is recent.
 *
 * Two headers: `X-Souk-Timestamp` is the Unix time in whole seconds. `X-Souk-Signature` is the
 * lower-case hex of HMAC-SHA256, keyed with the merchant's postback secret, over the timestamp, a
 * dot, and the exact bytes of the body. A secret that was replaced in the last 24 hours still
 * works. The time is signed, so an old request cannot be sent as a
 * new one. It may be off by five minutes, and within them a signature works once.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { CLOCK_SKEW_MS } from './attribute.ts'

export const TIMESTAMP_HEADER = 'x-souk-timestamp'
export const SIGNATURE_HEADER = 'x-souk-signature'

/** The signature of a request, for clients, tests and webhooks. */
export function signBody(secret: string, timestamp: string, body: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
}

/** The signature if it is valid, else a message for the caller. */
export function verifySignature(
  request: {
    readonly timestamp: string | undefined
    readonly signature: string | undefined
    readonly body: Uint8Array
  },
  { secrets, nowMs }: { readonly secrets: readonly string[]; readonly nowMs: number },
): { readonly signature: Buffer } | { readonly reason: string } {
  const { timestamp, signature, body } = request
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    return { reason: 'X-Souk-Timestamp must be the Unix time in whole seconds' }
  }
  if (Math.abs(Number(timestamp) * 1000 - nowMs) > CLOCK_SKEW_MS) {
    return { reason: 'X-Souk-Timestamp is more than five minutes off; is the clock right?' }
  }
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) {
    return { reason: 'X-Souk-Signature must be 64 lower-case hex characters' }
  }
  const sent = Buffer.from(signature, 'hex')
  const isSigned = secrets.some((secret) =>
    timingSafeEqual(signBody(secret, timestamp, body), sent),
  )
  if (isSigned) return { signature: sent }
  return { reason: 'X-Souk-Signature does not match the HMAC-SHA256 of timestamp, dot and body' }
}
