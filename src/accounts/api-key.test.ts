import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { hashApiKey, isApiKey, isSameHash, makeApiKey, readAuthorization } from './api-key.ts'

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('every key is souk_, 43 base-62 characters and a checksum, and different secrets differ', () => {
  fc.assert(
    fc.property(secrets, secrets, (one, other) => {
      const key = makeApiKey(one)
      assert.match(key, /^souk_[0-9A-Za-z]{49}$/)
      assert.equal(isApiKey(key), true)
      assert.equal(makeApiKey(other) === key, Buffer.compare(one, other) === 0)
    }),
  )
  assert.throws(() => makeApiKey(new Uint8Array(31)), RangeError)
})

test('a key with one changed character is not a key', () => {
  fc.assert(
    fc.property(secrets, fc.nat(48), fc.constantFrom(...'0aZ9_-é'), (secret, at, letter) => {
      const key = makeApiKey(secret)
      const changed = key.slice(0, 5 + at) + letter + key.slice(6 + at)
      assert.equal(isApiKey(changed), changed === key)
    }),
  )
})

test('a key is stored as its SHA-256 and found by it', () => {
  const key = makeApiKey(new Uint8Array(32).fill(7))
  assert.equal(hashApiKey(key).length, 32)
  assert.equal(isSameHash(hashApiKey(key), hashApiKey(key)), true)
  assert.equal(isSameHash(hashApiKey(key), hashApiKey(`${key}x`)), false)
  assert.equal(isSameHash(hashApiKey(key), new Uint8Array(3)), false)
})

test('the scheme is any brand word in any case, then one space, then the key', () => {
  const key = makeApiKey(new Uint8Array(32).fill(9))
  const words = ['service', 'howl']
  for (const scheme of ['SERVICE-API-KEY', 'service-api-key', 'Howl-Api-Key']) {
    assert.equal(readAuthorization(`${scheme} ${key}`, words), key)
  }
  const others = [undefined, '', key, `Bearer ${key}`, `NRTV-API-KEY ${key}`, `API-KEY ${key}`]
  const spaced = [`SERVICE-API-KEY${key}`, `SERVICE-API-KEY  ${key}`, `SERVICE-API-KEY\t${key}`]
  const broken = [`SERVICE-API-KEY ${key} x`, 'SERVICE-API-KEY souk_x']
  for (const header of [...others, ...spaced, ...broken]) {
    assert.equal(readAuthorization(header, words), null, String(header))
  }
})
