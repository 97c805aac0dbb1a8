/** The brand word: docs/spec/interface.md#brand-word. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../support/api.ts'
import { makeMerchant } from '../support/catalogue.ts'
import { makeMarket, runAuction, until } from '../support/market.ts'

const TEA = 'https://teas.example/p/1'
const api = await startApi({ after }, { env: { BRAND: 'Acme' } })
const market = await makeMarket(api)

test('an auction answer uses the configured word, and its category is a number', async () => {
  const offer = { id: '1', link: TEA, category: '730' }
  const { merchId } = await makeMerchant(api.db, {
    name: 'Teas',
    domain: 'teas.example',
    offers: [offer],
  })
  await until(() => api.app.node.edge.market.merchants.get(merchId)?.feed_imported_at != null)
  const { auction_result, impression_pixel_url } = await runAuction(api, await market.link(TEA))
  assert.equal(auction_result.product?.acme_product_category_id, 730)
  assert.equal(auction_result.product?.service_product_category_id, undefined)
  const query = new URL(auction_result.redirect_url).searchParams
  assert.match(query.get('uid_acme') ?? '', /^\d+$/)
  assert.equal(query.has('uid_service'), false)
  assert.ok(new URL(impression_pixel_url).searchParams.has('uid_acme'))
})

test('keys and events are accepted under the word and every alias, and no other', async () => {
  const auctionId = await market.link()
  const known = ['acme', 'Acme', 'service', 'souk', 'nrtv', 'bamx', 'bam', 'howl']
  for (const word of [...known, 'other']) {
    const isKnown = word !== 'other'
    const authorization = `${word}-API-KEY ${market.account.key}`
    const answer = await api.call('/api/v1/tokeninfo/', { headers: { authorization } })
    assert.equal(answer.status, isKnown ? 200 : 401, word)
    const event = await api.call(`/api/v1/events/impressions/${word}_link_impression/`, {
      body: {
        organization_type: 'publisher',
        organization_id: market.account.pubId,
        user: { page_session_uuid: crypto.randomUUID(), source_url: 'https://daily.example/' },
        events: [{ auction_id: auctionId }],
      },
    })
    assert.equal(event.status, isKnown ? 201 : 404, word)
  }
})

test('the API reference and openapi.json use the configured word', async () => {
  const reference = ['/docs/api/', '/docs/api/publishers/', '/docs/api/readers/']
  for (const paths of [['/openapi.json'], reference]) {
    const texts = paths.map(async (path) => (await fetch(api.url + path)).text())
    const text = (await Promise.all(texts)).join()
    const [path = ''] = paths
    for (const said of ['ACME-API-KEY', 'acme_link_impression', 'uid_acme']) {
      assert.ok(text.includes(said), `${path} says ${said}`)
    }
    assert.match(text, /acme_product_category_id/, path)
    assert.doesNotMatch(text, /SERVICE-API-KEY|uid_service|service_(link|product)_/, path)
  }
})
