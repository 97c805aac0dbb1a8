/** One version, and every documented path in it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../support/api.ts'

const api = await startApi({ after })
const { pubId } = await api.account()

/** The documented endpoints with their methods. */
const ENDPOINTS = [
  ['POST', 'smart_links/'],
  ['GET', 'tokeninfo/'],
  ['GET', 'product_match/clickmate/exclusive_links/'],
  ['GET', `publishers/${pubId}/stats_by_article_merchant_daily/`],
  ['POST', `publishers/${pubId}/linkmate/smart_links/`],
  ['GET', 'auction/'],
  ['POST', 'events/impressions/page_impression/'],
  ['POST', 'events/impressions/service_link_impression/'],
] as const

test('every endpoint answers under /api/v1/, by its documented method', async () => {
  for (const [method, path] of ENDPOINTS) {
    const { status, headers } = await api.call(`/api/v1/${path}`, { method: 'OPTIONS' })
    assert.equal(status, 204, path)
    assert.ok((headers.get('allow') ?? '').split(', ').includes(method), path)
  }
})

test('no other version answers', async () => {
  for (const [method, path] of ENDPOINTS) {
    for (const version of ['/api/v2/', '/api/v0/', '/api/', '/']) {
      const answer = await api.call(version + path, { method })
      assert.equal(answer.status, 404, version + path)
    }
  }
})
