/** The last clicks of a budget that no node has a lease for. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BUDGET_LOCK } from '../../src/budgets/budget-account.ts'
import { REASON } from '../../src/events/reason.ts'
import { micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startApi } from '../support/api.ts'
import { follow, KETTLE, makeMarket, runAuction, until } from '../support/market.ts'

const api = await startApi({ after })
const market = await makeMarket(api)
const { app, db } = api
const { node } = app
// Another node: a budget of two clicks is too small to share with it.
await db.run(sql`
  insert into node (node_id, host, pid, roles, heartbeat_at)
  values (1000, 'elsewhere', 1, 'edge', 'infinity')`)

/** The service treats faster clicks as a program's. */
const think = () => sleep(320)
const lastClick = async () => {
  await app.untilFolded()
  return db.row<{ campaign_id: number | null; reason: number; merchant_cost_micros: string }>(sql`
    select event.campaign_id, click.reason, merchant_cost_micros
    from click join event on event.id = click.event_id order by event.seq desc limit 1`)
}

/** A campaign that pays two clicks a day, once a node may win with it. */
async function twoClicks(merchId: number): Promise<number> {
  const id = await market.campaign(merchId, {
    bid_micros: micros(600_000),
    daily_budget_micros: micros(1_200_000),
  })
  await until(() => node.book.fundedShare(id) === 1)
  assert.equal(node.book.unspentMicros(id, node.now()), 0, 'its node holds nothing')
  return id
}

test('a budget of two clicks, too small to share with another node, pays two clicks', async () => {
  const page = 'https://pans.example/p/1'
  const id = await twoClicks(market.pans)
  const auctionId = await market.link(page, { isExclusive: true })
  const paid: unknown[] = []
  // A reader waits 15 ms for a remote budget, and a node does not bid with a budget that it has not
  // heard of for seconds. A busy machine may leave a click unpaid, and the budget for the next one.
  for (let click = 0; click < 60 && paid.length < 2; click++) {
    const { auction_result } = await runAuction(api, auctionId)
    await think()
    if (click > 10) await node.fund(id, micros(600_000)) // 15 ms are never enough on this machine.
    const { location } = await follow(api, auction_result.redirect_url)
    if (!location.includes('?cid=')) continue
    const { reason, merchant_cost_micros } = (await lastClick()) ?? {}
    if (reason !== REASON.unfunded) paid.push([reason, merchant_cost_micros])
  }
  assert.deepEqual(paid, [
    [REASON.ok, '600000'],
    [REASON.ok, '600000'],
  ])
  const { auction_result } = await runAuction(api, auctionId)
  assert.equal(new URL(auction_result.redirect_url).searchParams.get('url'), page)
  assert.equal((await follow(api, auction_result.redirect_url)).location, page, 'nobody pays')
})

test('a smart link whose winner cannot pay in time leads to the next bidder, who pays', async () => {
  const rich = await market.campaign(market.pans, { bid_micros: micros(500_000) })
  const late = await twoClicks(market.kettles)
  const auctionId = await market.link(KETTLE)
  // The statement that grants budgets waits, as if the database were far away.
  const far = await db.reserve()
  await far.run(sql`begin`)
  await far.run(sql`select pg_advisory_xact_lock(${BUDGET_LOCK})`)
  assert.match((await follow(api, `/${auctionId}`)).location, /\?cid=/)
  await far.run(sql`commit`)
  far.release()
  const click = await lastClick()
  assert.deepEqual([click?.campaign_id, click?.reason], [rich, REASON.ok])
  assert.equal(
    click?.merchant_cost_micros,
    '10000',
    'the reserve: the other one is no rival of this click',
  )

  // The requested budget has arrived by now.
  await until(() => node.book.unspentMicros(late, node.now()) > 0)
  await follow(api, `/${auctionId}`)
  const next = await lastClick()
  assert.deepEqual([next?.campaign_id, next?.reason], [late, REASON.ok])

  // Nothing of the abandoned auction is stored.
  const count = sql`select count(*)::int as receipts from receipt where auction_id = ${auctionId}`
  await until(async () => (await db.row<{ receipts: number }>(count))?.receipts === 2)
})
