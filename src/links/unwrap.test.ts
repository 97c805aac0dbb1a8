import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from '../../test/support/fast-check.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { urlKey } from '../platform/net/url.ts'
import { unwrapUrl } from './unwrap.ts'

interface UrlPair {
  a: string
  b: string
  level: string
  why: string
}

test('every click wrapper of the URL oracle leads to its merchant page', (t) => {
  const path = kitPath(t, 'oracles/url-pairs.csv')
  if (path === null) return
  const pairs = parse(readFileSync(path), { columns: true }) as UrlPair[]
  const wrappers = pairs.filter((pair) => pair.level === 'unwrap')
  assert.equal(wrappers.length, 8)
  for (const { a, b, why } of wrappers) {
    assert.deepEqual(urlKey(unwrapUrl(a) ?? ''), urlKey(b), why)
  }
})

test('leaves every other URL of the oracle unchanged', (t) => {
  const path = kitPath(t, 'oracles/url-pairs.csv')
  if (path === null) return
  const pairs = parse(readFileSync(path), { columns: true }) as UrlPair[]
  for (const { a, b, level } of pairs) {
    if (level === 'unwrap') continue
    for (const text of [a, b]) assert.equal(unwrapUrl(text), null)
  }
})

test('unwraps nested wrappers', () => {
  const merchant = 'https://shop.example/p/1?a=b&c=d'
  const once = `https://www.awin1.com/cread.php?ued=${encodeURIComponent(merchant)}`
  const twice = `https://www.google.com/url?url=${encodeURIComponent(once)}`
  assert.equal(unwrapUrl(twice), merchant)
})

test('finds a destination in the path, encoded twice, or without a scheme', () => {
  const page = 'https://shop.example/p/1'
  assert.equal(unwrapUrl(`https://www.anrdoezrs.net/links/1/type/dlg/sid/x/${page}`), page)
  assert.equal(unwrapUrl(`https://prf.hn/click/camref:1/destination:${page}`), page)
  const small = 'https%3a%2f%2fshop.example%2fp%2f1'
  assert.equal(unwrapUrl(`https://www.kqzyfj.com/click-1-2/DLG/${small}`), page)
  assert.equal(unwrapUrl(`https://clk.tradedoubler.com/click?p(1)Url(${small})`), page)
  const twice = encodeURIComponent(encodeURIComponent(page))
  assert.equal(unwrapUrl(`https://go.redirectingat.com/?url=${twice}`), page)
  assert.equal(unwrapUrl('https://shareasale.com/r.cfm?urllink=shop.example%2Fp%2F1'), page)
})

test('unwraps networks, advertisements and social sites alike', () => {
  const page = 'https://shop.example/p/1?a=b'
  const inside = encodeURIComponent(page)
  for (const wrapper of [
    'https://shop.digidip.net/visit?ref=x&url=',
    'https://s.click.aliexpress.com/deep_link.htm?aff_short_key=x&dl_target_url=',
    'https://www.googleadservices.com/pagead/aclk?sa=L&ai=x&adurl=',
    'https://clickserve.dartsearch.net/link/click?lid=x&ds_dest_url=',
    'https://l.threads.com/?e=x&u=',
    'https://vk.com/away.php?to=',
  ]) {
    assert.equal(unwrapUrl(wrapper + inside), page, wrapper)
  }
  assert.equal(unwrapUrl(`https://vk.com/share.php?to=${inside}`), null)
})

test('searches a destination in the path once, however often its word repeats', () => {
  const inside = 'url(https://shop.example/p/1)'
  const wrapper = 'https://clk.tradedoubler.com/click?p(1)'
  assert.equal(unwrapUrl(`${wrapper}${inside}`), 'https://shop.example/p/1')
  // Searching at every occurrence would take quadratic time.
  assert.equal(unwrapUrl(`${wrapper}url(x)${inside}`), null)
})

test('an unknown host with a url parameter, or a wrapper without a destination, is not a wrapper', () => {
  for (const text of [
    'https://shop.example/search?url=https%3A%2F%2Fother.example%2F',
    'https://www.google.com/search?q=https%3A%2F%2Fother.example%2F',
    'https://www.awin1.com/cread.php?ued=javascript%3Aalert(1)',
    'https://www.awin1.com/cread.php',
    'https://www.anrdoezrs.net/click-1-2?sid=/https://shop.example/p/1',
    'https://prf.hn/click/camref:1/destination:https%3A%2F%2F%',
  ]) {
    assert.equal(unwrapUrl(text), null)
  }
})

test('unwraps four nested wrappers, and no more', () => {
  const self = 'https://www.awin1.com/cread.php?ued='
  const layers = ['https://shop.example/']
  for (let layer = 0; layer < 5; layer++) layers.unshift(self + encodeURIComponent(`${layers[0]}`))
  assert.equal(unwrapUrl(`${layers[1]}`), layers[5])
  assert.equal(unwrapUrl(`${layers[0]}`), layers[4])
})

test('any text gives a web URL or nothing, without an exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (tail) => {
      for (const text of [tail, `https://prf.hn/click/destination:${tail}`]) {
        assert.match(unwrapUrl(text) ?? 'https://', /^https?:/)
      }
    }),
  )
})
