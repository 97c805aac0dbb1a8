import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import {
  findAuctionId,
  isOwnLink,
  readAuctionId,
  readClickLabels,
  readWrapperQuery,
  shortLinkUrl,
  smartLinkUrl,
  wrapperUrl,
} from './link-url.ts'

const BASE = 'https://go.souk.example'
const auctionIds = fc.bigInt({ min: 62n ** 9n, max: 2n ** 63n - 1n }).map(String)
const segment = (url: string) => url.slice(BASE.length + 1)

test('both forms of a smart link lead back to its auction id', () => {
  fc.assert(
    fc.property(auctionIds, (id) => {
      assert.equal(smartLinkUrl(BASE, id), `${BASE}/${id}`)
      assert.equal(readAuctionId(segment(smartLinkUrl(BASE, id))), id)
      assert.equal(readAuctionId(segment(shortLinkUrl(BASE, id))), id)
      assert.ok(segment(shortLinkUrl(BASE, id)).length <= 11)
    }),
  )
})

test('finds an auction id in any copied form, and none in other text', () => {
  fc.assert(
    fc.property(auctionIds, (id) => {
      const forms = [id, smartLinkUrl(BASE, id), shortLinkUrl(BASE, id), `/${id}/`]
      for (const form of [...forms, `${BASE}/${id}/?u1=a/b?amp=true`, `${BASE}/${id}#donotlink`]) {
        assert.equal(findAuctionId(form), id, form)
      }
    }),
  )
  for (const text of ['', '/', 'mugs', 'https://shop.example/p/1', '2026']) {
    assert.equal(findAuctionId(text), null, text)
  }
})

test('text that cannot be an auction id is not a link', () => {
  const wrong = ['', 'robots.txt', '9223372036854775808', '-9007199254740993', '0900719925474099']
  for (const text of [
    ...wrong,
    '9007199254740993x',
    '9223372036854775808.',
    'zzzzzzzzzzz',
    '٣٣٣٣٣٣٣٣٣٣٣٣٣٣٣٣',
  ]) {
    assert.equal(readAuctionId(text), null, text)
  }
})

test('text appended to a smart link by mail programs and pages does not break it', () => {
  const glued = ['.', ')', '_', ';', '%20', '%E2%80%8B', '&u1=x', '%3Fu1=x', '/', '/%3Famp=true']
  fc.assert(
    fc.property(auctionIds, fc.constantFrom(...glued), (id, end) => {
      for (const form of [smartLinkUrl(BASE, id), shortLinkUrl(BASE, id)]) {
        const link = form + end
        assert.equal(readAuctionId(segment(link)), id, link)
        assert.equal(isOwnLink(new URL(link), { linkUrl: BASE, auctionUrl: BASE }), true, link)
      }
    }),
  )
  for (const page of ['newsletter-2', 'newsletter.html', 'newsletter/2', 'newsletter, 2']) {
    assert.equal(readAuctionId(page), null, page)
  }
})

test('a wrapper carries its parameters unchanged, whatever they contain', () => {
  const texts = fc.string({ unit: 'grapheme', minLength: 1 })
  fc.assert(
    fc.property(texts, texts, texts, fc.boolean(), (url, slug, name, isExclusive) => {
      const target = { url, publisherSlug: slug, isExclusive, articleName: name }
      const wrapped = new URL(wrapperUrl(BASE, target))
      assert.equal(wrapped.pathname, '/link/')
      assert.deepEqual(readWrapperQuery(wrapped.search), { ...target, articleUrl: null })
    }),
  )
  assert.equal(
    wrapperUrl(BASE, { url: 'https://s.example/a?b=1', publisherSlug: 'p', isExclusive: true }),
    `${BASE}/link/?url=https%3A%2F%2Fs.example%2Fa%3Fb%3D1&publisher_slug=p&exclusive=1`,
  )
})

test('half a surrogate pair in a parameter becomes the replacement character', () => {
  const target = { url: 'https://s.example/', publisherSlug: 'p', isExclusive: false }
  const wrapped = new URL(wrapperUrl(BASE, { ...target, articleName: 'a\ud83d' }))
  assert.equal(readWrapperQuery(wrapped.search).articleName, 'a\uFFFD')
})

test('an empty parameter of a wrapper counts as absent', () => {
  const nothing = { url: null, publisherSlug: null, articleUrl: null, articleName: null }
  assert.deepEqual(readWrapperQuery('?url=&&publisher_slug='), { ...nothing, isExclusive: false })
})

test('reads a click’s labels also after a second question mark', () => {
  const none = { u1: null, utmSource: null }
  assert.deepEqual(readClickLabels(''), none)
  assert.deepEqual(readClickLabels('?amp=true'), none)
  assert.deepEqual(readClickLabels('?u1=x'), { ...none, u1: 'x' })
  assert.deepEqual(readClickLabels('?u1=x?amp=true'), { ...none, u1: 'x' })
  assert.deepEqual(readClickLabels('?&utm_source=mail&u1='), { ...none, utmSource: 'mail' })
  assert.equal(readClickLabels(`?u1=${'y'.repeat(10_000)}`).u1?.length, 255)
  assert.equal(readClickLabels('?u1=a%00b%ED%A0%80').u1, 'ab\uFFFD\uFFFD\uFFFD')
})

test('cuts a long label between characters, never within one', () => {
  const encoded = encodeURIComponent('😀'.repeat(300))
  const { u1, utmSource } = readClickLabels(`u1=${encoded}&utm_source=y${encoded}`)
  assert.equal(u1, '😀'.repeat(127))
  assert.equal(utmSource, `y${'😀'.repeat(127)}`)
})

test('recognises our own links by their form, also below a path', () => {
  const bases = { linkUrl: 'https://pub.example/go', auctionUrl: 'https://auction.example' }
  const is = (url: string) => isOwnLink(new URL(url), bases)
  assert.equal(is('https://pub.example/go/312345678901234567'), true)
  assert.equal(is('https://pub.example/go/312345678901234567/?u1=x'), true)
  assert.equal(is(shortLinkUrl('https://pub.example/go', '312345678901234567')), true)
  assert.equal(is('https://pub.example/go/123456'), true, 'a number that is nobody’s')
  assert.equal(is('https://pub.example/go/9223372036854775808'), false, 'more than 64 bits')
  assert.equal(is('https://pub.example/go/link/?url=x'), true)
  assert.equal(is('https://auction.example/api/v1/redirect/?a=1'), true)
  assert.equal(is('https://pub.example/312345678901234567'), false)
  assert.equal(is('https://pub.example/go/about-us-page'), false)
  assert.equal(is('https://shop.example/go/312345678901234567'), false)
})
