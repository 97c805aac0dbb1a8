/** Matching a product to merchants' links: docs/spec/interface.md#match-products. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { CategoryFloor } from '../../src/accounts/category-floor.ts'
import { updatePublisher } from '../../src/accounts/publisher-store.ts'
import { updateMerchant } from '../../src/catalog/merchant-store.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { type Answer, LINK_URL, startApi } from '../support/api.ts'
import { importOffers, makeCampaign, makeMerchant } from '../support/catalogue.ts'
import { until } from '../support/market.ts'

const PATH = '/api/v1/product_match/clickmate/exclusive_links/'
const GTIN = '9521000000018'
const BOOK = '9780306406157'

interface Entry {
  readonly best_effort_cpc: number
  readonly clickmate_link: string
  readonly product_information: Readonly<Record<string, string | boolean>>
}

const logLines: string[] = []
const api = await startApi({ after }, { logLines, env: { LOG_LEVEL: 'info' } })
const ann = await api.account({ is_partner: true })
const bob = await api.account({})
const slugs = [ann, bob].map(({ publishers }) => publishers[0]?.slug ?? '')
const [member = '', open = ''] = slugs

const acme = await makeMerchant(api.db, {
  name: 'Acme',
  domain: 'acme.example',
  offers: [
    {
      id: 'A-1',
      link: 'https://www.acme.example/kettle?color=red',
      title: 'Kettle',
      price: '49.99 USD',
      gtin: GTIN,
      brand: 'Ostrava',
      image: 'https://img.example/a1.jpg',
    },
    { id: 'A-2', link: 'https://acme.example/kettle-blue', gtin: GTIN, price: '39.99 USD' },
    { id: 'A-3', link: 'https://acme.example/book', gtin: BOOK },
    { id: 'A-4', link: 'https://acme.example/loose', gtin: '0000012345670' },
    { id: 'A-5', link: 'https://acme.example/upc', gtin: '0012345678905' },
    { id: 'COMMON', link: 'https://acme.example/common' },
    { id: 'L'.repeat(60), link: 'https://acme.example/long' },
  ],
})
const bolt = await makeMerchant(api.db, {
  name: 'Bolt',
  domain: 'bolt.example',
  offers: [
    { id: 'B-1', link: 'https://bolt.example/k', gtin: GTIN, availability: 'out of stock' },
    { id: 'B-2', link: 'https://bolt.example/k2', gtin: GTIN, price: '55 USD' },
    { id: 'B-3', link: 'https://bolt.example/loose', gtin: '12345670X' },
    { id: 'B-4', link: 'https://bolt.example/shop-own', gtin: '2012345678900' },
  ],
})
const core = await makeMerchant(api.db, {
  name: 'Core',
  domain: 'core.example',
  offers: [
    { id: 'C-1', link: 'https://core.example/k', gtin: GTIN, availability: 'out of stock' },
    { id: 'COMMON', link: 'https://core.example/common' },
  ],
})
await makeCampaign(api.db, acme.merchId, { bid_micros: micros(200_000) })
await makeCampaign(api.db, bolt.merchId, {
  bid_micros: micros(100_000),
  exclusive_bid_micros: micros(800_000),
})
await makeCampaign(api.db, core.merchId)

const ask = (query: Record<string, string>, key?: string): Promise<Answer> =>
  api.call(`${PATH}?${new URLSearchParams(query)}`, key === undefined ? {} : { key })
const article = { article_url: 'https://daily.example/k?a=1', article_name: 'Best kettles & co' }
const variantB = (query: Record<string, string>) => ({ publisher_slug: open, ...article, ...query })
const variantA = (query: Record<string, string>) => ({ publisher_slug: member, ...query })
const entries = async (query: Record<string, string>, key?: string): Promise<Entry[]> => {
  const answer = await ask(query, key)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ data: Entry[] }>().data
}
const merchants = async (query: Record<string, string>) =>
  (await entries(query)).map(({ product_information: product }) => product.merchant_name)

test('an entry has every field with its type, without an info envelope', async () => {
  const answer = await ask(variantB({ gtin: GTIN }))
  assert.deepEqual(Object.keys(answer.json<object>()), ['data'])
  const acmes = answer
    .json<{ data: Entry[] }>()
    .data.find(({ product_information: product }) => product.merchant_name === 'Acme')
  assert.deepEqual(acmes?.product_information, {
    brand: '',
    gtin: GTIN,
    image_url: '',
    in_stock: true,
    price: '39.99',
    product_name: 'Product A-2',
    merchant_name: 'Acme',
  })
  assert.equal(typeof acmes?.best_effort_cpc, 'number')
})

test('every merchant that sells it has one entry, its cheapest in stock, best CPC first', async () => {
  const found = await entries(variantB({ gtin: GTIN }))
  assert.deepEqual(
    found.map(({ product_information: p }) => [p.merchant_name, p.price, p.in_stock]),
    [
      ['Bolt', '55.00', true],
      ['Acme', '39.99', true],
      ['Core', '49.99', false],
    ],
  )
  // Share 75 %, 97 of 100 clicks valid: $0.80 posted price, $0.20 bid, nothing while out of stock.
  assert.deepEqual(
    found.map(({ best_effort_cpc }) => best_effort_cpc),
    [0.582, 0.1455, 0],
  )
})

test('a predicted CPC is written with a decimal point, so that it reads as a float', async () => {
  const { text } = await ask(variantB({ gtin: GTIN }))
  assert.deepEqual(
    [...text.matchAll(/"best_effort_cpc":([^,]+)/g)].map(([, cpc]) => cpc),
    ['0.582', '0.1455', '0.0'],
  )
})

test('the link leads only to its merchant, with the article that was sent', async () => {
  const [first] = await entries(variantB({ gtin: GTIN }))
  assert.ok(
    first?.clickmate_link.startsWith(`${LINK_URL}/link/?url=https%3A%2F%2Fbolt.example%2Fk2&`),
  )
  const query = Object.fromEntries(new URL(first?.clickmate_link ?? '').searchParams)
  assert.deepEqual(query, {
    url: 'https://bolt.example/k2',
    publisher_slug: open,
    exclusive: '1',
    ...article,
  })
  const [bare] = await entries(variantA({ gtin: GTIN, article_name: 'Only a name' }))
  const { searchParams } = new URL(bare?.clickmate_link ?? '')
  assert.equal(searchParams.get('article_url'), null)
  assert.equal(searchParams.get('article_name'), 'Only a name')
})

test('a GTIN is the same number in every valid form', async () => {
  const forms = ['9521000000018', '09521000000018', '9521 0000-00018']
  for (const gtin of forms) {
    assert.equal((await entries(variantA({ gtin }))).length, 3, gtin)
  }
  for (const gtin of ['0306406152', '0-306-40615-2', '9780306406157']) {
    assert.deepEqual(await merchants(variantA({ gtin })), ['Acme'], gtin)
  }
  // A UPC as printed, with the zeros of longer forms, and without its leading zero.
  for (const gtin of ['012345678905', '0012345678905', '00012345678905', '12345678905']) {
    assert.deepEqual(await merchants(variantB({ gtin })), ['Acme'], gtin)
  }
})

test("a number with a wrong check digit, or a shop's own, matches only the same text", async () => {
  assert.deepEqual(await merchants(variantB({ gtin: '12345670X' })), ['Bolt'])
  assert.deepEqual(await merchants(variantB({ gtin: '12345671' })), [])
  assert.deepEqual(await merchants(variantB({ gtin: '12345670' })), ['Acme'], 'GTIN-8 of a GTIN-13')
  assert.deepEqual(await merchants(variantB({ gtin: '2012345678900' })), ['Bolt'])
  assert.deepEqual(await merchants(variantB({ gtin: '02012345678900' })), [])
})

test('a SKU finds its listing and the same product at other merchants', async () => {
  const found = await entries(variantB({ sku: 'A-1' }))
  assert.deepEqual(
    found.map(({ product_information: p }) => p.merchant_name),
    ['Bolt', 'Acme', 'Core'],
  )
  const acmes = found[1]?.product_information
  assert.equal(acmes?.product_name, 'Kettle', 'the very listing, not the cheapest')
  assert.equal(acmes?.brand, 'Ostrava')
  assert.equal(acmes?.image_url, 'https://img.example/a1.jpg')
  assert.deepEqual((await merchants(variantB({ sku: 'COMMON' }))).toSorted(), ['Acme', 'Core'])
  assert.deepEqual(await merchants(variantB({ sku: 'L'.repeat(60) })), ['Acme'])
  assert.deepEqual(await merchants(variantB({ gtin: '4006381333931', sku: 'A-3' })), ['Acme'])
})

test('a product URL lists its own merchant first, then the others', async () => {
  const url = 'http://acme.example/kettle/?utm_source=x&color=red'
  assert.deepEqual(await merchants(variantA({ product_url: url })), ['Acme', 'Bolt', 'Core'])
  const wrapped = `https://go.skimresources.com/?url=${encodeURIComponent(url)}`
  assert.deepEqual(await merchants(variantA({ product_url: wrapped })), ['Acme', 'Bolt', 'Core'])
})

test("a member's URL finds a product that its GTIN and SKU do not", async () => {
  const wanted = { product_url: 'https://acme.example/kettle?color=red' }
  const unknown = { gtin: '4006381333931', sku: 'nobody' }
  const found = ['Bolt', 'Acme', 'Core']
  assert.deepEqual(await merchants(variantA({ ...wanted, ...unknown })), found)
  assert.deepEqual(await merchants(variantB({ ...wanted, ...unknown })), [])
  assert.deepEqual(await merchants(variantA({ ...wanted, gtin: '0306406152' })), ['Acme'])
})

test('no match is an empty list', async () => {
  assert.deepEqual(await entries(variantB({ gtin: '4006381333931' })), [])
  assert.deepEqual(await entries(variantB({ sku: 'nobody' })), [])
  assert.deepEqual(await entries(variantA({ product_url: 'https://nobody.example/' })), [])
})

test('variant B is open to every account, anything else needs the partner program', async () => {
  const needs = async (query: Record<string, string>) => {
    const answer = await ask({ publisher_slug: open, ...query })
    assert.deepEqual([answer.status, answer.failure().code], [403, 4304], JSON.stringify(query))
    assert.equal((await ask({ publisher_slug: member, ...query })).status, 200)
  }
  assert.equal((await ask(variantB({ sku: 'x'.repeat(255) }))).status, 200)
  await needs({ gtin: GTIN })
  await needs({ gtin: GTIN, article_url: article.article_url })
  await needs({ ...article, product_url: 'https://acme.example/kettle' })
  await needs({ ...article, gtin: 'x'.repeat(15) })
  await needs({ sku: 'x'.repeat(50) })
})

test('names what is missing or too long in a request of neither variant', async () => {
  const refused: [Record<string, string>, string[]][] = [
    [{}, ['publisher_slug', 'gtin']],
    [{ publisher_slug: open }, ['gtin']],
    [{ publisher_slug: open, gtin: '', sku: '' }, ['gtin']],
    [{ publisher_slug: 'x'.repeat(65), gtin: GTIN }, ['publisher_slug']],
    [variantB({ gtin: 'x'.repeat(51) }), ['gtin']],
    [variantB({ sku: 'x'.repeat(256) }), ['sku']],
    [variantA({ sku: 'x'.repeat(51) }), ['sku']],
    [variantB({ gtin: 'x'.repeat(15), sku: 'x'.repeat(51) }), ['sku']],
    [variantA({ product_url: `https://acme.example/${'x'.repeat(2048)}` }), ['product_url']],
    [variantA({ product_url: 'acme.example/kettle' }), ['product_url']],
    [variantB({ gtin: GTIN, article_url: '/k' }), ['article_url']],
    [
      variantB({ gtin: GTIN, article_url: `https://x.example/${'x'.repeat(2048)}` }),
      ['article_url'],
    ],
    [variantB({ gtin: GTIN, article_name: 'x'.repeat(101) }), ['article_name']],
  ]
  for (const [query, fields] of refused) {
    const answer = await ask(query)
    assert.equal(answer.status, 400, JSON.stringify(query))
    assert.equal(answer.failure().code, 4000)
    assert.deepEqual(answer.failure().fields, fields, JSON.stringify(query))
  }
  const twice = await api.call(`${PATH}?publisher_slug=${open}&gtin=1&gtin=2`)
  assert.deepEqual(twice.failure().fields, ['gtin'])
})

test('lengths are counted in characters, also beyond 16 bits', async () => {
  const letter = '\u{1D7D9}'
  for (const query of [
    variantA({ sku: letter.repeat(50) }),
    variantA({ gtin: letter.repeat(50) }),
    variantB({ gtin: letter.repeat(14), publisher_slug: open }),
    variantB({ sku: letter.repeat(255), publisher_slug: open }),
  ]) {
    assert.deepEqual(await entries(query), [], JSON.stringify(query))
  }
  const long = await ask(variantA({ sku: letter.repeat(51) }))
  assert.deepEqual(long.failure().fields, ['sku'])
})

test('the slug is case-insensitive, and an unknown one is a 404', async () => {
  assert.equal(
    (await entries(variantB({ gtin: GTIN, publisher_slug: open.toUpperCase() }))).length,
    3,
  )
  const unknown = await ask(variantB({ gtin: GTIN, publisher_slug: 'nobody' }))
  assert.deepEqual([unknown.status, unknown.failure().code], [404, 4040])
})

test('a key is optional, but one that is sent must be valid and own the slug', async () => {
  assert.equal((await entries(variantB({ gtin: GTIN }), bob.key)).length, 3)
  const wrong = await ask(variantB({ gtin: GTIN }), 'souk_wrong')
  assert.deepEqual([wrong.status, wrong.failure().code], [401, 4302])
  const foreign = await ask(variantB({ gtin: GTIN }), ann.key)
  assert.deepEqual([foreign.status, foreign.failure().code], [403, 4303])
})

test('a campaign that cannot pay this publisher predicts nothing, and the link still exists', async () => {
  const shop = await makeMerchant(api.db, {
    name: 'Duo',
    domain: 'duo.example',
    offers: [{ id: 'D-1', link: 'https://duo.example/d' }],
  })
  const cpc = async () => (await entries(variantB({ sku: 'D-1' })))[0]?.best_effort_cpc
  assert.equal(await cpc(), 0)
  const blocked = await makeCampaign(api.db, shop.merchId, { block_publishers: [bob.pubId] })
  assert.equal(await cpc(), 0)
  await api.db.run(sql`
    update campaign set block_publishers = '{}', state = 'paused'
    where campaign_id = ${blocked.campaign_id}
  `)
  assert.equal(await cpc(), 0)
  await api.db.run(sql`
    update campaign set state = 'active', starts_at = now() + interval '1 day'
    where campaign_id = ${blocked.campaign_id}
  `)
  assert.equal(await cpc(), 0)
  await makeCampaign(api.db, shop.merchId, {
    model: 'epp',
    bid_micros: null,
    payment_micros: micros(10_000_000),
  })
  const perPurchase = await cpc()
  assert.ok(perPurchase !== undefined && perPurchase > 0.05 && perPurchase < 0.5, `${perPurchase}`)
  await makeCampaign(api.db, shop.merchId)
  assert.equal(await cpc(), 0.4365, 'of several campaigns the best one counts')
  await updatePublisher(api.db, {
    pubId: bob.pubId,
    changes: { floor_micros: micros(600_001) },
  })
  assert.equal(await cpc(), 0, 'what is worth less than the floor cannot win')
  await updatePublisher(api.db, { pubId: bob.pubId, changes: { floor_micros: micros(0) } })
})

test('a merchant no longer matches on a domain that it gave up', async () => {
  const { merchId } = await makeMerchant(api.db, {
    name: 'Moved',
    domain: 'moved.example',
    offers: [{ id: 'M-1', link: 'https://moved.example/m' }],
  })
  const found = async () => (await entries(variantB({ sku: 'M-1' }))).length
  assert.equal(await found(), 1)
  await updateMerchant(api.db, { merchId, changes: { domains: ['new.example'] } })
  await until(async () => (await found()) === 0)
})

test("the mean is returned, and its 80 % interval is logged with the request's id", async () => {
  const { merchId } = await makeMerchant(api.db, {
    name: 'Span',
    domain: 'span.example',
    offers: [{ id: 'S-1', link: 'https://span.example/s', category: '222' }],
  })
  const { campaign_id: id } = await makeCampaign(api.db, merchId, {
    model: 'cpa',
    bid_micros: null,
    rate_ppm: 100_000,
  })
  const query = new URLSearchParams({ publisher_slug: member, sku: 'S-1' })
  const answer = await api.call(`${PATH}?${query}`, { headers: { 'x-request-id': 'interval-1' } })
  const [entry] = answer.json<{ data: Entry[] }>().data
  const line = logLines
    .map((text) => JSON.parse(text))
    .find((line) => line.request_id === 'interval-1' && line.msg === 'best_effort_cpc')
  const [{ low_micros: low, mean_micros: mean, high_micros: high, ...of }] = line.predictions
  assert.deepEqual(of, { merch_id: merchId, campaign_id: id })
  assert.equal(mean, Math.round((entry?.best_effort_cpc ?? 0) * 1e6))
  assert.ok(0 < low && low < mean && mean < high, `${low} ${mean} ${high}`)
})

test('a bid under a ROAS goal predicts what the goal leaves of it', async () => {
  const { merchId } = await makeMerchant(api.db, {
    name: 'Return',
    domain: 'return.example',
    offers: [{ id: 'R-1', link: 'https://return.example/r' }],
  })
  const cpc = async () => (await entries(variantB({ sku: 'R-1' })))[0]?.best_effort_cpc ?? 0
  const { campaign_id: id } = await makeCampaign(api.db, merchId, { roas: 4 })
  const [under] = [await cpc()]
  assert.ok(0 < under && under < 0.4365, `${under}: below the same bid without a goal`)
  const goal = (roas: number) =>
    api.db.run(sql`update campaign set roas = ${roas} where campaign_id = ${id}`)
  await goal(8)
  assert.ok(Math.abs((await cpc()) - under / 2) < 0.001, 'twice the goal, half the bid')
  await api.db.run(sql`
    insert into roas_multiplier (campaign_id, multiplier, stepped_at) values (${id}, 0.5, now())`)
  assert.ok(Math.abs((await cpc()) - under / 4) < 0.001, 'the multiplier that it learned counts')
})

test("a floor of the offer's category also applies to its exclusive link", async () => {
  const cpc = async () => (await entries(variantB({ sku: 'S-1' })))[0]?.best_effort_cpc
  assert.ok(((await cpc()) ?? 0) > 0)
  const floor = { category_id: 222, country: null, floor_micros: micros(9_000_000) }
  const change = (category_floors: CategoryFloor[]) =>
    updatePublisher(api.db, { pubId: bob.pubId, changes: { category_floors } })
  await change([{ ...floor, country: 'GB' }])
  assert.ok(((await cpc()) ?? 0) > 0, 'where the reader will be is not known')
  await change([floor])
  assert.equal(await cpc(), 0)
  await change([])
})

test("a publisher's blocked merchants get no link", async () => {
  const changes = (block_merchants: number[]) =>
    updatePublisher(api.db, { pubId: bob.pubId, changes: { block_merchants } })
  await changes([bolt.merchId])
  assert.deepEqual(await merchants(variantB({ gtin: GTIN })), ['Acme', 'Core'])
  await changes([])
})

test('a product that a new feed leaves out is no longer matched', async () => {
  await importOffers(api.db, core.merchId, [{ id: 'COMMON', link: 'https://core.example/common' }])
  assert.deepEqual(await merchants(variantB({ gtin: GTIN })), ['Bolt', 'Acme'])
})
