import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { importOffers, makeCampaign, makeMerchant } from '../../test/support/catalogue.ts'
import { constantSql } from '../platform/postgres/sql.ts'
import { updateProductWords } from './product-words-store.ts'

const api = await startApi({ after })
const { db } = api
const { key, pubId } = await api.account()
const gtin = '9521000000018'
const kettle = { id: 'K-1', title: 'Steel kettle, 1.7 litres', brand: 'Ketco', gtin }
const one = await makeMerchant(db, {
  ...{ name: 'One', domain: 'one.example' },
  offers: [
    { ...kettle, link: 'https://one.example/kettle', price: '40.00 USD' },
    { id: 'M-1', title: 'Blue mug', link: 'https://one.example/mug' },
  ],
})
const two = await makeMerchant(db, {
  ...{ name: 'Two', domain: 'two.example' },
  offers: [
    { ...kettle, id: 'T-9', link: 'https://two.example/k', price: '35.00 USD' },
    {
      id: 'T-10',
      title: 'Red kettle',
      link: 'https://two.example/r',
      availability: 'out of stock',
    },
  ],
})
await api.untilKnown(await makeCampaign(db, one.merchId))
await updateProductWords(db)

interface Product {
  readonly name: string
  readonly offers: readonly {
    readonly merch_id: number
    readonly in_stock: boolean
    readonly price: string
    readonly best_effort_cpc: number
    readonly clickmate_link: string
  }[]
  readonly datetime_created: string
  readonly datetime_updated: string
}
const search = async (q: string): Promise<Product[]> => {
  const path = `/api/v1/publishers/${pubId}/products/?q=${encodeURIComponent(q)}`
  const answer = await api.call(path, { key })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ data: Product[] }>().data
}
const names = async (q: string) => (await search(q)).map(({ name }) => name)

test('a product has the offers of all merchants, the best for the publisher first', async () => {
  const [product, ...others] = await search('steel kettle')
  assert.equal(others.length, 0)
  assert.deepEqual(
    product?.offers.map(({ merch_id, price, in_stock }) => [merch_id, price, in_stock]),
    [
      [one.merchId, '40.00', true],
      [two.merchId, '35.00', true],
    ],
  )
  assert.ok((product?.datetime_created ?? '?') <= (product?.datetime_updated ?? ''))
  const [best, other] = product?.offers ?? []
  assert.ok((best?.best_effort_cpc ?? 0) > 0)
  assert.equal(other?.best_effort_cpc, 0)
  assert.match(best?.clickmate_link ?? '', /\/link\/\?url=https%3A%2F%2Fone\.example%2Fkettle/)
})

test('products are found by words, beginnings, typos, GTIN, SKU and URL', async () => {
  const steel = kettle.title
  const wanted: Record<string, string[]> = {
    kettle: [steel, 'Red kettle'],
    'ketco ste': [steel],
    'STEEL 1.7': [steel],
    'steel ketle': [steel],
    [gtin]: [steel],
    '952-1000000018': [steel],
    'T-10': ['Red kettle'],
    'https://two.example/k': [steel],
    ...{ 'steel mug': [], "'": [], '&|!': [], 'https://nobody.example/': [] },
  }
  for (const [q, found] of Object.entries(wanted)) assert.deepEqual(await names(q), found, q)
})

test('an import changes what is found', async () => {
  await importOffers(db, one.merchId, [
    { ...kettle, title: 'Copper kettle', link: 'https://one.example/kettle' },
  ])
  await updateProductWords(db)
  assert.deepEqual(await names('mug'), [])
  assert.deepEqual(await names('copper'), ['Copper kettle'])
  assert.equal((await names('steel')).length, 1, 'at the other merchant')
})

test('words alone are found where the server has no pg_trgm', async () => {
  await db.run(constantSql('drop extension pg_trgm cascade'))
  assert.deepEqual(await names('ketle'), [])
  assert.equal((await names('red kettle')).length, 1)
})

test('a wrong query names its field', async () => {
  const path = `/api/v1/publishers/${pubId}/products/`
  const wrong = { q: '', '': 'q', 'q=x&cursor=y': 'cursor', 'q=x&limit=501': 'limit' }
  for (const [query, field] of Object.entries(wrong)) {
    const answer = await api.call(`${path}?${query === 'q' ? 'q=' : query}`, { key })
    assert.equal(answer.status, 400, query)
    assert.deepEqual(answer.failure().fields, [field === '' ? 'q' : field])
  }
})
