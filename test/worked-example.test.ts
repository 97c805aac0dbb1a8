/** The figures of docs/spec/worked-example.md, computed by the code that serves them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EVENT_TYPE, MODEL } from '../src/events/event.ts'
import { matchMerchantDebts } from '../src/ledger/debt-store.ts'
import { issueStatements } from '../src/ledger/statement-store.ts'
import { formatExact, micros, publisherPart } from '../src/platform/money/money.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { DAY_MS } from '../src/platform/time/timestamp.ts'
import { hold } from './support/auction-world.ts'
import { testDatabase } from './support/database.ts'
import { openFoldedLog } from './support/fold-log.ts'
import { MoneyEvents, orderLine, START_MS } from './support/money-events.ts'
import { makePublisherWorld } from './support/publisher-world.ts'
import { listDifferences } from './support/reconciled.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../docs/spec/worked-example.md'), 'utf8')
const SHARE_PPM = 750_000

/** The page states this amount in a row of its tables that begins with `row`. */
function states(row: string, ...amounts: readonly (number | string | bigint)[]) {
  const line = PAGE.split('\n').find((text) => text.startsWith(`| ${row} |`))
  assert.ok(line, `the page has a row “${row}”`)
  const cells = line.split('|').slice(2, -1)
  assert.deepEqual(
    cells.map((cell) => cell.trim()),
    amounts.map((amount) => dollars(amount)),
    row,
  )
}

function dollars(amount: number | string | bigint): string {
  const exact = formatExact(BigInt(amount))
  return exact.startsWith('-') ? `−$${exact.slice(1)}` : `$${exact}`
}

test('the auction of the worked example has the price that the page states', () => {
  const { outcome, winner } = hold(
    [
      { name: 'Kettles & Co', bidMicros: 800_000 },
      { name: 'Pans', bidMicros: 600_000, quality: 0.9 },
    ],
    { sharePpm: SHARE_PPM, floorMicros: 50_000 },
  )
  assert.equal(winner, 'Kettles & Co')
  states('Kettles & Co', 800_000, 800_000)
  states('Pans', 600_000, 540_000)
  const price = micros(outcome.priceMicros)
  const earnings = publisherPart(price, SHARE_PPM)
  states('A click', price, earnings, price - earnings)
})

test('order, return, payment and statement of the worked example match the page', async (t) => {
  const db = await testDatabase(t)
  const { publisher, merchant, addCampaign } = await makePublisherWorld(db)
  const { pub_id: pubId } = publisher
  const { merch_id: merchId } = merchant
  const campaignId = await addCampaign()
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const parties = { pubId, merchId, campaignId, sharePpm: SHARE_PPM }
  const commission = { model: MODEL.cpa, termsAmount: 80_000 }
  const goods = { lines: [orderLine('KETTLE', 8_999, 1), orderLine('MUG', 1_250, 4)] }
  const report = { ...goods, value: '139.99', value_micros: 139_990_000 }
  const lockMs = START_MS + 90 * DAY_MS
  await log.record(
    events.click('kettle', START_MS, { ...parties, ...commission }),
    events.order('1001', START_MS + DAY_MS, { click: 'kettle', merchId, report }),
    { ...events.goodsBack('1001', START_MS + 10 * DAY_MS, { product_id: 'MUG' }), merchId },
    events.at(lockMs, {
      type: EVENT_TYPE.payment,
      merchId,
      body: JSON.stringify({ reference: 'May', paid_on: '2026-05-31', amount_micros: 5_000_000 }),
    }),
  )
  const order = await db.row<Record<string, string>>(sql`
    select commission_micros, earnings_micros, net_commission_micros, net_earnings_micros
    from merchant_order`)
  const [cost = '0', earned = '0', netCost = '0', netEarned = '0'] = Object.values(order ?? {})
  states('The order', cost, earned, BigInt(cost) - BigInt(earned))
  const [backCost, backEarned] = [
    BigInt(netCost) - BigInt(cost),
    BigInt(netEarned) - BigInt(earned),
  ]
  states('The return of one mug', backCost, backEarned, backCost - backEarned)
  states('What is left', netCost, netEarned, BigInt(netCost) - BigInt(netEarned))

  const until = new Date(lockMs + 5 * DAY_MS)
  const { open } = await matchMerchantDebts(db, { merchId, until })
  states(
    'Still owed',
    open.reduce((sum, { owedMicros }) => sum + owedMicros, 0),
  )
  const issued = await issueStatements(db, { now: new Date('2026-07-02T12:00:00Z') })
  const june = issued.find(({ month }) => month === '2026-06')
  assert.ok(june)
  states(
    'June 2026',
    june.openingMicros,
    june.releasedMicros,
    june.payoutMicros,
    june.closingMicros,
  )
  assert.deepEqual(await listDifferences(db), [])
})
