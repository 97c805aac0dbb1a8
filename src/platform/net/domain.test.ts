import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDomain } from './domain.ts'
import { siteHost } from './url.ts'

const LONGEST = 'a'.repeat(63) // The longest label (RFC 1035).
const LONGEST_NAME = `${`${LONGEST}.`.repeat(3)}${'b'.repeat(53)}.example` // 253 characters.

test('a domain is stored in one form: lower case, punycode, no www., no port', () => {
  const forms: [string, string][] = [
    ['Shop.Example', 'shop.example'],
    ['www.shop.example', 'shop.example'],
    ['shop.example:8080', 'shop.example'],
    ['shop.example.', 'shop.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['shop.co.uk', 'shop.co.uk'],
    ['my-shop.myshopify.com', 'my-shop.myshopify.com'],
    ['demo-shop.localhost', 'demo-shop.localhost'],
    ['localhost', 'localhost'],
    ['127.0.0.1:9000', '127.0.0.1'],
    ['[::1]', '[::1]'],
    ['shop.www.example', 'shop.www.example'],
    [`${LONGEST}.example`, `${LONGEST}.example`],
    [LONGEST_NAME, LONGEST_NAME],
  ]
  for (const [text, domain] of forms) assert.equal(readDomain(text), domain, text)
})

test('a domain is named as the pages on its host are, even if www. is its whole name', () => {
  for (const host of ['www.com', 'www.de', 'www.www.shop.example', 'www.shop.example.']) {
    assert.equal(readDomain(host), siteHost(new URL(`https://${host}/p/1`)), host)
  }
})

test('a host that no single owner can have is refused', () => {
  const wrong = [
    '',
    'co.uk',
    'com',
    'github.io',
    'https://shop.example',
    'shop.example/path',
    'a b.example',
    'shop.example,two.example',
    '*.shop.example',
    "o'shop.example",
    '.shop.example',
    'shop.example..',
    `a${LONGEST}.example`,
    `b${LONGEST_NAME}`,
    'shop',
  ]
  for (const text of [...wrong, 'x@shop.example', '.', '..', 'shop..example', 'a'.repeat(300)]) {
    assert.equal(readDomain(text), null, text)
  }
})
