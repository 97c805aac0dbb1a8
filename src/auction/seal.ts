/**
 * The auction result id: an outcome that anybody may carry and nobody can read or alter (I4).
 *
 * Encrypt-then-MAC: AES-256-CTR with the random result number as IV, then HMAC-SHA256, cut to 128
 * bits, over everything including the redirect's parameters. A page shows no price or bid, so a
 * rival cannot poll the open auction. Any node verifies a click without a look-up, and the seal
 * alone explains what is paid.
 *
 *   version 1 · key id 1 · result number 16 │ ciphertext 59 │ mac 16   = 93 bytes, 124 characters
 */

import { timingSafeEqual } from 'node:crypto'
import type { Model } from '../events/event.ts'
import { type PayTerms, packTerms, unpackTerms } from '../events/pay-terms.ts'
import {
  type CounterCipher,
  counterCipher,
  deriveKey,
  type Hmac,
  hmacSha256,
} from '../platform/crypto/prepared-keys.ts'
import { type Micros, micros } from '../platform/money/money.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'

const VERSION = 1
const HEAD_BYTES = 18
const RESULT_NUMBER_OFFSET = 2
const SEALED_BYTES = 59
const MAC_BYTES = 16
const TOKEN_BYTES = HEAD_BYTES + SEALED_BYTES + MAC_BYTES

/** A day after the auction, prices and stock have changed, so a click runs a new auction. */
export const RESULT_AGE_MAX_MS = DAY_MS

/** What the edge needs to bill a click, fixed when the auction ran. */
export interface SealedResult {
  readonly resultNumber: Buffer // 16 random bytes: the result's name in ledger and receipts.
  readonly issuedAtMs: number
  readonly pubId: number
  readonly merchId: number // 0 for the original destination, which nobody pays for.
  readonly campaignId: number // 0 for none.
  readonly offerId: string // '0' for none.
  readonly terms: PayTerms
  readonly sharePpm: number
  readonly isExclusive: boolean
  // Created without a key, and leads off the network: no open redirect.
  readonly isKeylessForeign: boolean
  readonly isAtClick: boolean // The auction ran on the click itself.
  readonly consent: number // 0 unknown, 1 full, 2 contextual.
  readonly runnerUpMicros: Micros
  readonly snapshotVersion: number
}

/** The redirect parameters that the seal binds but does not contain. */
export interface SealBinding {
  readonly auctionId: string
  readonly uidService: string
  readonly url: string
  readonly uuid: string
}

interface Key {
  readonly id: number
  readonly encrypt: CounterCipher // Also decrypts: it is its own inverse.
  readonly authenticate: Hmac
}

export class Sealer {
  readonly #keys: readonly Key[]

  /** The first key signs; all verify, so that keys can be rotated. */
  constructor(keys: readonly { id: number; key: Buffer }[]) {
    if (keys.length === 0) throw new Error('a sealer needs at least one key')
    this.#keys = keys.map(({ id, key }) => ({
      id,
      encrypt: counterCipher(deriveKey(key, 'souk seal encrypt')),
      authenticate: hmacSha256(deriveKey(key, 'souk seal authenticate')),
    }))
  }

  seal(result: SealedResult, binding: SealBinding): string {
    const key = this.#keys[0] as Key
    const token = Buffer.allocUnsafe(TOKEN_BYTES)
    token[0] = VERSION
    token[1] = key.id
    result.resultNumber.copy(token, RESULT_NUMBER_OFFSET)
    key.encrypt(result.resultNumber, pack(result)).copy(token, HEAD_BYTES)
    mac(key, token, binding).copy(token, HEAD_BYTES + SEALED_BYTES)
    return token.toString('base64url')
  }

  /** Null if the token is not Souk's, or anything it binds was altered. */
  open(text: string, binding: SealBinding): SealedResult | null {
    const token = Buffer.from(text, 'base64url')
    // Re-encoding refuses other spellings of a token (padding bits, other alphabets).
    if (token.length !== TOKEN_BYTES || token.toString('base64url') !== text) return null
    const key = this.#keys.find(({ id }) => id === token[1])
    if (token[0] !== VERSION || key === undefined) return null
    if (!timingSafeEqual(mac(key, token, binding), token.subarray(HEAD_BYTES + SEALED_BYTES))) {
      return null
    }
    const resultNumber = token.subarray(RESULT_NUMBER_OFFSET, HEAD_BYTES)
    const sealed = token.subarray(HEAD_BYTES, HEAD_BYTES + SEALED_BYTES)
    return unpack(key.encrypt(resultNumber, sealed), resultNumber)
  }
}

const RESULT_NUMBER_HEX = /^[0-9a-f]{32}$/i

/** Reads a result number in hex, or from a token, unverified: enough to look up a receipt. */
export function readResultNumber(text: string): Buffer | null {
  if (RESULT_NUMBER_HEX.test(text)) return Buffer.from(text, 'hex')
  const token = Buffer.from(text, 'base64url')
  return token.length === TOKEN_BYTES ? token.subarray(RESULT_NUMBER_OFFSET, HEAD_BYTES) : null
}

function mac(key: Key, token: Buffer, { auctionId, uidService, url, uuid }: SealBinding): Buffer {
  // Nothing sealed contains a line break, so no two bindings share one text.
  const bound = `${auctionId}\n${uidService}\n${uuid}\n${url}`
  const sealed = token.subarray(0, HEAD_BYTES + SEALED_BYTES)
  return key.authenticate(sealed, bound).subarray(0, MAC_BYTES)
}

const FLAG_EXCLUSIVE = 1
const FLAG_KEYLESS_FOREIGN = 2
const FLAG_AT_CLICK = 4
const CONSENT_SHIFT = 3

function pack(result: SealedResult): Buffer {
  const packed = Buffer.alloc(SEALED_BYTES)
  packed.writeUIntBE(result.issuedAtMs, 0, 6)
  packed.writeUInt32BE(result.pubId, 6)
  packed.writeUInt32BE(result.merchId, 10)
  packed.writeUInt32BE(result.campaignId, 14)
  packed.writeBigUInt64BE(BigInt(result.offerId), 18)
  const { model, amount } = packTerms(result.terms)
  packed.writeUInt8(model, 26)
  packed.writeUInt8(
    (result.isExclusive ? FLAG_EXCLUSIVE : 0) |
      (result.isKeylessForeign ? FLAG_KEYLESS_FOREIGN : 0) |
      (result.isAtClick ? FLAG_AT_CLICK : 0) |
      (result.consent << CONSENT_SHIFT),
    27,
  )
  packed.writeBigUInt64BE(BigInt(amount), 28)
  packed.writeUInt32BE(result.sharePpm, 36)
  packed.writeBigUInt64BE(BigInt(result.runnerUpMicros), 40)
  packed.writeUInt32BE(result.snapshotVersion, 48)
  return packed // 7 bytes are left for later versions.
}

function unpack(packed: Buffer, resultNumber: Buffer): SealedResult {
  const flags = packed.readUInt8(27)
  return {
    resultNumber,
    issuedAtMs: packed.readUIntBE(0, 6),
    pubId: packed.readUInt32BE(6),
    merchId: packed.readUInt32BE(10),
    campaignId: packed.readUInt32BE(14),
    offerId: String(packed.readBigUInt64BE(18)),
    isExclusive: (flags & FLAG_EXCLUSIVE) !== 0,
    isKeylessForeign: (flags & FLAG_KEYLESS_FOREIGN) !== 0,
    isAtClick: (flags & FLAG_AT_CLICK) !== 0,
    consent: flags >> CONSENT_SHIFT,
    terms: unpackTerms({
      model: packed.readUInt8(26) as Model,
      amount: Number(packed.readBigUInt64BE(28)),
    }),
    sharePpm: packed.readUInt32BE(36),
    runnerUpMicros: micros(Number(packed.readBigUInt64BE(40))),
    snapshotVersion: packed.readUInt32BE(48),
  }
}
