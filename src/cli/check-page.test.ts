import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Sealer } from '../auction/seal.ts'
import { checkPage } from '../check-page/check-page.ts'
import { MODEL, type Model } from '../events/event.ts'
import { unpackTerms } from '../events/pay-terms.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { micros } from '../platform/money/money.ts'
import { earningsUnder } from './check-page.ts'

test('the earnings of a paid click are exact, and a commission has none', () => {
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
  const earningsOf = earningsUnder(sealer, 'service')
  assert.equal(earningsOf(redirectUrl(MODEL.cpc)), '0.060003')
  for (const model of [MODEL.cpa, MODEL.epp]) assert.equal(earningsOf(redirectUrl(model)), null)
})

test('a browser that does not start gives an error that names it', async () => {
  const page = { url: 'https://a.example/', publisher: null, earningsOf: () => null }
  const options = { ...page, baseUrl: 'http://localhost:1', tagDir: '' }
  for (const chromium of ['/no/such/browser', process.execPath]) {
    const checked = checkPage({ ...options, chromium })
    await assert.rejects(checked, (error: Error) => {
      assert.ok(error instanceof Refusal)
      assert.ok(error.message.includes(chromium), error.message)
      return !error.message.includes('\n')
    })
  }
})
