/**
 * Turns page impressions, link impressions and placements of the log into daily counts.
 *
 * Plain SQL over the batch. A unique key prevents double counting (a page impression counts once
 * per publisher and session), so no state is needed between batches. An event with a reason stays
 * in the log and counts nowhere, except robots' page impressions, which are shown separately: a
 * robot has no session and takes no reader's place.
 */
import { EVENT_TYPE, type StoredEvent } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { IS_ARTICLE_THERE } from '../links/article-views-store.ts'
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { SPAN_WIDTHS } from './figure-spans.ts'
import { passNamedIds } from './fold-named-ids.ts'
import { rememberSeen } from './fold-seen-links.ts'
import { addTagViews } from './fold-tags.ts'

export async function foldViews(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  await passNamedIds(tx, events)
  const ofType = (type: number) => events.filter((event) => event.type === type)
  const pages = ofType(EVENT_TYPE.pageImpression)
  await addPageImpressions(tx, pages)
  await addTagViews(
    tx,
    pages.filter(({ reason }) => reason === REASON.ok),
  )
  await addLinkImpressions(
    tx,
    events.filter(
      ({ type, reason }) =>
        reason === REASON.ok &&
        (type === EVENT_TYPE.linkImpression || type === EVENT_TYPE.linkViewable),
    ),
  )
  await addPlacements(
    tx,
    ofType(EVENT_TYPE.placement).filter(({ reason }) => reason === REASON.ok),
  )
  await rememberSeen(tx, events)
}

async function addPageImpressions(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  if (events.length === 0) return
  await excludeNewArticles(tx, events)
  await tx.run(sql`
    with ${countedViews(events)}, slotted as (
      select pub_id, url_key, day, quarter_hour(at) as slot, count(*) as impressions
      from counted where not is_robot group by 1, 2, 3, 4
    ), of_page as (
      insert into page_slot as figures (pub_id, url_key, slot, impressions)
      select pub_id, url_key, slot, impressions from slotted order by pub_id, url_key, slot
      on conflict (pub_id, url_key, slot) do update set
        impressions = figures.impressions + excluded.impressions
    ), of_spans as (
      insert into page_span as figures (pub_id, width, first_day, url_key, impressions)
      select pub_id, width, span_begin(day, width), url_key, count(*)
      from counted cross join ${SPAN_WIDTHS}
      where not is_robot
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      on conflict (pub_id, width, first_day, url_key) do update set
        impressions = figures.impressions + excluded.impressions
    ), of_articles as (
      insert into view_slot as figures (pub_id, slot, impressions)
      select pub_id, slot, sum(impressions)
      from slotted join article using (pub_id, url_key)
      where ${IS_ARTICLE_THERE}
      group by pub_id, slot
      order by pub_id, slot
      on conflict (pub_id, slot) do update set
        impressions = figures.impressions + excluded.impressions
    )
    insert into page_day as figures (pub_id, url_key, day, impressions, robot_impressions)
    select pub_id, url_key, day,
      count(*) filter (where not is_robot), count(*) filter (where is_robot)
    from counted
    group by pub_id, url_key, day
    order by pub_id, url_key, day
    on conflict (pub_id, url_key, day) do update set
      impressions = figures.impressions + excluded.impressions,
      robot_impressions = figures.robot_impressions + excluded.robot_impressions,
      changed_at = case when excluded.impressions > 0 then now() else figures.changed_at end`)
}

/** `counted`: the views that count. A session counts once per publisher, at its first page. */
function countedViews(events: readonly StoredEvent[]): Sql {
  return sql`
    viewed as (
      select *
      from unnest(
        ${events.map(({ pubId }) => pubId)}::int[],
        ${events.map(({ sessionKey }) => sessionKey)}::bytea[],
        ${events.map(({ urlKey }) => urlKey)}::bytea[],
        ${events.map(({ day }) => day)}::date[],
        ${events.map(({ atMs }) => new Date(atMs))}::timestamptz[],
        ${events.map(({ reason }) => reason !== REASON.ok)}::boolean[]
      ) with ordinality as event (pub_id, session_key, url_key, day, at, is_robot, place)
    ), first as (
      select distinct on (pub_id, session_key) pub_id, session_key, url_key, day, at, is_robot
      from viewed where not is_robot
      order by pub_id, session_key, place
    ), fresh as (
      insert into page_session (pub_id, session_key, day)
      select pub_id, session_key, day from first order by pub_id, session_key
      on conflict do nothing
      returning pub_id, session_key
    ), counted as (
      select pub_id, url_key, day, at, is_robot from first join fresh using (pub_id, session_key)
      union all
      select pub_id, url_key, day, at, is_robot from viewed where is_robot
    )`
}

/** Until the end of the transaction, no article is created: see `count_earlier_views`. */
async function excludeNewArticles(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  await tx.run(sql`
    select pg_advisory_xact_lock_shared('article'::regclass::int, pub_id)
    from (
      select distinct pub_id
      from unnest(${events.map(({ pubId }) => pubId)}::int[]) as event (pub_id)
      where pub_id is not null order by pub_id
    ) as viewed`)
}

/**
 * Only for the publisher's own links. The node that received the event may not have known the
 * owner.
 */
async function addLinkImpressions(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  if (events.length === 0) return
  await tx.run(sql`
    insert into link_day as figures (pub_id, auction_id, day, impressions, viewable_impressions)
    select pub_id, auction_id, day,
      count(*) filter (where not is_viewable), count(*) filter (where is_viewable)
    from unnest(
      ${events.map(({ pubId }) => pubId)}::int[],
      ${events.map(({ auctionId }) => auctionId)}::bigint[],
      ${events.map(({ day }) => day)}::date[],
      ${events.map(({ type }) => type === EVENT_TYPE.linkViewable)}::boolean[]
    ) as event (pub_id, auction_id, day, is_viewable)
    join smart_link using (pub_id, auction_id)
    group by pub_id, auction_id, day
    order by pub_id, auction_id, day
    on conflict (pub_id, auction_id, day) do update set
      impressions = figures.impressions + excluded.impressions,
      viewable_impressions = figures.viewable_impressions + excluded.viewable_impressions`)
}

/** A row created by a placement has no figures, so its time marks the change. */
async function addPlacements(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  if (events.length === 0) return
  await tx.run(sql`
    insert into stats_day as figures (pub_id, day, article_id, merch_id, placements, placed_at)
    select pub_id, day, coalesce(article_id, 0), merch_id, count(*), now()
    from unnest(
      ${events.map(({ pubId }) => pubId)}::int[],
      ${events.map(({ day }) => day)}::date[],
      ${events.map(({ auctionId }) => auctionId)}::bigint[],
      ${events.map(({ merchId }) => merchId)}::int[]
    ) as event (pub_id, day, auction_id, merch_id)
    left join (select auction_id, article_id from smart_link) link using (auction_id)
    where merch_id <> 0
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (pub_id, day, article_id, merch_id) do update set
      placements = figures.placements + excluded.placements,
      placed_at = case when figures.is_row then figures.placed_at else now() end,
      is_row = true`)
}

/** Deletes sessions that no page impression can match any more. */
export async function deletePageSessions(db: Db, before: Date): Promise<void> {
  await deleteWhere(db, 'page_session', sql`day < ${before}`)
}
