/** A click at the second rate, from its auction to the ledger. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { signBody } from '../../src/orders/signed-request.ts'
import { MICROS_PER_DOLLAR, micros } from '../../src/platform/money/money.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { startApi } from '../support/api.ts'
import { follow, makeMarket } from '../support/market.ts'
import { listDifferences } from '../support/reconciled.ts'

const FULL_PPM = 80_000
const SALE_MICROS = 550 * MICROS_PER_DOLLAR

const api = await startApi({ after })
const market = await makeMarket(api)
const contract = {
  model: 'cpa',
  bid_micros: null,
  rate_ppm: FULL_PPM,
  has_second_rate: true,
} as const
await api.db.run(sql`update merchant set allows_second_rate = true`)
await market.campaign(market.kettles, contract)
await market.campaign(market.pans, { bid_micros: micros(43_200) })

interface SoldClick {
  readonly click_id: string
  readonly terms_amount: string
  readonly commission_micros: string
  readonly earnings_micros: string
}

/** Reports an order of this click as the merchant's server does, and returns its figures. */
async function sell(clickId: string): Promise<SoldClick> {
  const merchant = await api.db.row<{ postback_secret: string }>(
    sql`select postback_secret from merchant where merch_id = ${market.kettles}`,
  )
  const order = { id: `order ${clickId}`, value: '550.00', currency: 'USD', click_id: clickId }
  const body = JSON.stringify({ orders: [{ order }] })
  const timestamp = String(Math.floor(api.app.node.now() / 1000))
  const signature = signBody(merchant?.postback_secret ?? '', timestamp, Buffer.from(body))
  const answer = await api.call(`/api/v1/merchants/${market.kettles}/orders/`, {
    body,
    headers: { 'x-souk-timestamp': timestamp, 'x-souk-signature': signature.toString('hex') },
  })
  assert.equal(answer.status, 201, answer.text)
  await api.app.untilFolded()
  const sold = await api.db.row<SoldClick>(sql`
    select encode(click_id, 'hex') as click_id, terms_amount, commission_micros, earnings_micros
    from merchant_order join click using (click_id) where order_id = ${order.id}`)
  assert(sold !== null, answer.text)
  return sold
}

async function clickOf(auctionId: string): Promise<string> {
  const { location } = await follow(api, `/${auctionId}`)
  assert.match(location, /^https:\/\/kettles\.example\//)
  await api.app.untilFolded()
  return new URL(location).searchParams.get('cid') ?? ''
}

test('an order of a second-rate click is charged and earned at the rate that still won', async () => {
  const sold = await sell(await clickOf(await market.link()))
  // A click is worth $0.0864 to it; the rival offers $0.0432 and sells 2 % cheaper (e^0.02).
  const rate = Number(sold.terms_amount) / MICROS_PER_DOLLAR
  assert(Math.abs(rate - (0.08 * 0.0432 * Math.exp(0.02)) / 0.0864) < 2e-6, String(rate))
  const commission = Number(sold.commission_micros)
  assert.equal(commission, Math.round(rate * SALE_MICROS))
  assert.equal(Number(sold.earnings_micros), Math.floor(0.75 * commission))
  const entries = await api.db.rows<{ account: string; amount: string }>(sql`
    select account, sum(amount_micros)::text as amount
    from ledger_line join ledger_transaction using (transaction_id)
    where idempotency_key like 'order:%' group by account order by account`)
  const owed = Object.fromEntries(entries.map(({ account, amount }) => [account, Number(amount)]))
  assert.equal(owed.merchant, -commission)
  assert.equal(owed.publisher, Number(sold.earnings_micros))
  assert.equal(owed.platform, commission - Number(sold.earnings_micros))
  assert.deepEqual(await listDifferences(api.db), [])
})

test('the rate of a click stays what its auction sealed when the campaign pays in full later', async () => {
  const clickId = await clickOf(await market.link(undefined, { article: 'another' }))
  await api.db.run(sql`update campaign set has_second_rate = false`)
  const sold = await sell(clickId)
  assert(Number(sold.terms_amount) < 0.6 * FULL_PPM)
  assert.equal(
    Number(sold.commission_micros),
    Math.round((Number(sold.terms_amount) * SALE_MICROS) / MICROS_PER_DOLLAR),
  )
  assert.deepEqual(await listDifferences(api.db), [])
})
