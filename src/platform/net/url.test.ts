import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from '../../../test/support/fast-check.ts'
import { kitPath } from '../../../test/support/shared-data.ts'
import {
  canonicalUrl,
  fitsUrlLimits,
  hostForDisplay,
  isOnDomain,
  parseWebUrl,
  siteHost,
  trimUrl,
  unicodeHost,
  urlKey,
  withoutReader,
} from './url.ts'

interface UrlPair {
  a: string
  b: string
  same: 'true' | 'false'
  level: string
  why: string
}

function key(text: string): string {
  const url = parseWebUrl(text)
  assert.ok(url, text)
  return canonicalUrl(url)
}

test('URL pairs of the oracle that need no knowledge of a shop are classified correctly', (t) => {
  const path = kitPath(t, 'oracles/url-pairs.csv')
  if (path === null) return
  const pairs = parse(readFileSync(path), { columns: true }) as UrlPair[]
  const met: Record<string, number> = {}
  const unmet: string[] = []
  for (const pair of pairs) {
    const isSame = key(pair.a) === key(pair.b)
    if (isSame === (pair.same === 'true')) met[pair.level] = (met[pair.level] ?? 0) + 1
    else unmet.push(`${pair.level}: ${pair.why}`)
  }
  assert.deepEqual(met, {
    tracking: 52,
    syntax: 40,
    policy: 33,
    product: 24,
    merchant: 10,
    variant: 16,
  })
  // `host` needs knowledge of one shop (words of its titles, its search parameters); `unwrap` is
  // done in links/unwrap.ts.
  const unmetLevels = unmet.map((line) => line.slice(0, line.indexOf(':')))
  assert.deepEqual(
    unmetLevels.filter((level) => level !== 'host' && level !== 'unwrap'),
    [],
    unmet.join('\n'),
  )
  assert.equal(unmetLevels.filter((level) => level === 'host').length, 21)
  assert.equal(unmetLevels.filter((level) => level === 'unwrap').length, 8)
})

test('canonicalizing twice changes nothing', () => {
  fc.assert(
    fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (text) => {
      const once = key(text)
      assert.equal(key(`https://${once}`), once)
    }),
  )
})

test('any text is either a URL with a host or null, without an exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (tail) => {
      for (const text of [tail, `https://${tail}`, `http://shop.example/${tail}`]) {
        const url = parseWebUrl(text)
        assert.equal(urlKey(text)?.length, url === null ? undefined : 16)
        assert.notEqual(url?.hostname, '')
      }
    }),
  )
})

test('only absolute http and https URLs are read', () => {
  for (const text of [
    '/p/relative',
    'javascript:alert(1)',
    'javascript:https://shop.example/p',
    'view-source:https://shop.example/p',
    'ftp://files.example/p',
    'https://',
    'www.x.example/p',
    'https://exa mple.example/',
    'data:text/html,hi',
    'https:shop.example',
    'https:///shop.example',
    'https:\\\\shop.example',
    '',
    'http://',
    'https://.',
    'https://.shop.example/p',
    'https://%2Eshop.example/p',
    'https://。shop.example/p',
    'https://reader@.shop.example/p',
    '//shop.example/p',
  ]) {
    assert.equal(parseWebUrl(text), null, text)
  }
  assert.equal(parseWebUrl(' HTTPS://SHOP.example:443/p ')?.href, 'https://shop.example/p')
})

test("a fragment that is the page's own route names another page, one that scrolls does not", () => {
  const key = (fragment: string) => urlKey(`https://s.example/app${fragment}`)?.toString('hex')
  for (const route of ['#!/p/1', '#/p/1']) {
    assert.notEqual(key(route), key(''), route)
    assert.notEqual(key(route), key(route.replace('1', '2')), route)
  }
  for (const place of ['#', '#reviews', '#p/1', '#size', '#idea=1'])
    assert.equal(key(place), key(''), place)
})

test('a query names the same page whatever its escapes and order', () => {
  const same = (...queries: string[]) => {
    const keys = new Set(queries.map((query) => key(`https://s.example/p?${query}`)))
    assert.equal(keys.size, 1, queries.join('   '))
  }
  same('q=red+mug', 'q=red%20mug')
  same('q=a|b', 'q=a%7Cb', 'q=a%7cb')
  same('c=3&a=1&b=2', 'b=2&c=3&a=1', 'a=1&c=3&b=2', 'a=1&b=2&c=3')
  assert.notEqual(key('https://s.example/p?flag'), key('https://s.example/p?flat'))
  assert.equal(key('https://s.example/p?gclid'), 's.example/p')
})

test("a position in a shop's search is ignored, a variant is not", () => {
  const page = 's.example/products/tea?variant=41'
  for (const trace of [
    '_pos=1&_sid=0c3d6b1c3&_ss=r',
    '_psq=tea&_ss=e',
    'pr_prod_strat=e5_desc&pr_rec_id=7f1&pr_rec_pid=71&pr_ref_pid=72&pr_seq=uniform',
    '__hstc=1.2&__hssc=1.1&__hsfp=3&hsCtaTracking=4',
  ]) {
    assert.equal(key(`https://${page}&${trace}`), page, trace)
  }
})

test('cid counts as tracking only if it holds a campaign or a click id', () => {
  assert.notEqual(key('https://s.example/p?cid=5'), key('https://s.example/p?cid=6'))
  assert.equal(key(`https://s.example/p?cid=${'0af'.padEnd(32, '1')}`), 's.example/p')
})

test('a domain covers its subdomains and no host that only ends alike', () => {
  assert.ok(isOnDomain('shop.example', 'shop.example'))
  assert.ok(isOnDomain('a.b.shop.example', 'shop.example'))
  assert.ok(!isOnDomain('evilshop.example', 'shop.example'))
  assert.ok(!isOnDomain('example', 'shop.example'))
  assert.ok(!isOnDomain('a.evil.example', 'shop.example'), 'a dot in the same place is not enough')
  assert.equal(siteHost(new URL('https://WWW.Shop.example.:8443/x')), 'shop.example')
  assert.equal(siteHost(new URL('https://www.com/')), 'www.com')
})

test('a URL is too long by characters, or by bytes once percent-encoded', () => {
  assert.ok(fitsUrlLimits(`https://s.example/${'a'.repeat(2030)}`))
  for (const length of [2031, 10_000]) {
    assert.ok(!fitsUrlLimits(`https://s.example/${'a'.repeat(length)}`), String(length))
  }
  assert.ok(fitsUrlLimits(`https://s.example/${'a'.repeat(2029)}\u{1F600}`))
  assert.ok(!fitsUrlLimits(`https://s.example/${'a'.repeat(2030)}\u{1F600}`))
  assert.ok(!fitsUrlLimits(`https://s.example/${'日'.repeat(700)}`))
  // `https%3A%2F%2Fs.example%2F` has 26 bytes, each of these letters nine.
  const wide = `https://s.example/${'日'.repeat(663)}`
  assert.ok(fitsUrlLimits(`${wide}${'a'.repeat(6000 - 26 - 9 * 663)}`))
  assert.ok(!fitsUrlLimits(`${wide}${'a'.repeat(6001 - 26 - 9 * 663)}`))
})

test('a URL is trimmed exactly as the URL standard says, in linear time', () => {
  for (const [written, read] of [
    ['https://shop.example/p/1', 'https://shop.example/p/1'],
    [' \t\n\u0000https://shop.example/p/1\u001f\r\n ', 'https://shop.example/p/1'],
    ['https://shop.example/p\r\n/\t1', 'https://shop.example/p/1'],
    ['https://shop.example/a b', 'https://shop.example/a b'],
    [' \n ', ''],
  ] as const) {
    assert.equal(trimUrl(written), read)
    assert.equal(URL.parse(written)?.href, URL.parse(read)?.href)
  }
  const long = `https://shop.example/${' '.repeat(1_000_000)}x`
  assert.equal(trimUrl(long), long)
})

test('a URL without reader data still names its page', () => {
  const kept = (address: string, page: string) => {
    assert.equal(withoutReader(address), page)
    assert.deepEqual(urlKey(address), urlKey(page), 'one page still')
  }
  kept('https://daily.example/a?p=12&mc_eid=5f&utm_source=n#c4', 'https://daily.example/a?p=12')
  kept('https://jane:secret@daily.example/a?fbclid=I', 'https://daily.example/a')
  kept('https://daily.example/a?email=jane%40mail.example', 'https://daily.example/a')
  kept('https://daily.example/?to=jane+n@mail.example&p=%C3', 'https://daily.example/?p=%C3')
  kept('https://daily.example/?a=1&&b=2', 'https://daily.example/?a=1&b=2')
  kept('https://daily.example/??id=3&fbclid=I', 'https://daily.example/??id=3')
  for (const same of [
    'https://daily.example/#!/mugs',
    'https://daily.example/?handle=@daily&at=1@2',
    'https://daily.example/?b=x%20y&a=%2f',
  ]) {
    kept(same, same)
  }
})

test('shows a host in its own letters, and one that is no valid punycode as it is', () => {
  assert.equal(unicodeHost('xn--bcher-kva.example'), 'bücher.example')
  for (const host of ['books.example', 'xn--0.example', '[::1]']) {
    assert.equal(unicodeHost(host), host)
  }
  const { shown, ascii } = hostForDisplay('https://Bücher.example:8443/p')
  assert.deepEqual([shown, ascii], ['bücher.example:8443', 'xn--bcher-kva.example:8443'])
  assert.deepEqual(hostForDisplay('x'), { shown: 'x', ascii: 'x' })
})
