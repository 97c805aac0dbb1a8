/** Product feeds for publishers: docs/spec/reports.md. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { updatePublisher } from '../../src/accounts/publisher-store.ts'
import { updateMerchant } from '../../src/catalog/merchant-store.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { BASE_URL, LINK_URL, startApi } from '../support/api.ts'
import { makeMerchant } from '../support/catalogue.ts'
import { until } from '../support/market.ts'

const COLUMNS =
  'brand,colors,currency,description,google_product_category,gtin,image_url,item_group_id,' +
  'item_id,manufacturer,model,mpn,name,price,sale_price,sizes,sku,store_page_url'

const api = await startApi({ after })
const ann = await api.account({ slug: 'daily' })
const { merchId } = await makeMerchant(api.db, {
  name: 'Kettles',
  domain: 'kettles.example',
  offers: [
    {
      id: 'A-1',
      title: '9" kettle, steel',
      link: 'https://kettles.example/p/1?color=red',
      price: '1049 USD',
      gtin: '9521000000018',
      brand: 'Ostrava',
      image: 'https://kettles.example/1.jpg',
      category: '730',
      description: 'Boils, "fast"',
      color: 'Red/Black',
      size: '1.7 l',
      group: 'K',
    },
    { id: 'A-2', title: '=HYPERLINK("x")', link: 'https://kettles.example/p/2' },
    { id: 'A-3', link: 'https://kettles.example/p/3', availability: 'out of stock' },
  ],
})
const path = (merchant: number | '' = '', pubId = ann.pubId) =>
  `/api/v1/publishers/${pubId}/product_feeds/${merchant === '' ? '' : `${merchant}/`}`
const read = async (merchant: number) => {
  const answer = await api.call(path(merchant), { key: ann.key })
  assert.equal(answer.status, 200, answer.text)
  return answer
}

test("a merchant's feed has the documented columns and its products in stock with wrapped URLs", async () => {
  const answer = await read(merchId)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/)
  const [header = '', first = ''] = answer.text.split('\n')
  assert.equal(header.replaceAll('"', ''), COLUMNS)
  const page = `${LINK_URL}/link/?url=https%3A%2F%2Fkettles.example%2Fp%2F1%3Fcolor%3Dred`
  assert.equal(
    first,
    `"Ostrava","Red/Black","USD","Boils, ""fast""","730","9521000000018",` +
      `"https://kettles.example/1.jpg","K","A-1","","",` +
      `"","9"" kettle, steel","1049.00","","1.7 l","A-1","${page}&publisher_slug=daily&exclusive=1"`,
  )
  const rows = parse(answer.text, { columns: true }) as Record<string, string>[]
  assert.deepEqual(
    rows.map(({ sku, name }) => [sku, name]),
    [
      ['A-1', '9" kettle, steel'],
      ['A-2', `'=HYPERLINK("x")`],
    ],
  )
})

test('a product on sale has its regular price as price, and its current price as sale price', async () => {
  const { merchId: shop } = await makeMerchant(api.db, {
    name: 'Sales',
    domain: 'sales.example',
    offers: [
      { id: '1', link: 'https://sales.example/1', price: '100.00 USD', salePrice: '80.00 USD' },
      { id: '2', link: 'https://sales.example/2', price: '60.00 USD', salePrice: '60.00 USD' },
    ],
  })
  const { text } = await read(shop)
  const rows = parse(text, { columns: true }) as Record<string, string>[]
  assert.deepEqual(
    rows.map(({ price, sale_price }) => [price, sale_price]),
    [
      ['100.00', '80.00'],
      ['60.00', ''],
    ],
  )
})

test('a feed of many pages is complete', async () => {
  const many = Array.from({ length: 10_001 }, (_, at) => ({
    id: `P${at}`,
    link: `https://many.example/${at}`,
  }))
  const shop = await makeMerchant(api.db, { name: 'Many', domain: 'many.example', offers: many })
  const { text } = await read(shop.merchId)
  const rows = parse(text, { columns: true }) as Record<string, string>[]
  assert.equal(new Set(rows.map(({ sku }) => sku)).size, many.length)
})

test('a feed has no page on a domain that its merchant gave up', async () => {
  const [kept, given] = ['kept.example', 'given-up.example']
  const shop = await makeMerchant(api.db, {
    name: 'Two sites',
    domain: given,
    offers: [{ id: '1', link: `https://${given}/1` }],
  })
  const products = async () => (await read(shop.merchId)).text.trimEnd().split('\n').length - 1
  assert.equal(await products(), 1)
  await updateMerchant(api.db, { merchId: shop.merchId, changes: { domains: [kept] } })
  await until(async () => (await products()) === 0)
})

test('the list names each merchant with a feed whose links the publisher accepts', async () => {
  const blocked = await makeMerchant(api.db, {
    name: 'Blocked',
    domain: 'blocked.example',
    offers: [{ id: '1', link: 'https://blocked.example/1' }],
  })
  await updatePublisher(api.db, {
    pubId: ann.pubId,
    changes: { block_merchants: [blocked.merchId] },
  })
  const answer = await api.call(path(), { key: ann.key })
  const { data } = answer.json<{ data: Record<string, unknown>[] }>()
  assert.ok(data.every((feed) => feed.merch_id !== blocked.merchId))
  const feed = data.find((entry) => entry.merch_id === merchId)
  assert.deepEqual(feed, {
    merch_id: merchId,
    merchant: 'Kettles',
    feed_url: BASE_URL + path(merchId),
    datetime_updated: feed?.datetime_updated,
  })
  const refused = await api.call(path(blocked.merchId), { key: ann.key })
  assert.deepEqual([refused.status, refused.failure().code], [404, 4040])
  await updatePublisher(api.db, { pubId: ann.pubId, changes: { allow_merchants: [merchId] } })
  const only = (await api.call(path(), { key: ann.key })).json<{ data: { merch_id: number }[] }>()
  assert.deepEqual(
    only.data.map(({ merch_id }) => merch_id),
    [merchId],
  )
})

test('a database failure before the first row gives a 503, not half a file', async (t) => {
  const other = await api.db.reserve()
  t.after(() => other.release(new Error('over')))
  await other.run(sql`begin`)
  await other.run(sql`lock table offer`)
  const answer = api.call(path(merchId), { key: ann.key })
  const cut = sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await api.db.run(cut)) > 0)
  assert.equal((await answer).status, 503)
  assert.equal((await answer).failure().code, 5030)
})

test('a feed needs the key of its publisher', async () => {
  const other = await api.account({})
  for (const at of [path(), path(merchId)]) {
    const none = await api.call(at)
    assert.deepEqual([none.status, none.failure().code], [401, 4302])
    const foreign = await api.call(at, { key: other.key })
    assert.deepEqual([foreign.status, foreign.failure().code], [403, 4303])
  }
  const unknown = await api.call(path('', 2_000_000_000), { key: ann.key })
  assert.deepEqual([unknown.status, unknown.failure().code], [404, 4040])
  const wrong = await api.call(`${path()}abc/`, { key: ann.key })
  assert.deepEqual(wrong.failure().fields, ['merch_id'])
})
