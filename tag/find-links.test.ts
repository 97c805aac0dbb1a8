import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeBase62, MAX_ID } from '../src/platform/ids.ts'
import fc from '../test/support/fast-check.ts'
import { DO_NOT_LINK, judge, LOCAL, OTHER, OURS, RAW, WRAPPED } from './find-links.ts'
import type { PageSettings, Service } from './settings.ts'

const LINK = 'https://go.example'
const service: Service = {
  _base: 'https://souk.example',
  auction_url: 'https://auction.example',
  link_url: LINK,
  _own: ['//go.example/', '//souk.example/', '//auction.example/'],
  brand: 'service',
  publisher_id: 7,
  linkmate_enabled: true,
  domains: ['magazine.example'],
}

/** The tag's verdict on a URL on a page of `www.news.example`. */
function verdictOf(href: string, settings: PageSettings = {}, of: Service = service): string {
  return judge(new URL(href, 'https://www.news.example/a/'), 'www.news.example', {
    _service: of,
    _settings: settings,
  })
}

test('recognises a smart link in every form, and keeps the last digit of its id', () => {
  const id = '9007199254740993' // 2^53 + 1: the first that a number would change
  for (const form of ['', '/', '?u1=x', '/?u1=x', '?u1=x?amp=true', '/?amp=true', '#top']) {
    assert.equal(verdictOf(`${LINK}/${id}${form}`), id, form)
  }
  assert.equal(verdictOf(`http://go.example/${id}`), id, 'http for https')
  assert.equal(verdictOf(`//go.example/${id}`), id, 'without a scheme')
  assert.equal(verdictOf(`HTTPS://GO.EXAMPLE:443/${id}`), id, 'written oddly')
})

test('numbers that are not a 64-bit id are not smart links', () => {
  assert.equal(verdictOf(`${LINK}/${MAX_ID}`), MAX_ID)
  for (const path of ['9223372036854775808', '99999999999999999999', '0', '007', '-5', '1.5']) {
    assert.equal(verdictOf(`${LINK}/${path}`), OURS, path)
  }
})

test('leaves other URLs of the service alone', () => {
  for (const url of [
    `${LINK}/`,
    `${LINK}/link/?url=https%3A%2F%2Fshop.example%2F1&publisher_slug=demo`,
    `${LINK}/9007199254740993/more`,
    'https://souk.example/docs',
    'https://auction.example/api/v1/redirect/',
    'https://auction.example/api/v1/redirect/?a=none',
  ]) {
    assert.equal(verdictOf(url), OURS, url)
  }
})

test('where our URL has a path, only URLs below it are ours', () => {
  const id = '9007199254740993'
  const below: Service = { ...service, _own: ['//souk.example/go/'] }
  for (const path of [id, `${id}/`, `${id}?u1=x`, `api/v1/redirect/?a=${id}&uid_service=1`]) {
    assert.equal(verdictOf(`https://souk.example/go/${path}`, {}, below), id, path)
  }
  for (const path of [id, `gone/${id}`, `go${id}`, `go?${id}`]) {
    assert.equal(verdictOf(`https://souk.example/${path}`, {}, below), RAW, path)
  }
})

test('recognises a copy of a link that an auction has redirected', () => {
  const result = 'uid_service=1&ar=AQE&url=https%3A%2F%2Fshop.example%2F7&uuid=u&u1=x'
  const copy = `https://auction.example/api/v1/redirect/?a=9007199254740993&${result}`
  assert.equal(verdictOf(copy), '9007199254740993')
})

test('leaves another tag’s wrapper around one of our links alone', () => {
  const url = `${LINK}/9007199254740993`
  const encoded = encodeURIComponent(url)
  // Some write escapes in lower case, some escape no slashes.
  for (const written of [url, encoded, encoded.toLowerCase(), url.replace(':', '%3a')]) {
    assert.equal(verdictOf(`https://click.other.example/?to=${written}`), WRAPPED)
  }
})

test('hosts that only look like ours are not ours', () => {
  assert.equal(verdictOf('https://go.example.evil.example/9007199254740993'), RAW)
  assert.equal(verdictOf('https://evil.example/go.example/9007199254740993'), RAW)
  assert.equal(verdictOf('https://evil.example/https://go.example.evil.example/1'), RAW)
  assert.equal(verdictOf('https://evilgo.example/9007199254740993'), RAW)
})

test('the article’s host and the publisher’s domains are not outside', () => {
  for (const url of [
    '/page',
    'https://www.news.example/',
    'https://shop.news.example/',
    'https://magazine.example/',
    'https://www.magazine.example/x',
  ]) {
    assert.equal(verdictOf(url), LOCAL, url)
  }
  assert.equal(verdictOf('https://notmagazine.example/'), RAW)
  assert.equal(verdictOf('https://x.example/', {}, { ...service, domains: ['x.www.example'] }), RAW)
})

test('does not sell links to anything but web pages', () => {
  const hosted = ['ftp://shop.example/1', 'app+https://shop.example/1']
  for (const url of [
    ...hosted,
    'mailto:a@b.example',
    'tel:+1',
    'javascript:1',
    'data:text/plain,x',
  ]) {
    assert.equal(verdictOf(url), OTHER, url)
  }
})

test('obeys #donotlink at the end only', () => {
  assert.equal(verdictOf('https://shop.example/p#donotlink'), DO_NOT_LINK)
  assert.equal(verdictOf(`${LINK}/9007199254740993#DoNotLink`), DO_NOT_LINK)
  assert.equal(verdictOf('https://shop.example/p#donotlinks'), RAW)
  assert.equal(verdictOf('https://shop.example/p?x=donotlink'), RAW)
  assert.equal(verdictOf('https://shop.example/p#locklink'), RAW)
})

test('unwraps links that contain another URL unless the page forbids it', () => {
  const wrapper = 'https://click.other.example/?url=https%3A%2F%2Fshop.example%2F1'
  assert.equal(verdictOf(wrapper), RAW)
  assert.equal(verdictOf(wrapper, { unwrap: false }), WRAPPED)
  assert.equal(verdictOf('https://shop.example/1', { unwrap: false }), RAW)
})

test('the short form gives the id it was made from', () => {
  // Ids of 2025 and later; the service's are made from the time.
  const ids = fc.bigInt({ min: 10n ** 17n, max: 2n ** 63n - 1n }).map(String)
  fc.assert(
    fc.property(ids, (id) => {
      const code = encodeBase62(id)
      // One in two thousand looks like a word; it still redirects at the click.
      const isWord = /^(.[a-z]+|[A-Z]+)$/.test(code)
      assert.equal(verdictOf(`${LINK}/${code}`), isWord ? OURS : id)
      assert.equal(verdictOf(`${LINK}/${code}/?u1=a`), isWord ? OURS : id)
    }),
  )
})

test('recognises a short form without digits by the position of its capitals', () => {
  for (const [code, id] of [
    ['SHNBQNozbs', '382831851200319488'],
    ['SHNBqnozbs', '382831875403957856'],
  ] as const) {
    assert.equal(verdictOf(`${LINK}/${code}`), id)
  }
})

test('pages on the link host are not mistaken for short forms', () => {
  for (const path of [
    'newsletter',
    'Newsletter',
    'dashboard',
    'ABOUTUSABC',
    'privacy-policy',
    'x',
  ]) {
    assert.equal(verdictOf(`${LINK}/${path}`), OURS, path)
  }
})

test('never throws, whatever the URL', () => {
  fc.assert(
    fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
      assert.equal(typeof verdictOf(url), 'string')
    }),
  )
})
