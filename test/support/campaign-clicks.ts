/** A campaign with clicks and orders as the fold leaves them, as training data. */
import type { TestContext } from 'node:test'
import type { Database } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'
import { testDatabase } from './database.ts'

export const BID_MICROS = 500_000

/** A merchant's campaign for clicks, with a ROAS goal. */
export async function makeCampaign(t: TestContext): Promise<Database> {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, roas) values (1, 'cpc', ${BID_MICROS}, 4)`)
  return db
}

/** Clicks of one instant, paid and folded. */
export async function addClicks(db: Database, count: number, options: ClickOptions) {
  const { atMs, pubId = 1, reason = 0 } = options
  await db.run(sql`
    insert into click (event_id, click_id, result_number, day, at, pub_id, article_id, auction_id,
      merch_id, campaign_id, model, terms_amount, share_ppm, merchant_cost_micros,
      publisher_earnings_micros, reason,
      is_reserved)
    select ${atMs + pubId + reason}::bigint * 1000 + n,
      decode(md5(${`${atMs} ${pubId} ${reason}`}::text || n), 'hex'),
      decode(md5(n::text), 'hex'), ${new Date(atMs)}::timestamptz::date, ${new Date(atMs)},
      ${pubId}, 1, 1, 1, 1, 1, ${BID_MICROS}, 750000, ${BID_MICROS}, ${0.75 * BID_MICROS},
      ${reason}, false
    from generate_series(1, ${count}::int) as n`)
}

interface ClickOptions {
  readonly atMs: number
  readonly pubId?: number
  readonly reason?: number
}

/** One sale of the campaign, attributed to its first click. */
export async function addOrder(
  db: Database,
  orderId: string,
  micros: { sold: number; kept: number },
) {
  await db.run(sql`
    insert into merchant_order (merch_id, order_id, account, is_posted, day, click_id, pub_id,
      revenue_micros, net_revenue_micros, net_sales)
    select 1, ${orderId}, '{}', true, day, click_id, pub_id, ${micros.sold}, ${micros.kept}, 1
    from click order by at, event_id limit 1`)
}
