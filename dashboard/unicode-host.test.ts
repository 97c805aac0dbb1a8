import assert from 'node:assert/strict'
import { test } from 'node:test'
import { domainToASCII, domainToUnicode } from 'node:url'
import fc from '../test/support/fast-check.ts'
import { unicodeHost } from './unicode-host.ts'

test('shows every international name in its own letters', () => {
  for (const host of [
    'bücher.example',
    'пример.испытание',
    '例え.テスト',
    'a.faß.example',
    '☃.net',
  ]) {
    assert.equal(unicodeHost(domainToASCII(host)), domainToUnicode(domainToASCII(host)))
  }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (label) => {
      const ascii = domainToASCII(`${label}.example`)
      fc.pre(/^[a-z0-9.-]+$/.test(ascii))
      assert.equal(unicodeHost(ascii), domainToUnicode(ascii))
    }),
  )
})

test('leaves alone what is no punycode', () => {
  for (const host of [
    'books.example:8080',
    'xn--.example',
    'xn--a-.example',
    '[::1]',
    'axn--b.example',
  ]) {
    assert.equal(unicodeHost(host), host)
  }
})
