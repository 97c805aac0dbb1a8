import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { readRedirectQuery, redirectQuery } from './redirect-query.ts'

/** What mail and chat programs, proxies and other tags do to a URL. */
const REWRITTEN: readonly ((query: string) => string)[] = [
  (query) => query.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  (query) => query.replaceAll('%20', '+'),
  (query) => query.replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%3F', '?'),
  (query) => query.split('&').reverse().join('&'),
  (query) => `fbclid=1&&${query}&utm_source=mail&u1=x`,
  (query) => `${query}&a=1&uid_service=2&ar=x&url=https%3A%2F%2Fevil.example&uuid=3`,
]

test('a URL that was rewritten on its way still has the sealed values', () => {
  const binding = fc
    .tuple(
      fc.bigInt(1n, 2n ** 63n - 1n).map(String),
      fc.maxSafeNat().map(String),
      fc.string({ unit: 'grapheme' }),
      fc.uuid(),
    )
    .map(([auctionId, uidService, text, uuid]) => {
      const url = `https://kettles.example/p?a=b%2Fc&d=%c3%a9+%20 &e=${text}#top`
      return { auctionId, uidService, url, uuid }
    })
  fc.assert(
    fc.property(binding, fc.subarray([...REWRITTEN]), (sealed, steps) => {
      const written = redirectQuery('service', 'AQ-_x', sealed)
      const read = steps.reduce((query, rewrite) => rewrite(query), written)
      assert.deepEqual(readRedirectQuery(read, ['service']), { id: 'AQ-_x', binding: sealed })
    }),
  )
})
