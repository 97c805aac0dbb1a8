import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Sealer } from '../auction/seal.ts'
import { MODEL, type Model } from '../events/event.ts'
import { unpackTerms } from '../events/pay-terms.ts'
import { micros } from '../platform/money/money.ts'
import { earningsUnder } from './earnings.ts'

test('the earnings of a paid click are exact, only its publisher’s, and a commission has none', () => {
  const sealer = new Sealer([{ id: 1, key: randomBytes(32) }])
  const binding = { auctionId: '9', uidService: '8', url: 'https://shop.example/p', uuid: 'u' }
  const redirectUrl = (model: Model) => {
    const sealed = sealer.seal(
      {
        ...{ resultNumber: randomBytes(16), issuedAtMs: 1_790_000_000_123, offerId: '1' },
        ...{ pubId: 7, merchId: 9, campaignId: 11, snapshotVersion: 42, consent: 1 },
        ...{ isExclusive: false, isKeylessForeign: false, isAtClick: false },
        terms: unpackTerms({ model, amount: 80_005 }),
        ...{ runnerUpMicros: micros(0), sharePpm: 750_000 },
      },
      binding,
    )
    const query = { a: '9', uid_service: '8', ar: sealed, url: binding.url, uuid: 'u' }
    return `https://souk.example/api/v1/redirect/?${new URLSearchParams(query)}`
  }
  const earningsOf = earningsUnder(sealer, { brand: 'service' })
  assert.equal(earningsOf(redirectUrl(MODEL.cpc)), '0.060003')
  for (const [pubId, earns] of [
    [7, '0.060003'],
    [8, null],
  ] as const) {
    const earningsOfOne = earningsUnder(sealer, { brand: 'service', pubId })
    assert.equal(earningsOfOne(redirectUrl(MODEL.cpc)), earns)
  }
  assert.equal(earningsOf('no URL'), null)
  for (const model of [MODEL.cpa, MODEL.epp]) assert.equal(earningsOf(redirectUrl(model)), null)
})
