/** Suspended organizations: no auction, no paid click, and no reader is stranded. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApi } from '../../test/support/api.ts'
import { follow, KETTLE, makeMarket, runAuction, SLUG, until } from '../../test/support/market.ts'
import { makeNetworkApi } from '../../test/support/network-api.ts'
import { reasonName } from '../events/reason.ts'
import { micros } from '../platform/money/money.ts'
import { sql } from '../platform/postgres/sql.ts'

let aheadMs = 0
const api = await startApi({ after }, { now: () => Date.now() + aheadMs })
const market = await makeMarket(api)
const network = await makeNetworkApi(api)
await market.campaign(market.pans, { bid_micros: micros(600_000) })
const { pubId } = market.account
const edge = () => api.app.node.edge.market.suspended
const own = 'https://kettles.example/p/1'

async function lastReason(): Promise<string> {
  await api.app.untilFolded()
  const row = await api.db.row<{ reason: number; merchant_cost_micros: string }>(sql`
    select reason, merchant_cost_micros from click order by at desc, click_id limit 1`)
  assert.equal(row?.merchant_cost_micros === '0', row?.reason !== 0)
  return reasonName(row?.reason ?? -1)
}

const places = [
  { path: `publishers/${pubId}/`, has: () => edge().publishers.has(pubId) },
  { path: `merchants/${market.pans}/`, has: () => edge().merchants.has(market.pans) },
]

for (const { path, has } of places) {
  test(`${path.split('/')[0]}: links lead to their own URL, unpaid, until the end`, async () => {
    const auctionId = await market.link(KETTLE, { article: path })
    const won = await follow(api, `/${auctionId}`)
    assert.match(won.location, /^https:\/\/pans\.example\//)
    const held = await runAuction(api, auctionId)
    assert.equal((await network.call(`${path}suspend/`, { method: 'POST' })).status, 200)
    await until(has)
    aheadMs += 3_600_000
    const direct = await follow(api, `/${auctionId}`)
    assert.equal(direct.location, own)
    const url = encodeURIComponent(KETTLE)
    const wrapped = await follow(api, `/link/?url=${url}&publisher_slug=${SLUG}`)
    assert.equal(wrapped.location, own)
    const after = await runAuction(api, auctionId)
    assert.equal(after.auction_result.product?.merchant.name ?? 'Kettles', 'Kettles')
    // The page still shows a result from before: its reader reaches the shop, and nobody pays.
    const page = await follow(api, held.auction_result.redirect_url)
    assert.match(page.location, /^https:\/\/pans\.example\//)
    assert.equal(await lastReason(), 'suspended')
    assert.equal((await network.call(`${path}resume/`, { method: 'POST' })).status, 200)
    await until(() => !has())
    aheadMs += 3_600_000
    assert.match((await follow(api, `/${auctionId}`)).location, /^https:\/\/pans\.example\//)
    assert.equal(await lastReason(), 'ok')
  })
}
