import assert from 'node:assert/strict'
import { createCipheriv, createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import { counterCipher, hmacSha256 } from './prepared-keys.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
/** Includes counters whose last bytes are full, so that an addition carries over. */
const ivs = fc.oneof(
  bytes(16),
  fc.integer({ min: 0, max: 16 }).map((zeros) => new Uint8Array(16).fill(255, zeros)),
)
const messages = fc.array(fc.tuple(ivs, fc.uint8Array({ maxLength: 200 })), { maxLength: 5 })

test('counter mode equals AES-256-CTR byte for byte, for many messages with one key', () => {
  fc.assert(
    fc.property(bytes(32), messages, (key, all) => {
      const apply = counterCipher(key)
      for (const [iv, data] of all) {
        const expected = createCipheriv('aes-256-ctr', key, iv).update(data)
        assert.deepEqual(apply(iv, data), expected)
        assert.deepEqual(apply(iv, expected), Buffer.from(data), 'its own inverse')
      }
    }),
  )
})

test('the authentication code equals HMAC-SHA256 byte for byte', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 64 }),
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: 'binary', maxLength: 200 }),
      (key, data, text) => {
        const expected = createHmac('sha256', key).update(data).update(text).digest()
        assert.deepEqual(hmacSha256(key)(data, text), expected)
      },
    ),
  )
  assert.throws(() => hmacSha256(new Uint8Array(65)), /longer than 64/)
})
