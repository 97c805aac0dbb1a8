/** A 400 lists every fault of a request, in path, query and body. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { NETWORK } from '../../src/accounts/permission.ts'
import { type CallOptions, startApi } from '../support/api.ts'
import { makePerson } from '../support/management.ts'

const api = await startApi({ after })
const ann = await api.account({ is_partner: true })
const two = await api.account({}, {})
const LINKS = '/api/v1/smart_links/'
const MATCH = '/api/v1/product_match/clickmate/exclusive_links/'
const STATS = 'stats_by_article_merchant_daily/?date_from=2026-03-02&date_to=2026-03-02'
const GOOD_LINK = { article_name: 'A', article_url: 'https://daily.example/a' }
const LONG_KEY = { 'idempotency-key': 'x'.repeat(256) }

async function fieldsOf(path: string, options: CallOptions): Promise<string[]> {
  const answer = await api.call(path, options)
  assert.equal(answer.status, 400, `${path} ${answer.text}`)
  return answer.failure().fields
}

test('faults of path, query and body are listed together', async () => {
  const { key } = ann
  assert.deepEqual(await fieldsOf('/api/v1/publishers/x/linkmate/smart_links/', { body: {} }), [
    'pub_id',
    'article',
    'links',
  ])
  const stats = `/api/v1/publishers/x/${STATS}&limit=0`
  assert.deepEqual(await fieldsOf(stats, { key }), ['pub_id', 'limit', 'date_to'])
})

test('faults across fields are listed beside faults of single fields', async () => {
  const { key, pubId } = ann
  const stats = `/api/v1/publishers/${pubId}/${STATS}&limit=0`
  assert.deepEqual(await fieldsOf(stats, { key }), ['limit', 'date_to'])
  const reports = `/api/v1/publishers/${pubId}/reports/clicks/?date_to=2026-03-01&limit=0&date_from`
  assert.deepEqual(await fieldsOf(`${reports}=2026-03-02`, { key }), ['limit', 'date_to'])
  assert.deepEqual(await fieldsOf(`${reports}=0001-01-01`, { key }), ['limit', 'date_to'])
  assert.deepEqual(await fieldsOf(`${reports}=soon`, { key }), ['date_from', 'limit'])
  assert.deepEqual(await fieldsOf(MATCH, {}), ['publisher_slug', 'gtin'])
  assert.deepEqual(await fieldsOf(`${MATCH}?gtin=&article_url=x`, {}), [
    'publisher_slug',
    'article_url',
    'gtin',
  ])
  const long = `${MATCH}?publisher_slug=a&sku=${'1'.repeat(51)}&article_url=x`
  assert.deepEqual(await fieldsOf(long, {}), ['article_url', 'sku'])
})

test("faults that depend on the key's holder are listed beside the body's faults", async () => {
  const { key } = two
  const wrong = { ...GOOD_LINK, url: 'x' }
  assert.deepEqual(await fieldsOf(LINKS, { key, body: wrong, headers: LONG_KEY }), [
    'url',
    'pub_id',
    'Idempotency-Key',
  ])
  assert.deepEqual(await fieldsOf(LINKS, { key, body: GOOD_LINK, headers: LONG_KEY }), [
    'pub_id',
    'Idempotency-Key',
  ])
  assert.deepEqual(await fieldsOf(LINKS, { key: ann.key, body: {}, headers: LONG_KEY }), [
    'article_name',
    'article_url',
    'Idempotency-Key',
  ])
})

test('a reversal without a click, or with too many, is listed beside its other faults', async () => {
  const { key } = await makePerson(api.db, { organization: NETWORK, role: 'admin' })
  const reversals = '/api/v1/reversals/'
  assert.deepEqual(await fieldsOf(reversals, { key, body: {} }), ['reason', 'click'])
  const both = { click: 'a'.repeat(32), result: 'a'.repeat(32), reason: '' }
  assert.deepEqual(await fieldsOf(reversals, { key, body: both }), ['reason', 'click'])
  assert.deepEqual(await fieldsOf(reversals, { key, body: 'null' }), ['body', 'click'])
})

test("faults of a webhook's URL and events are listed together", async () => {
  const { key, pubId } = ann
  const hooks = `/api/v1/publishers/${pubId}/webhooks/`
  const wrongs = [
    [{ url: 'x', events: [] }, ['events', 'url']],
    [{ url: 'ftp://x.example/', events: ['order.placed', 1] }, ['events[1]', 'url', 'events']],
    [{ url: 'https://x.example/' }, ['events']],
    [{ url: 1, events: ['order.placed'] }, ['url', 'events']],
  ] as const
  for (const [body, fields] of wrongs) {
    assert.deepEqual(await fieldsOf(hooks, { key, body }), [...fields], JSON.stringify(body))
  }
})

test('a field is listed once, with its own fault', async () => {
  const { key } = two
  const texts = [
    [`${MATCH}?publisher_slug=a&gtin=1&gtin=2`, {}, ['gtin']],
    [`${MATCH}?publisher_slug=a&gtin=${'1'.repeat(51)}`, {}, ['gtin']],
    [`${MATCH}?publisher_slug=a&sku=${'1'.repeat(256)}`, {}, ['sku']],
    [LINKS, { key, body: { ...GOOD_LINK, pub_id: 'x' } }, ['pub_id']],
    [LINKS, { key: ann.key, body: 'null' }, ['body']],
    [`/api/v1/publishers/${two.pubId}/${STATS}&date_to=x`, { key }, ['date_to']],
  ] as const
  for (const [path, options, fields] of texts) {
    assert.deepEqual(await fieldsOf(path, options), [...fields], path)
  }
})

test('U+0000 in a query is reported under its parameter, and ignored in an unknown one', async () => {
  const slug = ann.publishers[0]?.slug
  const answer = await api.call(`${MATCH}?publisher_slug=${slug}&gtin=1%00&sku=%00`)
  assert.deepEqual(answer.failure().data, [
    { field: 'gtin', rule: 'must not hold U+0000' },
    { field: 'sku', rule: 'must not hold U+0000' },
  ])
  assert.equal((await api.call(`${MATCH}?publisher_slug=${slug}&gtin=1&utm=%00`)).status, 200)
  assert.equal((await api.call(`${MATCH}?gtin=%00`, { key: 'souk_unknown' })).status, 401)
})
