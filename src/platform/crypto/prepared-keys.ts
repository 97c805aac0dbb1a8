/**
 * AES-256-CTR and HMAC-SHA256 for the hot path, with keys prepared once.
 *
 * Node's ciphers and HMACs are objects. Creating one per message costs more than the work itself,
 * and the garbage collector must finalize each. Both constructions are standard: counter mode is a
 * block cipher over a counter (NIST SP 800-38A, 6.5), and ECB mode is that block cipher without
 * state; HMAC is two hashes (RFC 2104). Sealing takes 3 µs this way instead of 6 µs (Node 26).
 */
import { createCipheriv, hash, hkdfSync } from 'node:crypto'

const AES_BLOCK_BYTES = 16
const SHA256_BLOCK_BYTES = 64
const SHA256_BYTES = 32

/** Derives a key of 32 bytes for one purpose. */
export function deriveKey(key: Buffer, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', purpose, 32))
}

/** AES-256-CTR, which is its own inverse. */
export type CounterCipher = (iv: Uint8Array, data: Uint8Array) => Buffer

/** `key`: 32 bytes. */
export function counterCipher(key: Uint8Array): CounterCipher {
  const blockCipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  return (iv, data) => {
    const counters = Buffer.allocUnsafe(Math.ceil(data.length / AES_BLOCK_BYTES) * AES_BLOCK_BYTES)
    for (let at = 0; at < counters.length; at += AES_BLOCK_BYTES) {
      counters.set(iv, at)
      addTo(counters.subarray(at, at + AES_BLOCK_BYTES), at / AES_BLOCK_BYTES)
    }
    const keystream = blockCipher.update(counters).subarray(0, data.length)
    for (let at = 0; at < data.length; at++) {
      keystream[at] = (keystream[at] as number) ^ (data[at] as number)
    }
    return keystream
  }
}

/** Adds to a big-endian number of any length; the overflow is dropped. */
function addTo(number: Uint8Array, amount: number): void {
  let carry = amount
  for (let at = number.length - 1; carry > 0 && at >= 0; at--) {
    const sum = (number[at] as number) + carry
    number[at] = sum
    carry = Math.floor(sum / 256)
  }
}

/** HMAC-SHA256 of bytes followed by a text in UTF-8. */
export type Hmac = (bytes: Uint8Array, text: string) => Buffer

/** `key`: at most 64 bytes; HMAC would hash longer ones. */
export function hmacSha256(key: Uint8Array): Hmac {
  if (key.length > SHA256_BLOCK_BYTES) throw new RangeError('the key is longer than 64 bytes')
  const innerKey = paddedKey(key, 0x36)
  const outer = Buffer.concat([paddedKey(key, 0x5c), Buffer.alloc(SHA256_BYTES)])
  return (bytes, text) => {
    const textAt = SHA256_BLOCK_BYTES + bytes.length
    const inner = Buffer.allocUnsafe(textAt + Buffer.byteLength(text))
    inner.set(innerKey)
    inner.set(bytes, SHA256_BLOCK_BYTES)
    inner.write(text, textAt)
    // As latin1 text, because a buffer would double the hash's time.
    outer.write(hash('sha256', inner, 'latin1'), SHA256_BLOCK_BYTES, 'latin1')
    return Buffer.from(hash('sha256', outer, 'latin1'), 'latin1')
  }
}

function paddedKey(key: Uint8Array, pad: number): Buffer {
  return Buffer.alloc(SHA256_BLOCK_BYTES, pad).map((byte, at) => byte ^ (key[at] ?? 0)) as Buffer
}
