import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hold } from '../../test/support/auction-world.ts'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { sql } from '../platform/postgres/sql.ts'
import {
  AuctionTotals,
  campaignResults,
  countryValue,
  DIMENSION,
  type Total,
} from './auction-totals.ts'
import { addAuctionTotals } from './auction-totals-store.ts'
import { LOSS } from './loss-code.ts'

const AT = { atMs: Date.UTC(2026, 2, 2, 12), device: 2, country: 'DE', pubId: 5 }

test('a campaign counts once in an auction, by its offer that came closest', () => {
  const { set, outcome } = hold([
    { name: 'far', campaign: 1, merchant: 1, bidMicros: 300_000, isInStock: false },
    { name: 'near', campaign: 1, merchant: 1, bidMicros: 300_000 },
    { name: 'winner', campaign: 2, merchant: 2, bidMicros: 500_000 },
    { name: 'paused', campaign: 3, merchant: 3, flight: { isActive: false } },
  ])
  const results = campaignResults(set, outcome)
  const losses = results.map(({ campaignId, loss, bidMicros }) => [
    campaignId,
    loss,
    bidMicros !== null,
  ])
  assert.deepEqual(losses.sort(), [
    [1, LOSS.outbid, true],
    [2, LOSS.none, true],
  ])
})

test('every dimension adds up to the same auctions, bids and prices', () => {
  const totals = new AuctionTotals()
  const lost = { campaignId: 1, offerId: 7, loss: LOSS.outbid, bidMicros: 300_000 }
  const won = { campaignId: 2, offerId: 8, loss: LOSS.none, bidMicros: 500_000 }
  const out = { campaignId: 1, offerId: 9, loss: LOSS.outOfStock, bidMicros: null }
  totals.add({ ...AT, priceMicros: 310_000, results: [lost, won] })
  totals.add({ ...AT, pubId: 6, country: null, priceMicros: 0, results: [out] })
  const cells = totals.take()
  for (const dimension of Object.values(DIMENSION)) {
    const of = cells.filter((cell) => cell.dimension === dimension)
    const sum = (name: 'auctions' | 'bids' | 'bidMicros' | 'priceMicros') =>
      of.reduce((total, cell) => total + cell[name], 0)
    assert.deepEqual(
      [sum('auctions'), sum('bids'), sum('bidMicros'), sum('priceMicros')],
      [3, 2, 800_000, 310_000],
    )
  }
  const countries = cells.filter(({ dimension }) => dimension === DIMENSION.country)
  assert.deepEqual(
    countries.map(({ value }) => value).sort((one, other) => other - one),
    [countryValue('DE'), countryValue('DE'), 0],
  )
  assert.deepEqual(totals.take(), [], 'what was taken is not counted again')
})

test('a batch is added once, however often it is sent, by several processes at once', async (t) => {
  const db = await testDatabase(t)
  const campaignId = await (await makePublisherWorld(db)).addCampaign()
  const cell: Total = {
    ...{ day: '2026-03-02', campaignId, dimension: 0, value: 0, reason: 0 },
    ...{ auctions: 3, bids: 3, bidMicros: 900_000, priceMicros: 600_000 },
  }
  const send = (nodeId: number, batch: number) =>
    addAuctionTotals(db, { nodeId, incarnation: '1', batch, totals: [cell] })
  const sent = await Promise.all([send(1, 1), send(1, 1), send(2, 1)])
  assert.deepEqual(sent.toSorted(), [false, true, true])
  assert.equal(await send(1, 1), false)
  assert.equal(await send(1, 2), true)
  const rows = await db.rows<{ auctions: string }>(sql`select auctions from auction_day`)
  assert.deepEqual(rows, [{ auctions: '9' }])
})
