/**
 * Records which links of a page session were in view, for merchants that pay for views.
 *
 * A viewable impression names only its link. The placement of the same session and link, which a
 * page reports at least a second earlier, names the offer. Nothing is counted here; the order
 * intake looks it up (orders/seen-link-store.ts).
 */
import { EVENT_TYPE, type StoredEvent } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export async function rememberSeen(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  const known = events.filter(({ reason, sessionKey }) => reason === REASON.ok && sessionKey)
  const placements = known.filter(({ type }) => type === EVENT_TYPE.placement)
  const viewed = known.filter(({ type }) => type === EVENT_TYPE.linkViewable)
  if (placements.length + viewed.length === 0 || !(await isWanted(tx))) return
  await addPlacements(tx, placements)
  await addViews(tx, viewed)
}

/** Few merchants pay for views. For all others this costs one lookup. */
async function isWanted(tx: Db): Promise<boolean> {
  const row = await tx.row<{ is_wanted: boolean }>(sql`
    select exists (
      select from merchant where post_impression_rate_ppm is not null
    ) as is_wanted`)
  return row?.is_wanted === true
}

async function addPlacements(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  await tx.run(sql`
    insert into seen_link (session_key, auction_id, merch_id, placed_at)
    select session_key, auction_id, merch_id, min(at)
    from unnest(
      ${events.map(({ sessionKey }) => sessionKey)}::bytea[],
      ${events.map(({ auctionId }) => auctionId)}::bigint[],
      ${events.map(({ merchId }) => merchId)}::int[],
      ${events.map(({ atMs }) => new Date(atMs))}::timestamptz[]
    ) as event (session_key, auction_id, merch_id, at)
    join merchant using (merch_id)
    where post_impression_rate_ppm is not null
    group by session_key, auction_id, merch_id
    order by session_key, auction_id, merch_id
    on conflict do nothing`)
}

async function addViews(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  await tx.run(sql`
    update seen_link set event_id = viewed.event_id, seen_at = viewed.at
    from (
      select distinct on (session_key, auction_id) *
      from unnest(
        ${events.map(({ sessionKey }) => sessionKey)}::bytea[],
        ${events.map(({ auctionId }) => auctionId)}::bigint[],
        ${events.map(({ id }) => id)}::bigint[],
        ${events.map(({ atMs }) => new Date(atMs))}::timestamptz[]
      ) as event (session_key, auction_id, event_id, at)
      order by session_key, auction_id, at desc, event_id desc
    ) as viewed
    where seen_link.session_key = viewed.session_key
      and seen_link.auction_id = viewed.auction_id
      and (seen_link.seen_at is null or seen_link.seen_at <= viewed.at)`)
}

/** Deletes records that no order may refer to any more. Returns their number. */
export function deleteSeenLinks(db: Db, before: Date): Promise<number> {
  return deleteWhere(db, 'seen_link', sql`placed_at < ${before}`)
}
