/**
 * Finds the links that a visitor has only viewed, for orders of merchants that pay for views.
 *
 * The view lanes are folded separately from the money lane, so the money fold cannot look up views:
 * the answer would depend on which fold is faster. The intake looks them up and writes them into
 * the order's event. From then on they are facts of the money lane, like a rate (I1).
 */
import type { Merchant } from '../catalog/merchant-store.ts'
import { clickIdBytes } from '../events/click-id.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { isSeenFor } from './attribute.ts'
import type { DatedOrder, PostImpression } from './read-order.ts'

/** The latest views count. A page has no more relevant links than this. */
const SEEN_MAX = 20

interface SeenRow {
  readonly click_id: Buffer
  readonly event_id: string
  readonly seen_at: Date
}

/** The merchant's offers that each order's visitor has viewed; null if it pays for clicks only. */
export async function findSeenLinks(
  db: Db,
  merchant: Pick<Merchant, 'merch_id' | 'post_impression_rate_ppm'>,
  orders: readonly DatedOrder[],
): Promise<(order: DatedOrder) => PostImpression | null> {
  const { merch_id: merchId, post_impression_rate_ppm: ratePpm } = merchant
  if (ratePpm === null) return () => null
  const clickIds = [...new Set(orders.flatMap(({ rememberedClickIds: ids }) => ids))]
  const rows = await db.rows<SeenRow>(sql`
    select click_id, seen_link.event_id, seen_at
    from click join seen_link using (session_key)
    where click_id = any(${clickIdBytes(clickIds)}::bytea[])
      and seen_link.merch_id = ${merchId} and seen_link.event_id is not null
    order by seen_at desc, seen_link.event_id desc`)
  const seenOf = Map.groupBy(rows, ({ click_id }) => click_id.toString('hex'))
  return (order) => ({
    rate_ppm: ratePpm,
    seen: order.rememberedClickIds
      .flatMap((id) => seenOf.get(id) ?? [])
      .map(({ click_id, event_id, seen_at }) => ({
        impression_id: event_id,
        at_ms: seen_at.getTime(),
        click_id: click_id.toString('hex'),
      }))
      .filter(({ at_ms }) => isSeenFor(order, at_ms))
      .toSorted((one, other) => other.at_ms - one.at_ms)
      .slice(0, SEEN_MAX),
  })
}
