/** Codes of authenticator apps (RFC 6238): six digits that change every 30 seconds. */
import { Secret, TOTP } from 'otpauth'

const STEP_SECONDS = 30
/** RFC 4226 recommends 160 bits. */
export const TOTP_SECRET_BYTES = 20
/** A code is also right one step before and after: clocks differ, and people type. */
const STEPS_OFF_MAX = 1

function totpOf(secret: string, { account, issuer }: { account: string; issuer: string }): TOTP {
  return new TOTP({
    issuer,
    label: account,
    secret: Secret.fromBase32(secret),
    period: STEP_SECONDS,
  })
}

/** The secret in base32, as people type it into an app. */
export function toTotpSecret(bytes: Uint8Array<ArrayBuffer>): string {
  return new Secret({ buffer: bytes.slice().buffer }).base32
}

/** The address that an app reads from a QR code. */
export function otpauthUrl(
  secret: string,
  names: { readonly account: string; readonly issuer: string },
): string {
  return totpOf(secret, names).toString()
}

/** The time step that a code is of; null if it is of none around now. */
export function stepOfCode(secret: string, code: string, now: Date): number | null {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const totp = totpOf(secret, { account: '', issuer: '' })
  const delta = totp.validate({ token, timestamp: now.getTime(), window: STEPS_OFF_MAX })
  return delta === null ? null : Math.floor(now.getTime() / 1000 / STEP_SECONDS) + delta
}
