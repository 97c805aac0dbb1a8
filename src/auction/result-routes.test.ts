import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../../test/support/api.ts'
import { makeMerchant } from '../../test/support/catalogue.ts'
import {
  follow,
  KETTLE,
  makeMarket,
  runAuction,
  until,
  untilReceipt,
} from '../../test/support/market.ts'
import { createApiKey, createUser } from '../accounts/create-account.ts'
import { updatePublisher } from '../accounts/publisher-store.ts'
import { updateMerchant } from '../catalog/merchant-store.ts'
import { disableLink } from '../links/store.ts'
import { micros } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
await market.campaign(market.kettles, { bid_micros: micros(600_000) })
await market.campaign(market.pans, { bid_micros: micros(400_000) })
const today = () => new Date().toISOString().slice(0, 10)
const { key, pubId } = market.account

/** An auction whose receipt is written. */
async function held(url = KETTLE, isExclusive = false) {
  const auction = await runAuction(api, await market.link(url, { isExclusive }))
  await untilReceipt(api, auction)
  const { id, redirect_url: redirect } = auction.auction_result
  return { id, redirect }
}

/** A key of one user who has these merchants. */
async function merchantKey(...merchIds: number[]): Promise<string> {
  const email = `m${merchIds.join('-')}@shop.example`
  const { uid } = await createUser(api.db, { email, password: 'a long password', isAdmin: false })
  for (const merchId of merchIds) await updateMerchant(api.db, { merchId, changes: { uid } })
  const wanted = { uid, description: 'm', expiresAt: null, now: new Date() }
  return (await createApiKey(api.db, wanted)).key
}

test('the publisher sees every candidate of its auction, a merchant its own, everybody else nothing', async () => {
  const { id } = await held()
  const path = `/api/v1/auction_results/${id}/`
  const seen = await api.call(path, { key })
  assert.equal(seen.status, 200, seen.text)
  assert.equal(seen.entry<{ candidates: unknown[] }>().candidates.length, 2)
  const own = await api.call(path, { key: await merchantKey(market.pans) })
  assert.deepEqual(
    own.entry<{ candidates: { merch_id: number }[] }>().candidates.map(({ merch_id }) => merch_id),
    [market.pans],
  )
  const both = await api.call(path, { key: await merchantKey(market.kettles, market.pans) })
  assert.equal(both.entry<{ candidates: unknown[] }>().candidates.length, 2, 'all that are its own')
  const stranger = await api.account({})
  assert.equal((await api.call(path, { key: stranger.key })).failure().code, 4040)
  assert.equal((await api.call(path)).failure().code, 4302)
  assert.equal((await api.call('/api/v1/auction_results/nonsense/', { key })).failure().code, 4040)
})

test('a result can be read the moment its auction has run', async () => {
  const { auction_result } = await runAuction(api, await market.link(KETTLE))
  const asked = await api.call(`/api/v1/auction_results/${auction_result.id}/`, { key })
  assert.equal(asked.status, 200, asked.text)
})

test('a click whose receipt is gone is still explained to its parties', async () => {
  const { id, redirect } = await held()
  await sleep(320)
  await follow(api, redirect)
  await api.app.untilFolded()
  const number = Buffer.from(id, 'base64url').subarray(2, 18)
  await api.db.run(sql`delete from receipt where result_number = ${number}`)
  const path = `/api/v1/auction_results/${id}/`
  interface Receipt {
    receipt: null
    note: string
    clicks: { price: string; publisher_earns?: string; reason: string }[]
  }
  const receipt = (await api.call(path, { key })).entry<Receipt>()
  assert.deepEqual([receipt.receipt, receipt.clicks.length], [null, 1])
  assert.match(receipt.note, /receipt/)
  assert.equal(receipt.clicks[0]?.reason, 'ok')
  assert.ok(Number(receipt.clicks[0]?.publisher_earns) > 0)
  const shop = (await api.call(path, { key: await merchantKey(market.kettles) })).entry<Receipt>()
  assert.equal(shop.clicks[0]?.price, receipt.clicks[0]?.price)
  assert.equal(shop.clicks[0]?.publisher_earns, undefined, 'it is not the merchant’s to know')
  const stranger = await api.account({})
  assert.equal((await api.call(path, { key: stranger.key })).failure().code, 4040)
})

test('a click on a disabled link is explained: it ran no auction', async () => {
  const auctionId = await market.link()
  await disableLink(api.db, auctionId)
  await until(() => api.app.node.edge.market.disabledLinks.has(auctionId))
  const { auction_result } = await runAuction(api, auctionId)
  await follow(api, auction_result.redirect_url)
  await api.app.untilFolded()
  const answer = await api.call(`/api/v1/auction_results/${auction_result.id}/`, { key })
  const receipt = answer.entry<{ note: string; clicks: { reason: string; why: string }[] }>()
  assert.match(receipt.note, /a disabled link holds no auction/)
  assert.equal(receipt.clicks[0]?.reason, 'disabled_link')
  assert.equal(receipt.clicks[0]?.why, 'The smart link has been disabled.')
})

test('what-if returns what a day would have earned under other settings', async () => {
  const { redirect } = await held()
  await sleep(320)
  await follow(api, redirect)
  await api.app.untilFolded()
  const ask = (change: object) =>
    api.call('/api/v1/what_if/', { key, body: { pub_id: pubId, date: today(), ...change } })
  const same = (await ask({})).entry<{ clicks: number; difference: Record<string, number> }>()
  assert.equal(same.clicks, 1)
  assert.deepEqual(Object.values(same.difference).filter(Boolean), [])
  const blocked = await ask({ block_merchants: [market.kettles, market.pans] })
  assert.equal(blocked.entry<{ after: { won: number } }>().after.won, 0)
  const first = (await ask({ pricing: 'first_price' })).entry<{
    difference: { earnings_micros: number }
  }>()
  assert.ok(first.difference.earnings_micros > 0)
  assert.deepEqual((await ask({ floor: 'free' })).failure().fields, ['floor'])
  assert.deepEqual((await ask({ floor: '9000.01' })).failure().fields, ['floor'])
  assert.equal((await ask({ floor: '9000' })).status, 200)
  assert.deepEqual((await ask({ tolerance: 0.5 })).failure().fields, ['tolerance'])
  const both = await ask({ allow_merchants: [1, 2], block_merchants: [2] })
  assert.deepEqual(both.failure().fields, ['block_merchants'])
  for (const id of [0, -1, 2 ** 22, 2 ** 31]) {
    const lists = { allow_merchants: [id], block_merchants: [1, id] }
    const fields = ['allow_merchants[0]', 'block_merchants[1]', 'block_merchants']
    assert.deepEqual((await ask(lists)).failure().fields, fields, `no merchant has ${id}`)
  }
  assert.deepEqual((await ask({ date: 'today' })).failure().fields, ['date'])
  const all = { date: '2026-02-30', floor: 'free', beta: 9, category_floors: ['222'] }
  assert.deepEqual((await ask(all)).failure().fields, ['beta', 'category_floors', 'date', 'floor'])
  const other = await api.account({})
  const theirs = { pub_id: other.pubId, date: today() }
  assert.equal((await api.call('/api/v1/what_if/', { key, body: theirs })).failure().code, 4303)
})

test('what-if reports the fault of a value that has no text form', async () => {
  for (const odd of [{ toString: 1 }, [{ toString: 1 }], '\0', ['\0']]) {
    const change = { pub_id: pubId, date: odd, floor: odd }
    const answer = await api.call('/api/v1/what_if/', { key, body: change })
    assert.deepEqual(answer.failure().fields.toSorted(), ['date', 'floor'], JSON.stringify(odd))
    const lists = { category_floors: [odd], allow_merchants: [odd], block_merchants: [odd] }
    const body = { pub_id: pubId, date: today(), ...lists }
    const { fields } = (await api.call('/api/v1/what_if/', { key, body })).failure()
    const named = fields.map((field) => field.replace(/\[.*/, ''))
    assert.deepEqual(new Set(named), new Set(Object.keys(lists)), JSON.stringify(odd))
  }
})

test('what-if does not count a reversed click', async () => {
  const clicks = async () => {
    const body = { pub_id: pubId, date: today() }
    const answer = await api.call('/api/v1/what_if/', { key, body })
    return answer.entry<{ clicks: number }>().clicks
  }
  const { redirect } = await held()
  await sleep(320)
  const before = await clicks()
  const { location } = await follow(api, redirect)
  await api.app.untilFolded()
  assert.equal(await clicks(), before + 1)
  const wanted = { email: 'operator@souk.example', password: 'a long password', isAdmin: true }
  const { uid } = await createUser(api.db, wanted)
  const operator = { uid, description: 'o', expiresAt: null, now: new Date() }
  const { key: operatorKey } = await createApiKey(api.db, operator)
  const click = new URL(location).searchParams.get('cid')
  const body = { click, reason: 'bought traffic' }
  const reversal = await api.call('/api/v1/reversals/', { key: operatorKey, body })
  assert.equal(reversal.status, 201, reversal.text)
  await api.app.untilFolded()
  assert.equal(await clicks(), before)
})

test("a category's floor sets the price, is explained by name, and replays", async () => {
  const floor = { category_id: 222, floor_micros: micros(550_000) }
  const elsewhere = { ...floor, country: 'GB', floor_micros: micros(590_000) }
  await updatePublisher(api.db, {
    pubId,
    changes: { category_floors: [{ ...floor, country: null }, elsewhere] },
  })
  await until(() => api.app.node.edge.market.publishers.get(pubId)?.category_floors.length === 2)
  const { merchId } = await makeMerchant(api.db, {
    name: 'Mugs',
    domain: 'mugs.example',
    offers: [{ id: '1', link: 'https://mugs.example/1', category: '222' }],
  })
  await until(() => api.app.node.edge.market.merchants.get(merchId)?.feed_imported_at != null)
  await market.campaign(merchId, { bid_micros: micros(600_000) })
  const { id } = await held('https://mugs.example/1')
  const answer = await api.call(`/api/v1/auction_results/${id}/`, { key })
  const { outcome, replay, candidates } = answer.entry<{
    outcome: { price: string; reserve: string; price_why: string }
    replay: { kind: string }
    candidates: { category_id: number | null }[]
  }>()
  assert.deepEqual(
    candidates.map(({ category_id }) => category_id),
    [222],
  )
  assert.deepEqual([outcome.price, outcome.reserve], ['0.55', '0.55'], answer.text)
  assert.match(outcome.price_why, /category/)
  assert.deepEqual(replay, { kind: 'equal' })
  const ask = (change: object) =>
    api.call('/api/v1/what_if/', { key, body: { pub_id: pubId, date: today(), ...change } })
  const won = async (change: object) => (await ask(change)).entry<Trial>().difference.won
  interface Trial {
    difference: { won: number }
  }
  assert.equal(await won({ floor: '0.20' }), 0, 'the floors of categories stay')
  assert.equal(await won({ category_floors: ['222:GB=0.60', '222=0.59'] }), 0)
  // The bid of $0.60 counts as $0.595: it is known to be above the price and below $0.64.
  assert.equal(await won({ category_floors: ['222=0.60'] }), -1)
  const wrong = await ask({ category_floors: ['222'], floor: 'free' })
  assert.deepEqual(wrong.failure().fields, ['category_floors', 'floor'])
  const twice = await ask({ category_floors: ['222=0.10', '222=0.20'] })
  assert.deepEqual(twice.failure().fields, ['category_floors'])
})

test('the no-fill report lists why links went unfilled, most money first', async () => {
  await held('https://nobody.example/x')
  const path = `/api/v1/publishers/${pubId}/no_fill/?date=${today()}`
  const answer = await api.call(path, { key })
  const reasons = answer.json<{ data: { word: string; auctions: number }[] }>().data
  assert.ok(
    reasons.some(({ auctions }) => auctions > 0),
    answer.text,
  )
  assert.equal((await api.call(path)).failure().code, 4302)
})

test('the page on unfilled auctions does not wait while a program processes a whole day', async () => {
  const { email, password } = market.account
  const login = await api.call('/api/v1/session/', { body: { email, password } })
  const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  await held()
  await api.db.run(sql`
    insert into receipt
    select decode(md5(number::text), 'hex'), '2026-03-01T00:00:00Z', pub_id, auction_id, merch_id,
      packed
    from generate_series(1, 10000) as number,
      (select * from receipt where pub_id = ${pubId} limit 1) as one`)
  const path = `/api/v1/publishers/${pubId}`
  const program = api.call(`${path}/no_fill/?date=2026-03-01`, { key })
  await sleep(30)
  const sample = `${api.url}${path}/no_fill_sample/?date=${today()}`
  const page = fetch(sample, { headers: { cookie } })
  const first = await Promise.race([program.then(() => 'program'), page.then(() => 'page')])
  assert.equal(first, 'page')
  assert.deepEqual([(await page).status, (await program).status], [200, 200])
})

test("a publisher's day contains no auction of another one", async () => {
  await held('https://nobody.example/y')
  const other = await api.account({})
  const noFill = await api.call(`/api/v1/publishers/${other.pubId}/no_fill/?date=${today()}`, {
    key: other.key,
  })
  assert.deepEqual(noFill.json<{ data: unknown[] }>().data, [])
  const body = { pub_id: other.pubId, date: today() }
  const whatIf = await api.call('/api/v1/what_if/', { key: other.key, body })
  assert.equal(whatIf.entry<{ auctions: number }>().auctions, 0)
})

test("an auction uses its publisher's settings, each as its receipt shows", async () => {
  await updatePublisher(api.db, {
    pubId,
    changes: {
      floor_micros: micros(70_000),
      tolerance_ppm: 20_000,
      beta: 0.5,
      epsilon_ppm: 0,
      share_ppm: 600_000,
      is_price_required: true,
    },
  })
  await until(() => api.app.node.edge.market.publishers.get(pubId)?.beta === 0.5)
  const { id } = await held()
  const answer = await api.call(`/api/v1/auction_results/${id}/`, { key })
  const settings = { share: 0.6, floor: '0.07', tolerance: 0.02, beta: 0.5, epsilon: 0 }
  const { publisher } = answer.entry<{ publisher: object }>()
  assert.deepEqual(publisher, { ...settings, require_price: true })
})

test('in a first-price market the winner pays its bid', async () => {
  const other = await startApi({ after }, { env: { PRICING: 'first_price' } })
  const shops = await makeMarket(other)
  await shops.campaign(shops.kettles, { bid_micros: micros(600_000) })
  const { auction_result } = await runAuction(other, await shops.link(KETTLE))
  const path = `/api/v1/auction_results/${auction_result.id}/`
  const ask = () => other.call(path, { key: shops.account.key })
  await until(async () => (await ask()).status === 200)
  const receipt = (await ask()).entry<{
    outcome: { price: string }
    request: { pricing: string }
  }>()
  assert.deepEqual([receipt.request.pricing, receipt.outcome.price], ['first_price', '0.60'])
})

test("a ROAS goal limits the bid by a click's expected return, not by the typed bid", async () => {
  const other = await startApi({ after })
  const shops = await makeMarket(other)
  // Before any click: 2 orders in 100 clicks, $60 each, a tenth returned; $1.08 over a goal of 4.
  await shops.campaign(shops.kettles, { bid_micros: micros(600_000), roas: 4 })
  const { auction_result } = await runAuction(
    other,
    await shops.link(KETTLE, { isExclusive: true }),
  )
  const path = `/api/v1/auction_results/${auction_result.id}/`
  const ask = () => other.call(path, { key: shops.account.key })
  await until(async () => (await ask()).status === 200)
  const { outcome, candidates } = (await ask()).entry<{
    outcome: { price: string }
    candidates: { bid: string; roas_ceiling: string }[]
  }>()
  const [kettles] = candidates
  assert.deepEqual([kettles?.bid, kettles?.roas_ceiling], ['0.60', outcome.price])
  assert.ok(Math.abs(Number(outcome.price) - 0.27) < 0.000_002, outcome.price)
})
