import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { deepLink, headerSafe, withParameter } from './destination.ts'

const CID = { name: 'cid', value: '0123456789abcdef0123456789abcdef' }

test('adds the click id without changing any other byte', () => {
  const cases: [string, string][] = [
    ['https://shop.example', 'https://shop.example?cid=ID'],
    ['https://shop.example/p', 'https://shop.example/p?cid=ID'],
    ['https://shop.example/p?', 'https://shop.example/p?cid=ID'],
    ['https://shop.example/p?a=%20b+c&&d', 'https://shop.example/p?a=%20b+c&&d&cid=ID'],
    ['https://shop.example/p?&a=1&', 'https://shop.example/p?&a=1&cid=ID'],
    ['https://shop.example/p#top?x', 'https://shop.example/p?cid=ID#top?x'],
    ['https://shop.example/p?a=1?b=2#f', 'https://shop.example/p?a=1?b=2&cid=ID#f'],
  ]
  for (const [url, wanted] of cases) {
    assert.equal(withParameter(url, CID).replace(CID.value, 'ID'), wanted, url)
  }
})

test('removes an older click id, but not a parameter whose name only starts alike', () => {
  const url = 'https://shop.example/p?cid=old&cidx=1&acid=2&cid&cid='
  assert.equal(withParameter(url, CID), `https://shop.example/p?cidx=1&acid=2&cid=${CID.value}`)
})

test('removes an older click id in every spelling of its name that a shop reads as the same', () => {
  const url = 'https://shop.example/p?%63id=old&?cid=1&c%69%64&%cid=2&x=%63id'
  const wanted = `https://shop.example/p??cid=1&%cid=2&x=%63id&cid=${CID.value}`
  assert.equal(withParameter(url, CID), wanted)
})

test('every URL keeps its page and gets one click id', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      const [before, after] = [new URL(url), new URL(withParameter(url, CID))]
      assert.deepEqual(after.searchParams.getAll('cid'), [CID.value])
      assert.deepEqual(
        [after.origin, after.pathname, after.hash],
        [before.origin, before.pathname, before.hash],
      )
    }),
  )
})

test('fills a merchant’s template with the URL, encoded where it asks so, and the click id', () => {
  const target = { url: 'https://shop.example/p?a=1&b=$&{cid}', clickId: CID.value }
  assert.equal(
    deepLink('https://net.example/c?u={url_encoded}&sub={cid}', target),
    `https://net.example/c?u=https%3A%2F%2Fshop.example%2Fp%3Fa%3D1%26b%3D%24%26%7Bcid%7D&sub=${CID.value}`,
  )
  assert.equal(
    deepLink('https://net.example/{cid}/{url}', target),
    `https://net.example/${CID.value}/https://shop.example/p?a=1&b=$&{cid}`,
  )
})

test('a Location header contains visible ASCII only, whatever a page wrote', () => {
  assert.equal(
    headerSafe('https://x.example/ü a?q=%C3%BC'),
    'https://x.example/%C3%BC%20a?q=%C3%BC',
  )
  assert.equal(
    headerSafe('https://x.example/kéttle@b?q=é:1'),
    'https://x.example/k%C3%A9ttle@b?q=%C3%A9:1',
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.match(headerSafe(text), /^[\x21-\x7e]*$/)
    }),
  )
})

test('a lone surrogate in a URL becomes the replacement character, without an error', () => {
  const url = 'https://x.example/\ud800'
  assert.equal(headerSafe(url), 'https://x.example/%EF%BF%BD')
  const encoded = deepLink('{url_encoded}', { url, clickId: CID.value })
  assert.equal(encoded, 'https%3A%2F%2Fx.example%2F%EF%BF%BD')
})

test('a Location header writes a host in its ASCII form', () => {
  for (const [url, wanted] of [
    ['https://kéttle.example/é', 'https://xn--kttle-bsa.example/%C3%A9'],
    [
      'HTTP://ü:é@www.KÉTTLE.example:8080?ü',
      'HTTP://%C3%BC:%C3%A9@www.xn--kttle-bsa.example:8080?%C3%BC',
    ],
    ['https://kéttle.example', 'https://xn--kttle-bsa.example'],
    [
      'https://a.example/?u=https://kéttle.example',
      'https://a.example/?u=https://k%C3%A9ttle.example',
    ],
    ['https://k%C3%A9ttle.example/', 'https://k%C3%A9ttle.example/'],
    ['https://a.example\\@b.example/c\\d?e=\\f', 'https://a.example/@b.example/c/d?e=\\f'],
  ] as const) {
    assert.equal(headerSafe(url), wanted)
    assert.equal(new URL(wanted).host, new URL(url).host)
  }
})
