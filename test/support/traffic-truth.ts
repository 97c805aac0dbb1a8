/** Compares a replayed recording with its truth, and its earnings with the receipts. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpackReceipt } from '../../src/auction/receipt.ts'
import { MODEL } from '../../src/events/event.ts'
import { REASON } from '../../src/events/reason.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'

interface Truth {
  readonly page_views: number
  readonly page_views_by_robots: number
  readonly link_impressions: number
  readonly link_impressions_by_robots: number
  readonly clicks: number
  readonly billable_clicks: number
  readonly orders: number
  readonly orders_without_a_click: number
  readonly returned_units: number
}

/** Every count of `traffic-truth.json` that the service also has. */
export async function assertTruth(db: Db, folder: string): Promise<void> {
  const truth = JSON.parse(readFileSync(join(folder, 'traffic-truth.json'), 'utf8')) as Truth
  const counted = await db.row<Record<string, string>>(sql`
    select (select sum(impressions) from page_day) as page_views,
      (select sum(robot_impressions) from page_day) as robots,
      (select sum(impressions) from link_day) as link_impressions,
      (select count(*) from click) as clicks,
      (select count(*) from click where reason = ${REASON.visitorLimit}) as over_limit,
      (select count(*) from click where reason = ${REASON.ok}) as valid,
      (select count(*) from merchant_order) as orders,
      (select sum(quantity) from order_return_line) as returned_units`)
  const number = (name: string) => Number(counted?.[name])
  assert.equal(number('page_views'), truth.page_views - truth.page_views_by_robots)
  assert.equal(number('robots'), truth.page_views_by_robots)
  assert.equal(
    number('link_impressions'),
    truth.link_impressions - truth.link_impressions_by_robots,
  )
  assert.equal(number('clicks'), truth.clicks)
  // The truth has no limit per visitor and hour, so it counts those clicks as well.
  assert.equal(number('valid') + number('over_limit'), truth.billable_clicks)
  assert.equal(number('orders'), truth.orders + truth.orders_without_a_click)
  assert.equal(number('returned_units'), truth.returned_units)
}

/** Paid clicks by their auctions' receipts, summed independently; then the books. */
export async function assertEarnings(db: Db): Promise<void> {
  const rows = await db.rows<{ packed: Buffer; share_ppm: number }>(sql`
    select packed, share_ppm from click join receipt using (result_number)
    where reason = ${REASON.ok} and model = ${MODEL.cpc}`)
  const paid = await db.row<{ clicks: string; earnings: string }>(sql`
    select count(*) as clicks, sum(publisher_earnings_micros) as earnings from click
    where merchant_cost_micros > 0`)
  assert.equal(rows.length, Number(paid?.clicks), 'every paid click has its receipt')
  const earnings = rows.reduce((sum, { packed, share_ppm }) => {
    const { outcome } = unpackReceipt(packed)
    return sum + (BigInt(outcome.priceMicros) * BigInt(share_ppm)) / 1_000_000n
  }, 0n)
  assert.equal(String(earnings), paid?.earnings)
  const booked = await db.row<{ stats: string; ledger: string; sales: string }>(sql`
    select (select sum(earnings_micros) from stats_day) as stats,
      (select sum(amount_micros) from ledger_line where account = 'publisher') as ledger,
      (select sum(net_earnings_micros) from merchant_order) as sales`)
  assert.equal(booked?.stats, booked?.ledger)
  assert.equal(BigInt(booked?.stats ?? 0), earnings + BigInt(booked?.sales ?? 0))
  assert.ok(earnings > 0n && BigInt(booked?.sales ?? 0) > 0n)
}
