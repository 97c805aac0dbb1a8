import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { type LinkMateRules, parentDomains, wantedLinks } from './linkmate.ts'

const rules: LinkMateRules = {
  articleUrl: new URL('https://www.daily.example/article'),
  ownDomains: ['sister.example', 'brother.example'],
  bases: { linkUrl: 'https://go.souk.example', auctionUrl: 'https://auction.souk.example' },
  unwraps: true,
}
const urls = (raw: readonly string[], given = rules) =>
  wantedLinks(
    raw.map((raw_url) => ({ raw_url })),
    given,
  ).map(({ url }) => url)

test('every absolute http(s) URL gets its link, unchanged to the byte', () => {
  const raw = [
    'https://shop.example/p?b=2&a=1#reviews',
    'http://SHOP.example:8080/Ü%20x',
    ' https://x.example',
  ]
  assert.deepEqual(urls(raw), raw)
  fc.assert(
    fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
      assert.deepEqual(urls([url]), [url])
    }),
  )
})

test('leaves out anything that is not an absolute http(s) URL, without an error', () => {
  const texts = ['', '/p/1', '//shop.example/p', 'mailto:a@b.example', 'javascript:alert(1)']
  assert.deepEqual(urls([...texts, 'https://', 'shop.example', 'ftp://shop.example/p']), [])
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => void urls([text])))
})

test('ignores our own links and the publisher’s own pages', () => {
  const own = [
    'https://go.souk.example/312345678901234567?u1=x',
    'https://go.souk.example/link/?url=https%3A%2F%2Fshop.example%2F',
    'https://auction.souk.example/api/v1/redirect/?a=1',
    'https://daily.example/other',
    'https://m.daily.example/',
    'http://WWW.sister.example/p',
    'https://blog.sister.example/p',
    'https://brother.example/p',
  ]
  assert.deepEqual(urls(own), [])
  const others = ['https://notdaily.example/', 'https://daily.example.evil.example/']
  assert.deepEqual(urls(others), others)
})

test('distinguishes sites on one host by their port', () => {
  const local = { ...rules, articleUrl: new URL('http://127.0.0.1:8080/article') }
  assert.deepEqual(urls(['http://127.0.0.1:8080/x', 'http://127.0.0.1:9000/p'], local), [
    'http://127.0.0.1:9000/p',
  ])
})

test('#donotlink excludes a link and #locklink locks it', () => {
  const raw = [
    'https://s.example/a#donotlink',
    'https://s.example/b#locklink',
    'https://s.example/c',
  ]
  const wanted = wantedLinks(
    raw.map((raw_url) => ({ raw_url })),
    rules,
  )
  assert.deepEqual(
    wanted.map(({ url, isExclusive }) => ({ url, isExclusive })),
    [
      { url: 'https://s.example/b#locklink', isExclusive: true },
      { url: 'https://s.example/c', isExclusive: false },
    ],
  )
})

test('a URL counts once, and once more when locked', () => {
  const wanted = wantedLinks(
    [
      { raw_url: 'https://s.example/a' },
      { raw_url: 'https://s.example/a', exclusive_match_requested: false },
      { raw_url: 'https://s.example/a', exclusive_match_requested: true },
      { raw_url: 'https://s.example/A' },
    ],
    rules,
  )
  assert.equal(wanted.length, 3)
})

test('a click wrapper counts by its destination, unless unwrapping is off', () => {
  const wrap = (url: string) => `https://go.skimresources.com/?id=1&url=${encodeURIComponent(url)}`
  const raw = [wrap('https://shop.example/p'), wrap('https://daily.example/p')]
  const [link, ...rest] = wantedLinks(
    raw.map((raw_url) => ({ raw_url })),
    rules,
  )
  assert.equal(link?.url, raw[0])
  assert.equal(link?.target.href, 'https://shop.example/p')
  assert.equal(rest.length, 0)
  const unlooked = wantedLinks(
    [...raw, 'https://shop.example/p'].map((raw_url) => ({ raw_url })),
    { ...rules, unwraps: false },
  )
  assert.deepEqual(
    unlooked.map(({ target, unwraps }) => [target.href, unwraps]),
    [
      [raw[0], false],
      [raw[1], false],
      ['https://shop.example/p', true], // nothing to unwrap
    ],
  )
})

test('a host may be registered under any of its parent domains', () => {
  assert.deepEqual(parentDomains('a.shop.example'), ['a.shop.example', 'shop.example', 'example'])
})
