/** Third-party trackers, with images that are only counted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Consent } from './consent.ts'
import type { AuctionResult } from './link.ts'
import type { Parts } from './page-session.ts'
import { makeTrackers } from './trackers.ts'

const [SEEN, VIEWED] = ['https://t.example/seen?r={RAND}', 'https://t.example/viewed']

function openPage(consent: Consent['consent']) {
  const fired: { readonly src: string; readonly style: { readonly cssText: string } }[] = []
  const define = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { configurable: true, value })
  define('Image', function image() {
    return { style: {} }
  })
  define('document', {
    body: { appendChild: (image: (typeof fired)[number]) => void fired.push(image) },
  })
  const choice = { consent, consent_source: undefined }
  const fire = makeTrackers({ _consent: () => choice } as unknown as Parts)
  return { fire, fired, choice }
}

const result = (impression?: string[], viewable_impression?: string[]): AuctionResult => ({
  id: 'r',
  auction_id: '1',
  redirect_url: 'https://souk.example/',
  tracker_urls: {
    ...(impression && { impression }),
    ...(viewable_impression && { viewable_impression }),
  },
})

test('fires a tracker once per page and event, however many links name it', () => {
  const { fire, fired } = openPage('full')
  fire('impression', result([SEEN, SEEN], [VIEWED]))
  fire('impression', result([SEEN]))
  assert.equal(fired.length, 1)
  fire('viewable_impression', result([SEEN], [VIEWED, SEEN]))
  fire('viewable_impression', result([], [VIEWED]))
  assert.equal(fired.length, 3, 'the same URL may serve both events')
  for (const event of ['impression', 'viewable_impression'] as const) {
    fire(event, result())
    fire(event, { ...result(), tracker_urls: {} })
  }
  assert.equal(fired.length, 3)
})

test('fires a hidden image, with a unique number in every {RAND}', () => {
  const { fire, fired } = openPage('full')
  for (const path of ['a', 'b'])
    fire('impression', result([`https://t.example/${path}?{RAND}&{RAND}`]))
  const numbers = fired.flatMap(({ src }) => src.match(/\d+/g) ?? [])
  assert.equal(numbers.length, 4)
  assert.ok(new Set(numbers).size > 1)
  for (const { src, style } of fired) {
    assert.doesNotMatch(src, /RAND|[{}]/)
    assert.match(style.cssText, /display:none/)
  }
})

test('fires nothing after a reader has refused', () => {
  const refused = openPage('contextual')
  refused.fire('impression', result([SEEN]))
  assert.equal(refused.fired.length, 0)
  const { fire, fired, choice } = openPage('unknown')
  fire('impression', result([SEEN]))
  assert.equal(fired.length, 1, 'then the service has decided')
  choice.consent = 'contextual'
  fire('viewable_impression', result([], [VIEWED]))
  assert.equal(fired.length, 1)
})
