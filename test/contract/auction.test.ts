/** The auction that a page runs for a link: docs/spec/interface.md#run-auctions. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PUBLISHER_DEFAULTS } from '../../src/accounts/publisher.ts'
import { insertPublisher } from '../../src/accounts/publisher-store.ts'
import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant, updateMerchant } from '../../src/catalog/merchant-store.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { AUCTION_URL, startApi } from '../support/api.ts'
import { importOffers, makeMerchant } from '../support/catalogue.ts'
import {
  follow,
  KETTLE,
  makeMarket,
  runAuction,
  statsOf,
  until,
  untilReceipt,
} from '../support/market.ts'

let clockAheadMs = 0
const api = await startApi({ after }, { now: () => Date.now() + clockAheadMs })
const market = await makeMarket(api)
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const LATE = {
  id: '1',
  title: 'A Teapot',
  link: 'https://late.example/p/1',
  price: '20.00 USD',
  gtin: '9521000000025',
}
const queryOf = (address: string) => Object.fromEntries(new URL(address).searchParams)

test('without a bidder the link keeps its own URL and shows the original product', async () => {
  const { auction_result } = await runAuction(api, await market.link())
  assert.equal(queryOf(auction_result.redirect_url).url, KETTLE)
  assert.equal(auction_result.product?.price, '50.00')
})

test('a link without a URL leads to its article and shows no product', async () => {
  const { auction_result } = await runAuction(api, await market.link(null))
  assert.equal(queryOf(auction_result.redirect_url).url, 'https://daily.example/kettles')
  assert.ok(!('product' in auction_result))
})

test("the winner's product and page are returned, and every field has its documented type", async () => {
  await market.campaign(market.pans, {
    bid_micros: micros(900_000),
    tracker_impression: ['https://t.example/i?{RAND}'],
    tracker_viewable: ['https://t.example/v'],
  })
  const auctionId = await market.link()
  const uuid = crypto.randomUUID()
  const answer = await api.call(`/api/v1/auction/?a=${auctionId}&t=8&uuid=${uuid}`)
  assert.deepEqual(answer.json<{ info: unknown }>().info, { error: false, status: 200 })
  assert.equal(answer.json<{ data: unknown[] }>().data.length, 1)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('set-cookie'), null)
  const { auction_result, impression_pixel_url } = await runAuction(api, auctionId, { uuid })
  assert.equal(auction_result.auction_id, auctionId)
  assert.match(auction_result.id, /^[\w-]{100,140}$/)
  const { merchant, ...product } = auction_result.product ?? { merchant: {} }
  assert.deepEqual(product, {
    id: 9521000000018,
    name: 'The Kettle',
    price: '49.00',
    url: 'https://pans.example/p/1',
    image_url: 'https://pans.example/1.jpg',
    is_in_stock: true,
  })
  assert.deepEqual(merchant, {
    id: market.pans,
    canonical_host: 'pans.example',
    name: 'Pans',
    url: 'https://pans.example/',
  })
  assert.deepEqual(auction_result.tracker_urls, {
    impression: ['https://t.example/i?{RAND}'],
    viewable_impression: ['https://t.example/v'],
  })
  assert.ok(auction_result.redirect_url.startsWith(`${AUCTION_URL}/api/v1/redirect/?`))
  const query = queryOf(auction_result.redirect_url)
  assert.deepEqual(Object.keys(query).sort(), ['a', 'ar', 'uid_service', 'url', 'uuid'])
  assert.equal(query.a, auctionId)
  assert.equal(query.ar, auction_result.id)
  assert.equal(query.url, 'https://pans.example/p/1')
  assert.equal(query.uuid, uuid)
  assert.match(query.uid_service ?? '', /^[1-9]\d{0,15}$/)
  assert.ok(impression_pixel_url.startsWith(`${AUCTION_URL}/api/v1/pixel/`))
})

test('a merchant with several sites is shown with the host of the page', async () => {
  const domains = ['lids.example', 'lids-outlet.example']
  const settings = { ...MERCHANT_DEFAULTS, name: 'Lids', domains }
  const { merch_id: lids } = await insertMerchant(api.db, settings)
  const link = 'https://shop.lids-outlet.example/p/1'
  await importOffers(api.db, lids, [{ id: '1', link }])
  await until(() => api.app.node.edge.market.merchants.get(lids)?.feed_imported_at != null)
  const { auction_result } = await runAuction(api, await market.link(link))
  assert.deepEqual(auction_result.product?.merchant, {
    id: lids,
    canonical_host: 'lids-outlet.example',
    name: 'Lids',
    url: 'https://shop.lids-outlet.example/',
  })
})

test("a shop's pages belong to the merchant that has its domain now", async () => {
  const link = 'https://lids-moved.example/p/1'
  const offers = [{ id: '1', link }]
  const before = await makeMerchant(api.db, { name: 'Old', domain: 'lids-moved.example', offers })
  await market.campaign(before.merchId)
  const auctionId = await market.link(link)
  const winner = async () => (await runAuction(api, auctionId)).auction_result.product?.merchant.id
  assert.equal(await winner(), before.merchId)
  const domains = ['old-lids.example']
  await updateMerchant(api.db, { merchId: before.merchId, changes: { domains } })
  await until(async () => (await winner()) === undefined)
  const after = await makeMerchant(api.db, { name: 'New', domain: 'lids-moved.example', offers })
  await until(async () => (await winner()) === after.merchId)
})

test('an exclusive link never leads to another merchant', async () => {
  const { auction_result } = await runAuction(api, await market.link(KETTLE, { isExclusive: true }))
  assert.equal(queryOf(auction_result.redirect_url).url, KETTLE)
})

test('a repeat within five minutes gets the same answer, another session a new one', async () => {
  const auctionId = await market.link()
  const uuid = crypto.randomUUID()
  const first = await runAuction(api, auctionId, { uuid })
  const second = await runAuction(api, auctionId)
  assert.notEqual(second.auction_result.id, first.auction_result.id)
  const [one, other] = [first, second].map((entry) => queryOf(entry.auction_result.redirect_url))
  assert.notEqual(one?.uid_service, other?.uid_service, 'it identifies nobody')
  clockAheadMs += 4 * 60_000 + 55_000
  assert.deepEqual(await runAuction(api, auctionId, { uuid: uuid.toUpperCase() }), first)
  clockAheadMs += 6_000
  const later = await runAuction(api, auctionId, { uuid })
  assert.notEqual(later.auction_result.id, first.auction_result.id)
})

test('one consent in several notations is one auction, another consent is another', async () => {
  const auctionId = await market.link()
  const uuid = crypto.randomUUID()
  const idOf = async (query: string, headers: Record<string, string> = {}) =>
    (await runAuction(api, auctionId, { uuid, query, headers })).auction_result.id
  const first = await idOf('')
  for (const query of ['&consent=', '&consent=unknown', '&consent=full&consent_source=tcf']) {
    assert.equal(await idOf(query), first, query)
  }
  assert.equal(await idOf('', { dnt: '0' }), first)
  const refused = await idOf('&consent=contextual')
  assert.notEqual(refused, first)
  assert.equal(await idOf('&consent=full', { 'sec-gpc': '1' }), refused)
})

test('a missing or malformed uuid is replaced by a new one', async () => {
  const auctionId = await market.link()
  for (const uuid of ['', '&uuid=', '&uuid=nonsense', `&uuid=${'x'.repeat(10_000)}`]) {
    const answer = await api.call(`/api/v1/auction/?a=${auctionId}${uuid}`)
    assert.equal(answer.status, 200)
    const { auction_result } = answer.entry<{ auction_result: { redirect_url: string } }>()
    assert.match(queryOf(auction_result.redirect_url).uuid ?? '', UUID)
  }
})

test('t is ignored, empty parameters and a missing final slash are tolerated', async () => {
  const auctionId = await market.link()
  for (const path of [
    `/api/v1/auction?a=${auctionId}&t=nonsense`,
    `/api/v1/auction/?&&a=${auctionId}&`,
    `/api/v1/auction?t=&a=${auctionId}`,
  ]) {
    assert.equal((await api.call(path)).status, 200, path)
  }
})

test('an unknown consent is refused by name, never taken for a yes', async () => {
  const auctionId = await market.link()
  for (const said of ['denied', 'FULL', 'false', '0', 'toString']) {
    const { code, fields } = (
      await api.call(`/api/v1/auction/?a=${auctionId}&consent=${said}`)
    ).failure()
    assert.deepEqual([code, fields], [4000, ['consent']], said)
  }
  const both = await api.call('/api/v1/auction/?a=x&consent=no')
  assert.deepEqual(both.failure().fields, ['a', 'consent'], 'reports every fault')
})

test('an unknown link is 404, and a malformed id is a 400 that names the field', async () => {
  assert.equal((await api.call('/api/v1/auction/?a=9007199254740993')).failure().code, 4040)
  for (const a of [
    '',
    'abc',
    '-1',
    '0',
    '1.5',
    '9223372036854775808',
    '1e9',
    '%00',
    'x'.repeat(9999),
  ]) {
    const answer = await api.call(`/api/v1/auction/?a=${a}`)
    assert.equal(answer.status, 400, a)
    assert.deepEqual(answer.failure().fields, ['a'], a)
  }
})

test('HEAD answers like GET without a body and records nothing', async () => {
  const auctionId = await market.link()
  // Receipts are written in the order of their auctions, so all earlier ones exist by then.
  const receiptsWithOneMore = async () => {
    await untilReceipt(api, await runAuction(api, auctionId))
    return receipts()
  }
  const before = await receiptsWithOneMore()
  const answer = await api.call(`/api/v1/auction/?a=${auctionId}`, { method: 'HEAD' })
  assert.deepEqual([answer.status, answer.text], [200, ''])
  assert.equal(await receiptsWithOneMore(), before + 1)
})

test('links of a publisher that no snapshot contains yet lead to their own URL', async () => {
  await market.campaign(market.pans)
  await api.db.run(sql`alter table publisher disable trigger publisher_changed`)
  const young = await insertPublisher(api.db, {
    ...PUBLISHER_DEFAULTS,
    uid: market.account.uid,
    name: 'Young',
    slug: 'young',
  })
  const created = await api.call('/api/v1/smart_links/', {
    key: market.account.key,
    body: {
      url: KETTLE,
      article_name: 'first',
      article_url: 'https://young.example/first',
      pub_id: young.pub_id,
    },
  })
  const { auction_id: auctionId } = created.entry<{ auction_id: string }>()
  const { auction_result, impression_pixel_url } = await runAuction(api, auctionId)
  assert.equal(api.app.node.edge.market.publishers.has(young.pub_id), false, 'it came too soon')
  assert.equal(queryOf(auction_result.redirect_url).url, KETTLE)
  for (const address of [auction_result.redirect_url, `/${auctionId}`]) {
    assert.deepEqual(await landing(address), { status: 302, location: KETTLE })
  }
  assert.equal((await follow(api, impression_pixel_url)).status, 200)

  // A merchant and its listing may also exist before the snapshot.
  await api.db.run(sql`alter table merchant disable trigger merchant_changed`)
  await api.db.run(sql`alter table merchant_domain disable trigger merchant_domain_changed`)
  await makeMerchant(api.db, { name: 'Late', domain: 'late.example', offers: [LATE] })
  const late = await market.link(LATE.link)
  const { auction_result: open } = await runAuction(api, late)
  assert.equal(queryOf(open.redirect_url).url, LATE.link)
  assert.deepEqual(await landing(`/${late}`), { status: 302, location: LATE.link })
  await api.db.run(sql`alter table publisher enable trigger publisher_changed`)
  await api.db.run(sql`alter table merchant enable trigger merchant_changed`)
  await api.db.run(sql`alter table merchant_domain enable trigger merchant_domain_changed`)
})

/** The destination that a URL redirects a reader to. */
async function landing(address: string) {
  const { status, location } = await follow(api, address)
  return { status, location }
}

test('any origin may read the answer, and other methods are refused with Allow', async () => {
  const auctionId = await market.link()
  const path = `/api/v1/auction/?a=${auctionId}`
  const answer = await api.call(path, { headers: { origin: 'https://daily.example' } })
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://daily.example')
  assert.equal(answer.headers.get('access-control-allow-credentials'), 'true')
  assert.match(answer.headers.get('vary') ?? '', /Origin/)
  const preflight = await api.call(path, {
    method: 'OPTIONS',
    headers: { origin: 'https://daily.example', 'access-control-request-method': 'GET' },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-max-age'), '86400')
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /content-type/)
  const refused = await api.call(path, { method: 'DELETE' })
  assert.equal(refused.failure().code, 4050)
  assert.match(refused.headers.get('allow') ?? '', /GET/)
})

test('a reader who objects gets no identifier, and no third party learns of the view', async () => {
  const auctionId = await market.link()
  const signals = [
    { headers: { 'sec-gpc': '1' } },
    { headers: { dnt: '1' } },
    { query: '&consent=contextual&consent_source=tcf' },
  ]
  for (const signal of signals) {
    const { auction_result } = await runAuction(api, auctionId, signal)
    assert.equal(queryOf(auction_result.redirect_url).uid_service, '0')
    assert.equal(auction_result.tracker_urls, undefined)
  }
})

test('the pixel is a picture that records a placement, and never an impression', async () => {
  const auctionId = await market.link(KETTLE, { article: 'pixels' })
  const { impression_pixel_url } = await runAuction(api, auctionId)
  const response = await fetch(impression_pixel_url.replace(AUCTION_URL, api.url), {
    headers: { 'user-agent': 'Mozilla/5.0 Chrome/149.0 Safari/537.36' },
  })
  assert.equal(response.headers.get('content-type'), 'image/gif')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  // Isolated pages (COEP) accept only pictures with this header.
  assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin')
  assert.equal(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 6), 'GIF89a')
  const rows = (await statsOf(api, market)).filter((row) => row.article_name === 'pixels')
  assert.deepEqual(
    rows.map(({ merch_id, impressions, clicks }) => ({ merch_id, impressions, clicks })),
    [{ merch_id: market.pans, impressions: 0, clicks: 0 }],
  )
})

async function receipts(): Promise<number> {
  const row = await api.db.row<{ n: string }>(sql`select count(*) as n from receipt`)
  return Number(row?.n)
}
