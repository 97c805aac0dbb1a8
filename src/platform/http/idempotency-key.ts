/** The `Idempotency-Key` header, which makes a retry return the first answer. */
import Type from 'typebox'
import type { Fault } from '../errors/api-errors.ts'

const KEY_LENGTH_MAX = 255

/** For the description; `idempotencyKeyFaults` does the checking. */
export const IdempotencyKey = Type.Optional(
  Type.String({
    description:
      'Makes a retry safe: for 24 hours the same key and body get the first answer. ' +
      `At most ${KEY_LENGTH_MAX} printable ASCII characters`,
  }),
)

/** The reasons to refuse a key. */
export function idempotencyKeyFaults(header: string | string[] | undefined): Fault[] {
  const key = readIdempotencyKey(header)
  if (key === null || (key.length <= KEY_LENGTH_MAX && /^[\x20-\x7e]+$/.test(key))) return []
  const rule = `must be one value of at most ${KEY_LENGTH_MAX} printable ASCII characters`
  return [{ field: 'Idempotency-Key', rule }]
}

/** The key of a request; an empty one counts as none. Node joins several headers into one. */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  return header === undefined || header === '' ? null : String(header)
}
