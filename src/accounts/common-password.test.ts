import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCommonPassword } from './common-password.ts'

test('refuses listed passwords in any case, and runs of one character or of a sequence', async () => {
  const common = ['password123', 'Qwertyuiop', ' 1234567890 ', '1111111111', 'zzzzzzzzzzzzzzz']
  const runs = ['0123456789', '9876543210', 'abcdefghijkl', ' '.repeat(10), '']
  for (const password of [...common, ...runs]) {
    assert.equal(await isCommonPassword(password), true, password)
  }
})

test('requires no kinds of characters and accepts any uncommon text', async () => {
  for (const password of [
    'a long one',
    'heronriverlamp',
    '7316048259',
    'ÅÄÖ åäö ÅÄÖ',
    '0246813579',
  ]) {
    assert.equal(await isCommonPassword(password), false, password)
  }
})
