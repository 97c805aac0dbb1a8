/** Recovery codes: each opens the account once when a second factor is lost. */
import { hash } from 'node:crypto'

export const RECOVERY_CODES = 10
/** 80 bits: a hash of so many needs no salt and no slow function. */
export const RECOVERY_CODE_BYTES = 10
/** Crockford's base 32 has no I, L, O and U, which people confuse. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** `k3v9-x2m4-7qpd-0zhw`. */
export function toRecoveryCode(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const letters = bits.match(/.{5}/g)?.map((five) => ALPHABET[Number.parseInt(five, 2)]) ?? []
  return letters.join('').replace(/.{4}(?=.)/g, '$&-')
}

/** Of a code as people type it: in any case, with or without hyphens. */
export function hashRecoveryCode(code: string): Buffer {
  const plain = code.toLowerCase().replaceAll(/[^0-9a-z]/g, '')
  return hash('sha256', plain.replaceAll(/[il]/g, '1').replaceAll('o', '0'), 'buffer')
}
