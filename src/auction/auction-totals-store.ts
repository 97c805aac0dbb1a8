/** Daily totals of auctions in SQL. */
import type { NodeIdentity } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { Total } from './auction-totals.ts'

/** A numbered batch of one process; its number is above that of the batch before. */
export interface TotalsBatch extends NodeIdentity {
  readonly batch: number
  readonly totals: readonly Total[]
}

/** Adds a batch to the daily totals; false if it was added before. */
export function addAuctionTotals(db: Db, batch: TotalsBatch): Promise<boolean> {
  const { nodeId, incarnation, batch: number, totals } = batch
  return db.transaction(async (tx) => {
    const isNew = await tx.run(sql`
      insert into auction_batch as known (node_id, incarnation, batch)
      values (${nodeId}, ${incarnation}, ${number})
      on conflict (node_id, incarnation) do update set batch = excluded.batch
      where known.batch < excluded.batch`)
    if (isNew === 0) return false
    // In one order, so that two processes never wait for each other's rows in a circle.
    await tx.run(sql`
      insert into auction_day as known (day, campaign_id, dimension, value, reason, auctions, bids,
        bid_micros, price_micros)
      select * from unnest(
        ${totals.map(({ day }) => day)}::date[],
        ${totals.map(({ campaignId }) => campaignId)}::int[],
        ${totals.map(({ dimension }) => dimension)}::smallint[],
        ${totals.map(({ value }) => value)}::bigint[],
        ${totals.map(({ reason }) => reason)}::smallint[],
        ${totals.map(({ auctions }) => auctions)}::bigint[],
        ${totals.map(({ bids }) => bids)}::bigint[],
        ${totals.map(({ bidMicros }) => bidMicros)}::numeric[],
        ${totals.map(({ priceMicros }) => priceMicros)}::numeric[]
      ) as added (day, campaign_id, dimension, value, reason, auctions, bids, bid_micros,
        price_micros)
      where exists (select from campaign c where c.campaign_id = added.campaign_id)
      order by 2, 1, 3, 4, 5
      on conflict (campaign_id, day, dimension, value, reason) do update set
        auctions = known.auctions + excluded.auctions, bids = known.bids + excluded.bids,
        bid_micros = known.bid_micros + excluded.bid_micros,
        price_micros = known.price_micros + excluded.price_micros`)
    return true
  })
}
