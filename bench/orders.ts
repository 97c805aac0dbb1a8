/**
 * Measures orders from merchants' servers in signed batches of 100 over HTTP: how many per second
 * are accepted (durable before the response), and how many attributed and booked. Goal: 2,000.
 *
 *   node bench/orders.ts [--batches 300]
 *
 * Every synthetic order names a click, has two lines, and earns its publisher a commission.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Merchant } from '../src/catalog/merchant-store.ts'
import { openPostgresEventLog } from '../src/events/event-log-postgres.ts'
import { signBody } from '../src/orders/signed-request.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { clickId, MoneyEvents } from '../test/support/money-events.ts'
import { makePublisherWorld } from '../test/support/publisher-world.ts'
import { openDatabaseOf } from './database.ts'
import { startService } from './service.ts'

const BATCH = 100
const IN_FLIGHT = 4
const CLICKS = 1_000
const GOAL_PER_SECOND = 2_000

const { values } = parseArgs({ options: { batches: { type: 'string', default: '300' } } })
const BATCHES = Number(values.batches)

await using stack = new AsyncDisposableStack()
const service = await startService(stack)
const db = await openDatabaseOf(stack, service.dataDir)
const merchant = await makeClicks()
const bodies = Array.from({ length: BATCHES }, (_, batch) => ordersBody(batch))
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
const started = performance.now()
const seconds = () => (performance.now() - started) / 1_000
let next = 0
const one = async () => {
  for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await send(body)
}
await Promise.all(Array.from({ length: IN_FLIGHT }, one))
const accepted = seconds()
await untilFolded(BATCHES * BATCH)
report(accepted, seconds())

/** Clicks on the merchant's offers, a minute ago. */
async function makeClicks(): Promise<Merchant> {
  const world = await makePublisherWorld(db)
  const campaignId = await world.addCampaign()
  const { auctionId } = await world.addArticle('Bench')
  const events = new MoneyEvents()
  const log = openPostgresEventLog(db.connection)
  const owner = { pubId: world.publisher.pub_id, merchId: world.merchant.merch_id }
  const clicks = Array.from({ length: CLICKS }, (_none, index) => {
    const fields = { ...owner, campaignId, auctionId, sharePpm: 750_000 }
    return events.click(`click ${index}`, Date.now() - 60_000, fields)
  })
  await log.append(clicks)
  await log.close()
  return world.merchant
}

function ordersBody(batch: number): Buffer {
  const orders = Array.from({ length: BATCH }, (_, index) => ({
    order: {
      id: `o-${batch}-${index}`,
      value: '105.00',
      currency: 'USD',
      click_ids: [clickId(`click ${(batch * BATCH + index) % CLICKS}`)],
    },
    products: [
      { id: 'A1', name: 'A mug', quantity: 2, price: '40.00' },
      { id: 'B1', name: 'A plate', quantity: 1, price: '25.00' },
    ],
  }))
  return Buffer.from(JSON.stringify({ orders }))
}

function send(body: Buffer): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-souk-timestamp': timestamp,
    'x-souk-signature': signBody(merchant.postback_secret, timestamp, body).toString('hex'),
  }
  const { port } = new URL(service.base)
  const path = `/api/v1/merchants/${merchant.merch_id}/orders/`
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method: 'POST', agent, headers }
    const call = request(options, (response) => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 201) resolve()
        else reject(new Error(`answered ${response.statusCode}`))
      })
    })
    call.on('error', reject)
    call.end(body)
  })
}

async function untilFolded(orders: number): Promise<void> {
  for (;;) {
    const row = await db.row<{ orders: string }>(sql`
      select count(*) as orders from merchant_order where net_earnings_micros > 0`)
    if (Number(row?.orders) >= orders) return
    await sleep(50)
  }
}

function report(acceptedIn: number, foldedIn: number): void {
  const rate = (seconds: number) => Math.round((BATCHES * BATCH) / seconds)
  const isMet = Math.min(rate(acceptedIn), rate(foldedIn)) >= GOAL_PER_SECOND
  console.log(
    `${(BATCHES * BATCH).toLocaleString('en')} orders in batches of ${BATCH}, ${IN_FLIGHT} in flight: ` +
      `accepted ${rate(acceptedIn).toLocaleString('en')}/s, attributed and booked ` +
      `${rate(foldedIn).toLocaleString('en')}/s (goal ${GOAL_PER_SECOND.toLocaleString('en')})` +
      `${isMet ? '' : '  BELOW GOAL'}`,
  )
  if (!isMet) process.exitCode = 1
}
