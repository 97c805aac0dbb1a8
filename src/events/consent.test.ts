import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONSENT, consentNow, consentOf, consentWord, isConsentSaid } from './consent.ts'

const OBJECTIONS = [{ 'sec-gpc': '1' }, { dnt: '1' }]
const NO_OBJECTIONS = [{}, { 'sec-gpc': '0' }, { dnt: '0' }, { dnt: 'null' }]

test("the page's consent holds unless the browser objects, otherwise the publisher's default", () => {
  for (const byDefault of ['full', 'contextual'] as const) {
    for (const headers of OBJECTIONS) {
      for (const said of ['full', 'contextual', 'unknown', undefined]) {
        assert.equal(consentOf(said, { headers, byDefault }), CONSENT.contextual)
      }
    }
    for (const headers of NO_OBJECTIONS) {
      assert.equal(consentOf('full', { headers, byDefault }), CONSENT.full)
      assert.equal(consentOf('contextual', { headers, byDefault }), CONSENT.contextual)
      for (const said of ['unknown', undefined]) {
        assert.equal(consentOf(said, { headers, byDefault }), CONSENT[byDefault])
      }
    }
  }
})

test('the consent of an auction holds at the click unless the browser objects by then', () => {
  for (const allowed of [CONSENT.full, CONSENT.contextual]) {
    for (const headers of OBJECTIONS) {
      assert.equal(consentNow(allowed, headers), CONSENT.contextual)
    }
    for (const headers of NO_OBJECTIONS) assert.equal(consentNow(allowed, headers), allowed)
  }
})

test('an unknown word is refused, and a missing one says nothing', () => {
  for (const said of ['full', 'contextual', 'unknown', undefined]) {
    assert.equal(isConsentSaid(said), true, String(said))
  }
  for (const said of ['', 'ful', 'Full', 'constructor', '__proto__']) {
    assert.equal(isConsentSaid(said), false, said)
  }
  const words = [CONSENT.full, CONSENT.contextual, CONSENT.unknown].map(consentWord)
  assert.deepEqual(words, ['full', 'contextual', 'contextual'])
})
