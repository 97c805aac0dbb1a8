/**
 * 64-bit ids that any node generates without coordination, as decimal strings, and their short
 * base-62 form.
 *
 * An id contains time, node and sequence, from the top down. So ids sort by creation time, two
 * nodes never generate the same one, and none needs a round trip. They are strings because a
 * JavaScript number holds 53 bits and an id has more.
 */
import assert from 'node:assert/strict'

/** Ids count milliseconds from here; 41 bits last until 2093. */
const EPOCH_MS = Date.UTC(2024, 0, 1)
const TIME_BITS = 41
const NODE_BITS = 10
const SEQUENCE_BITS = 12

const MAX_MS = 2 ** TIME_BITS - 1
/** A smaller id would fit a JavaScript number, and a client's rounding would go unnoticed. */
const MIN_MS = 2 ** (53 - NODE_BITS - SEQUENCE_BITS)
const MAX_SEQUENCE = 2 ** SEQUENCE_BITS - 1
/** Node numbers are 1 to this. 0 is never used, so a missing number is noticed. */
export const MAX_NODE_ID = 2 ** NODE_BITS - 1

/** The largest id, 2^63 - 1: a signed 64-bit column holds no more. */
export const MAX_ID = '9223372036854775807'

/** The largest id of a 32-bit column: publishers, merchants, users. */
export const SMALL_ID_MAX = 2_147_483_647

/** The database could not even parse larger integers, so it need not be asked. */
export function canBeSmallId(id: number): boolean {
  return id >= 1 && id <= SMALL_ID_MAX
}

export interface IdSource {
  /** A new id, greater than all earlier ones of this source. */
  next(): string
}

/**
 * Creates a source of ids for one node.
 *
 * `now` returns whole milliseconds since 1970. If it steps back, ids continue from the latest time
 * seen. If 4,096 ids fall into one millisecond, they continue in the next. Only one source at a
 * time may use a node number (node-registry.ts).
 */
export function makeIdSource({ nodeId, now }: { nodeId: number; now: () => number }): IdSource {
  assert(
    Number.isInteger(nodeId) && nodeId >= 1 && nodeId <= MAX_NODE_ID,
    `node number ${nodeId} is not within 1–${MAX_NODE_ID}`,
  )
  const nodeBits = BigInt(nodeId) << BigInt(SEQUENCE_BITS)
  let lastMs = Number.NEGATIVE_INFINITY
  let sequence = 0
  let head = 0n // Time and node, cached while they stay the same: most of the work of an id.

  const enter = (ms: number) => {
    assert(
      ms >= MIN_MS && ms <= MAX_MS,
      `the clock says ${new Date(ms + EPOCH_MS).toISOString()}, outside what ids can hold: set it`,
    )
    lastMs = ms
    sequence = 0
    head = (BigInt(ms) << BigInt(NODE_BITS + SEQUENCE_BITS)) | nodeBits
  }

  return {
    next() {
      const ms = now() - EPOCH_MS
      if (ms > lastMs) enter(ms)
      else if (sequence === MAX_SEQUENCE) enter(lastMs + 1)
      else sequence += 1
      return (head | BigInt(sequence)).toString()
    },
  }
}

/** Whether a text is a positive 64-bit integer in canonical form: digits only, no leading zero. */
export function isId(text: string): boolean {
  if (text.length > MAX_ID.length || !/^[1-9][0-9]*$/.test(text)) return false
  // Texts of equal length compare like numbers.
  return text.length < MAX_ID.length || text <= MAX_ID
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(DIGITS.length)
/** 62^11 > 2^63, so no id is longer. */
const MAX_BASE62_LENGTH = 11

/** An id in base 62 without padding: 10 or 11 characters for ids that Souk generates. */
export function encodeBase62(id: string): string {
  assert(isId(id), `not a positive 64-bit integer: ${id}`)
  return toBase62(BigInt(id))
}

/** A number's base-62 digits without padding; an empty text for 0. */
export function toBase62(value: bigint): string {
  let rest = value
  let text = ''
  while (rest > 0n) {
    text = DIGITS.charAt(Number(rest % BASE)) + text
    rest /= BASE
  }
  return text
}

/**
 * The id that `encodeBase62` turned into this text, else null. Other characters, leading zeros,
 * zero and anything above 2^63 - 1 are invalid.
 */
export function decodeBase62(text: string): string | null {
  if (text.length === 0 || text.length > MAX_BASE62_LENGTH || text.startsWith('0')) return null
  let value = 0n
  for (const character of text) {
    const digit = DIGITS.indexOf(character)
    if (digit === -1) return null
    value = value * BASE + BigInt(digit)
  }
  const id = value.toString()
  return isId(id) ? id : null
}
