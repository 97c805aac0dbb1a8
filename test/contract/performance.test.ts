/** A merchant's performance counts every auction, click and order, by each group. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey, createUser } from '../../src/accounts/create-account.ts'
import { findMerchant, updateMerchant } from '../../src/catalog/merchant-store.ts'
import { signBody } from '../../src/orders/signed-request.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { utcDay } from '../../src/platform/time/timestamp.ts'
import { startApi } from '../support/api.ts'
import { follow, KETTLE, makeMarket, runAuction, until } from '../support/market.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
const { kettles, pans } = market
const winner = await market.campaign(kettles, { bid_micros: micros(500_000) })
const rival = await market.campaign(kettles, { bid_micros: micros(300_000) })
const shop = { email: 'shop@kettles.example', password: 'a long password', isAdmin: false }
const { uid } = await createUser(api.db, shop)
await updateMerchant(api.db, { merchId: kettles, changes: { uid } })
const { key } = await createApiKey(api.db, {
  ...{ uid, description: 'test', expiresAt: null, now: new Date() },
})
const TODAY = utcDay(Date.now())
const RANGE = `date_from=${TODAY}&date_to=${TODAY}`
const PATH = `/api/v1/merchants/${kettles}/performance/`

interface Row extends Readonly<Record<string, unknown>> {
  readonly auctions: number
  readonly won: number
  readonly lost: Readonly<Record<string, number>>
}
const read = async (query: string) =>
  (await api.call(`${PATH}?${RANGE}&${query}`, { key })).json<{ data: Row[] }>().data

test('every auction is counted by each group, with clicks and cost', async () => {
  const link = await market.link(KETTLE)
  const first = await runAuction(api, link)
  await runAuction(api, link)
  await sleep(320) // The service rejects clicks within 300 ms as automatic.
  assert.equal((await follow(api, first.auction_result.redirect_url)).status, 302)
  await until(async () => (await api.db.rows(sql`select from click`)).length === 1)
  await until(async () => (await read('group_by=day'))[0]?.auctions === 4)
  const [day] = await read('group_by=day')
  assert.deepEqual([day?.day, day?.auctions, day?.won, day?.win_rate], [TODAY, 4, 2, 0.5])
  assert.deepEqual(day?.lost, { outbid: 2 })
  const campaigns = await read('group_by=campaign')
  const of = (id: number) => campaigns.find(({ campaign_id }) => campaign_id === id)
  assert.deepEqual([of(winner)?.won, of(winner)?.average_bid], [2, '0.50'])
  assert.deepEqual([of(rival)?.won, of(rival)?.average_bid], [0, '0.30'])
  assert.equal(of(winner)?.cost, day?.cost)
  for (const group of ['publisher', 'product', 'device', 'country']) {
    const rows = await read(`group_by=${group}`)
    const auctions = rows.reduce((sum, row) => sum + row.auctions, 0)
    assert.equal(auctions, 4, group)
    assert.equal(rows[0]?.cost, day?.cost, group)
  }
  assert.equal((await read('group_by=product'))[0]?.sku, '1')
  assert.equal((await read(`group_by=day&campaign_id=${rival}`))[0]?.auctions, 2)
  const foreign = await market.campaign(pans, { bid_micros: micros(100_000) })
  assert.deepEqual(await read(`group_by=day&campaign_id=${foreign}`), [])
})

test('an order that costs nothing, because its click was paid, counts with its revenue', async () => {
  const entry = await runAuction(api, await market.link(KETTLE))
  await sleep(320) // The service rejects clicks within 300 ms as automatic.
  const { location } = await follow(api, entry.auction_result.redirect_url)
  const cid = new URL(location).searchParams.get('cid') ?? ''
  await api.app.untilFolded()
  const order = { id: 'P-1', value: '80.00', currency: 'USD', click_ids: [cid] }
  const body = { orders: [{ order, products: [] }] }
  const timestamp = String(Math.floor(api.app.node.now() / 1000))
  const secret = (await findMerchant(api.db, kettles))?.postback_secret ?? ''
  const signature = signBody(secret, timestamp, Buffer.from(JSON.stringify(body))).toString('hex')
  const headers = { 'x-souk-timestamp': timestamp, 'x-souk-signature': signature }
  const answer = await api.call(`/api/v1/merchants/${kettles}/orders/`, { body, headers })
  assert.equal(answer.status, 201, answer.text)
  await api.app.untilFolded()
  for (const group of ['day', 'campaign', 'product', 'device']) {
    const [row] = await read(`group_by=${group}`)
    assert.deepEqual([row?.orders, row?.revenue], [1, '80.00'], group)
  }
})

test('a wrong group, range or cursor is refused by its name', async () => {
  for (const [query, field] of [
    [`${RANGE}&group_by=hour`, 'group_by'],
    ['date_from=2026-03-02&date_to=2026-03-01', 'date_to'],
    [`${RANGE}&cursor=x`, 'cursor'],
  ] as const) {
    const answer = await api.call(`${PATH}?${query}`, { key })
    assert.deepEqual([answer.status, answer.failure().fields], [400, [field]], query)
  }
})
