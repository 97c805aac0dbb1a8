/**
 * Is this request really from the merchant's server, and fresh?
 *
 * Two headers: `X-Souk-Timestamp`, the Unix time in whole seconds, and `X-Souk-Signature`, the
 * lower-case hex of HMAC-SHA256, keyed with the merchant's postback secret, over the timestamp, a
 * dot, and the body's bytes as sent. The time is signed, so an old request cannot be dressed up as
 * a new one, and is allowed to be off by five minutes; within them a signature works once.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { CLOCK_SKEW_MS } from './attribute.ts'

export const TIMESTAMP_HEADER = 'x-souk-timestamp'
export const SIGNATURE_HEADER = 'x-souk-signature'

/** The signature of a request; for clients, tests and webhooks. */
export function signBody(secret: string, timestamp: string, body: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
}

/** The signature when it holds, else what is wrong with it, fit to be told to the caller. */
export function verifySignature(
  request: {
    readonly timestamp: string | undefined
    readonly signature: string | undefined
    readonly body: Uint8Array
  },
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
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
  const expected = signBody(secret, timestamp, body)
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) {
    return {
      reason: 'X-Souk-Signature does not match the HMAC-SHA256 of timestamp, dot and body',
    }
  }
  return { signature: expected }
}
