import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, isPassword, UNKNOWN_USER_HASH } from './password.ts'

test('a password is stored as scrypt with N = 2^15 and its own salt', async () => {
  const [one, other] = await Promise.all([hashPassword('pässword'), hashPassword('pässword')])
  assert.match(one, /^scrypt\$15\$8\$1\$[\w-]{22}\$[\w-]{43}$/)
  assert.notEqual(one, other)
  assert.equal(await isPassword('pässword', one), true)
  // The same letters in another Unicode composition are the same password.
  assert.equal(await isPassword('pässword'.normalize('NFD'), one), true)
  assert.equal(await isPassword('password', one), false)
})

test('a text that is not a stored hash matches no password', async () => {
  for (const stored of ['', 'x', 'scrypt$15$8$1$$', 'scrypt$30$8$1$AAAA$AAAA', UNKNOWN_USER_HASH]) {
    assert.equal(await isPassword('', stored), false)
    assert.equal(await isPassword('password', stored), false)
  }
})
