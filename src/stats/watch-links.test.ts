import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeCampaign, makeMerchant } from '../../test/support/catalogue.ts'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { watchLinks } from './watch-links.ts'

const db = await testDatabase({ after })
const world = await makePublisherWorld(db)
const { pub_id: pubId } = world.publisher
const { merchId } = await makeMerchant(db, {
  ...{ name: 'Shop', domain: 'shop.example' },
  offers: [{ id: 'a', link: 'https://shop.example/a' }],
})
const campaign = await makeCampaign(db, merchId)
const now = new Date()
const { auctionId } = await world.addArticle('Tea', 'https://shop.example/a')
for (let day = 1; day <= 20; day += 1) {
  await db.run(sql`
    insert into figure_day (pub_id, property, day, value, clicks, invalid_clicks, orders,
      revenue_micros, earnings_micros)
    values (${pubId}, 'link', ${new Date(now.getTime() - day * DAY_MS)}, ${auctionId}, 1, 0, 0, 0,
      1400000)`)
}
const health = () =>
  db.row<{ health: string; since: Date; risk_micros: string }>(sql`
    select health, since, risk_micros from link_health where auction_id = ${auctionId}`)

test('a link that stops earning has what it earned a day at risk, since then', async () => {
  assert.equal(await watchLinks(db, now), 1)
  assert.deepEqual(await health(), { health: 'earning', since: now, risk_micros: '0' })
  await db.run(
    sql`update campaign set state = 'paused' where campaign_id = ${campaign.campaign_id}`,
  )
  const later = new Date(now.getTime() + HOUR_MS)
  await watchLinks(db, later)
  const stopped = { health: 'no_bid', since: later, risk_micros: '1400000' }
  assert.deepEqual(await health(), stopped)
  await watchLinks(db, new Date(later.getTime() + HOUR_MS))
  assert.deepEqual(await health(), stopped)
})
