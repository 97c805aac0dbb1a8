/**
 * The form of API keys, and how a key is recognized.
 *
 * `souk_` + 43 base-62 characters (256 random bits) + 6 characters of checksum. The prefix lets
 * secret scanners find a leaked key; the checksum lets Souk refuse a mistyped key without a query.
 * Only the SHA-256 is stored: the key has full entropy, so a slow hash would add nothing.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { toBase62 } from '../platform/ids.ts'

const PREFIX = 'souk_'
const SECRET_BYTES = 32
const SECRET_LENGTH = 43 // 62^43 > 2^256 > 62^42
const CHECKSUM_LENGTH = 6 // 62^6 > 2^32
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/** Writes 32 random bytes as a key; throws RangeError on any other length. */
export function makeApiKey(random: Uint8Array): string {
  if (random.length !== SECRET_BYTES) throw new RangeError(`a key needs ${SECRET_BYTES} bytes`)
  const value = BigInt(`0x${Buffer.from(random).toString('hex')}`)
  const body = PREFIX + toBase62(value).padStart(SECRET_LENGTH, '0')
  return body + checksum(body)
}

/** Whether a text has the form of a key and its checksum holds. */
export function isApiKey(text: string): boolean {
  if (!FORM.test(text)) return false
  return text.slice(-CHECKSUM_LENGTH) === checksum(text.slice(0, -CHECKSUM_LENGTH))
}

/** The 32 bytes under which a key is stored and looked up. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Compares two hashes in constant time. */
export function isSameHash(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

/**
 * The key in an Authorization header; null if there is none.
 *
 * `words` are the brand word and its aliases: `<WORD>-API-KEY` in any case, one space, then the
 * key.
 */
export function readAuthorization(
  header: string | undefined,
  words: readonly string[],
): string | null {
  const match = /^([a-z0-9]+)-api-key (\S+)$/i.exec(header ?? '')
  const [word, key] = [match?.[1]?.toLowerCase(), match?.[2]]
  if (word === undefined || key === undefined || !words.includes(word)) return null
  return isApiKey(key) ? key : null
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body))).padStart(CHECKSUM_LENGTH, '0')
}
