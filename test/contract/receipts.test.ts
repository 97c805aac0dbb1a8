/** A receipt has everything that its publisher needs to recompute the price. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { micros } from '../../src/platform/money/money.ts'
import { startApi } from '../support/api.ts'
import { makeMerchant } from '../support/catalogue.ts'
import { KETTLE, makeMarket, runAuction, until } from '../support/market.ts'

const api = await startApi({ after })
const TERMS = { share_ppm: 333_333, tolerance_ppm: 30_000, beta: 2, floor_micros: micros(50_000) }
const market = await makeMarket(api, TERMS)

async function sell(name: string, price: string): Promise<number> {
  const link = `https://${name}.example/k`
  const offers = [{ id: 'k', link, price, gtin: '9521000000018' }]
  const { merchId } = await makeMerchant(api.db, { name, domain: `${name}.example`, offers })
  await until(() => api.app.node.edge.market.merchants.get(merchId)?.feed_imported_at != null)
  return merchId
}

await market.campaign(market.kettles, {
  bid_micros: micros(600_000),
  exclusive_bid_micros: micros(810_000),
})
await market.campaign(market.pans, { bid_micros: micros(540_000) })
await market.campaign(await sell('cheap', '41.00 USD'), {
  model: 'cpa',
  bid_micros: null,
  rate_ppm: 80_000,
})
await market.campaign(await sell('fixed', '51.50 USD'), {
  model: 'epp',
  bid_micros: null,
  payment_micros: micros(12_000_000),
})
await market.campaign(await sell('dear', '51.51 USD'), { bid_micros: micros(900_000) })
await market.campaign(await sell('stingy', '50.00 USD'), { bid_micros: micros(40_000) })

interface Candidate {
  readonly campaign_id: number
  readonly model: 'cpc' | 'cpa' | 'epp'
  readonly won: boolean
  readonly loss: { readonly code: number } | null
  readonly bid: string | null
  readonly exclusive_bid: string | null
  readonly orders_per_click: number | null
  readonly value_per_order: string | null
  readonly price: string
  readonly quality: number
  readonly confidence: number
  readonly reserve: string
  readonly score_micros: number | null
  readonly value_range: { readonly from: string; readonly below: string } | null
}

interface Receipt {
  readonly request: { readonly reference_price: string }
  readonly publisher: { readonly share: number; readonly tolerance: number; readonly beta: number }
  readonly outcome: Readonly<Record<string, unknown>>
  readonly candidates: readonly Candidate[]
}

async function receiptOf(isExclusive: boolean): Promise<Receipt> {
  const { auction_result } = await runAuction(api, await market.link(KETTLE, { isExclusive }))
  const path = `/api/v1/auction_results/${auction_result.id}/`
  const answer = await api.call(path, { key: market.account.key })
  assert.equal(answer.status, 200, answer.text)
  return answer.entry<Receipt>()
}

const usd = (text: string | null): number => Math.round(Number(text) * 1e6)
const dollars = (whole: number): number => whole / 1e6

/** The weight and score of a candidate, from its receipt alone. */
function compute({ request, publisher }: Receipt, candidate: Candidate, isExclusive: boolean) {
  const original = usd(request.reference_price)
  const gain = (original - usd(candidate.price)) / original
  const benefit = Math.exp(publisher.beta * Math.max(-publisher.tolerance, Math.min(0.3, gain)))
  const weight = candidate.quality * candidate.confidence * benefit
  const value =
    candidate.model === 'cpc'
      ? usd(isExclusive ? candidate.exclusive_bid : candidate.bid)
      : (candidate.orders_per_click ?? 0) * usd(candidate.value_per_order)
  return { weight, score: value * weight }
}

test("an open link's losses, price and shares follow from its receipt, whose other bids are ranges", async () => {
  const receipt = await receiptOf(false)
  const { candidates, outcome } = receipt
  assert.deepEqual(candidates.map(({ loss }) => loss?.code ?? null).sort(), [
    100,
    102,
    102,
    102,
    540,
    null,
  ])
  const shown = candidates.filter(({ score_micros }) => score_micros !== null)
  for (const candidate of shown) {
    const { score } = compute(receipt, candidate, false)
    assert.ok(
      Math.abs(score - (candidate.score_micros ?? 0)) < 1e-3,
      `${candidate.campaign_id}: ${score}`,
    )
  }
  // The rival whose score set the price is exact; the winner's bid and other bids are ranges.
  const rival = shown.find(({ campaign_id }) => campaign_id === outcome.runner_up_campaign_id)
  const winner = candidates.find(({ won }) => won)
  assert.ok(winner && rival)
  assert.equal(outcome.price_set_by, 'rival')
  assert.equal(rival.score_micros, outcome.runner_up_score_micros)
  assert.deepEqual([winner.bid, winner.score_micros], [null, null])
  assert.deepEqual(winner.value_range, { from: '0.32', below: '0.64' })
  const least = Math.ceil((rival.score_micros ?? 0) / compute(receipt, winner, false).weight)
  const price = Math.max(least, usd(winner.reserve))
  const earns = Math.floor((price * Math.round(receipt.publisher.share * 1e6)) / 1e6)
  assert.deepEqual(
    [outcome.price, outcome.publisher_earns, outcome.platform_keeps].map(Number),
    [price, earns, price - earns].map(dollars),
  )
})

test("an exclusive link's price is the merchant's posted price", async () => {
  const { candidates, outcome } = await receiptOf(true)
  assert.deepEqual([outcome.price, outcome.eligible], ['0.81', 1])
  const others = candidates.filter(({ won }) => !won).map(({ loss }) => loss?.code)
  assert.deepEqual(new Set(others), new Set([520]))
})
