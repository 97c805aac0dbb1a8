/** Reads the clicks and orders that an evaluation replays. */
import { REASON } from '../events/reason.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { IS_BROUGHT } from '../prediction/delay-store.ts'
import type { Cohort } from './evaluate.ts'

export interface CohortRange {
  readonly fromMs: number
  readonly toMs: number // exclusive
  readonly slotMs: number
}

/**
 * Lists valid clicks by pair and slot, with the orders by the slot in which they came. An order
 * names the reader's last click, even if only an earlier one was paid.
 */
export async function loadCohorts(db: Db, range: CohortRange): Promise<Cohort[]> {
  const { slotMs } = range
  const [from, to] = [new Date(range.fromMs), new Date(range.toMs)]
  const clicks = await db.rows<PairSlot & { clicks: number }>(sql`
    select pub_id, merch_id, floor(extract(epoch from at) * 1000 / ${slotMs}::bigint)::int as slot,
      count(*)::int as clicks
    from click
    where at >= ${from} and at < ${to} and reason = ${REASON.ok} and reversed_at is null
      and merch_id <> 0
    group by 1, 2, 3`)
  const orders = await db.rows<PairSlot & { order_slot: number; orders: number }>(sql`
    select click.pub_id, click.merch_id,
      floor(extract(epoch from at) * 1000 / ${slotMs}::bigint)::int as slot,
      floor(extract(epoch from accepted_at) * 1000 / ${slotMs}::bigint)::int as order_slot,
      count(*)::int as orders
    from merchant_order join click using (click_id)
    where at >= ${from} and at < ${to} and accepted_at < ${to} and ${IS_BROUGHT}
    group by 1, 2, 3, 4`)
  const ordersOf = Map.groupBy(orders, keyOf)
  return clicks.map((row) => ({
    pubId: row.pub_id,
    merchId: row.merch_id,
    slot: row.slot,
    clicks: row.clicks,
    orders: (ordersOf.get(keyOf(row)) ?? []).map((of) => ({
      slot: of.order_slot,
      count: of.orders,
    })),
  }))
}

interface PairSlot {
  readonly pub_id: number
  readonly merch_id: number
  readonly slot: number
}

const keyOf = ({ pub_id, merch_id, slot }: PairSlot): string => `${pub_id} ${merch_id} ${slot}`

/** The time of the first valid click, or null without any. */
export async function findFirstClick(db: Db): Promise<number | null> {
  const row = await db.row<{ at: Date | null }>(sql`
    select min(at) as at from click where reason = ${REASON.ok} and merch_id <> 0`)
  return row?.at?.getTime() ?? null
}
