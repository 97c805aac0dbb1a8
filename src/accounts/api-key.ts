/**
 * What an API key looks like and how it is recognised (decisions 4.2).
 *
 * `souk_` + 43 base-62 characters (256 random bits) + 6 characters of checksum. The prefix lets
 * secret scanners find a leaked key, the checksum lets us refuse a mistyped one without a query.
 * Only the SHA-256 is ever stored: the key holds full entropy, so a slow hash would add nothing.
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

/** Whether a text can be a key at all: its form and its checksum hold. */
export function isApiKey(text: string): boolean {
  if (!FORM.test(text)) return false
  return text.slice(-CHECKSUM_LENGTH) === checksum(text.slice(0, -CHECKSUM_LENGTH))
}

/** The 32 bytes under which a key is stored and looked up. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Compares two hashes in a time that does not depend on where they differ. */
export function isSameHash(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

/**
 * The key that an Authorization header carries, or null.
 *
 * `words` are the brand and its aliases: `<WORD>-API-KEY`, whatever the case (decisions, The brand
 * word), one space, then the key (interface 5.2).
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
