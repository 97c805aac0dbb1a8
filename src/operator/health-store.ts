/** The database queries of the health checks. */
import { FEED_AGE_MAX_MS } from '../catalog/merchant.ts'
import { DEAD_AFTER_SECONDS } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { identifier, type Sql, sql } from '../platform/postgres/sql.ts'

export interface ServerFacts {
  readonly version: string
  readonly fsync: string
  readonly synchronous_commit: string
  readonly bytes: string
}

export async function readServerFacts(db: Db): Promise<ServerFacts> {
  const facts = await db.row<ServerFacts>(sql`
    select current_setting('server_version') as version,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      pg_database_size(current_database()) as bytes
  `)
  if (facts === null) throw new Error('the server did not answer')
  return facts
}

/** The connections that server, database and role allow at once. */
export async function readConnectionsMax(db: Db): Promise<number> {
  const row = await db.row<{ connections: number }>(sql`
    select least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1),
        current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int
          - current_setting('reserved_connections')::int) as connections
    from pg_roles, pg_database where rolname = current_user and datname = current_database()`)
  return row?.connections ?? 0
}

/** The last message of a stream that is in the log; 0 before the first. */
export async function readStreamPosition(
  db: Db,
  { streamName, created }: { readonly streamName: string; readonly created: string },
): Promise<number> {
  const row = await db.row<{ position: string }>(sql`
    select position from stream_position where stream = ${streamName} and created = ${created}`)
  return Number(row?.position ?? 0)
}

/** Events that the fold set aside, and the first of them with its error. */
export function readUnfolded(
  db: Db,
): Promise<{ events: number; day: string; error: string } | null> {
  return db.row(sql`
    select count(*) over ()::int as events, day, error from unfolded_event
    order by at, seq limit 1`)
}

/** Merchants and publishers that have figures but no record. */
export async function listLostOwners(db: Db): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    with recursive ${numbersOf('merchant', 'ledger_line', 'merch_id')},
      ${numbersOf('publisher', 'stats_day', 'pub_id')}
    select 'merchant ' || number as name from merchant_number
    where number > 0 and not exists (select from merchant where merch_id = number)
    union all
    select 'publisher ' || number from publisher_number
    where number > 0 and not exists (select from publisher where pub_id = number)
    order by name`)
  return rows.map(({ name }) => name)
}

/**
 * Skips from one number to the next in the index: there are millions of rows and thousands of
 * numbers.
 */
function numbersOf(owner: string, table: string, column: string): Sql {
  const [rows, number] = [identifier(table), identifier(column)]
  return sql`${identifier(`${owner}_number`)} (number) as (
    select min(${number}) from ${rows}
    union all
    select (select min(${number}) from ${rows} where ${number} > number)
    from ${identifier(`${owner}_number`)} where number is not null
  )`
}

/** Merchants whose feed has a URL and is too old for their offers to bid. */
export function listLostFeeds(
  db: Db,
  now: Date,
): Promise<{ merch_id: number; error: string | null }[]> {
  return db.rows(sql`
    select merch_id, error from feed_source join merchant using (merch_id)
    where coalesce(feed_imported_at < ${staleBefore(now)}, true)
    order by merch_id`)
}

/** Merchants with an active campaign whose imported feed file is too old to bid. */
export function listStaleHandFeeds(db: Db, now: Date): Promise<{ merch_id: number }[]> {
  return db.rows(sql`
    select merch_id from merchant
    where feed_imported_at < ${staleBefore(now)}
      and not exists (select from feed_source where feed_source.merch_id = merchant.merch_id)
      and exists (
        select from campaign where campaign.merch_id = merchant.merch_id and state = 'active')
    order by merch_id`)
}

const staleBefore = (now: Date): Date => new Date(now.getTime() - FEED_AGE_MAX_MS)

/** Paid clicks since then that the rules by address left alone. */
export async function countLocalClicks(db: Db, since: Date): Promise<number> {
  const row = await db.row<{ clicks: number }>(sql`
    select count(*)::int as clicks from click
    where at > ${since} and merchant_cost_micros > 0 and agent_key is null
      and visitor_returned is not null and reversed_at is null`)
  return row?.clicks ?? 0
}

export interface AbandonedLease {
  readonly node_id: number
  readonly host: string
  readonly campaign_id: number
  readonly micros: string // Held in escrow for clicks that may be in the node's spool.
}

/**
 * Leases of nodes that have been silent since they ended, largest first. A live node renews leases
 * of idle campaigns implicitly.
 */
export function listAbandonedLeases(
  db: Db,
  { silentSeconds }: { readonly silentSeconds: number },
): Promise<AbandonedLease[]> {
  return db.rows(sql`
    select node_id, case when node.incarnation = lease.incarnation then host else 'unknown' end
        as host,
      campaign_id, sum(granted_micros - reserved_folded_micros)::bigint as micros
    from lease left join node using (node_id)
    where closed_at is null and expires_at < now() - make_interval(secs => ${silentSeconds})
      and not coalesce(node.incarnation = lease.incarnation
        and heartbeat_at > now() - make_interval(secs => ${silentSeconds}), false)
      and granted_micros > reserved_folded_micros
    group by 1, 2, 3 order by micros desc`)
}

/** Whether any server is alive, by its heartbeat; commands do not count. */
export async function isAnyServerAlive(db: Db): Promise<boolean> {
  return (await countServers(db)) > 0
}

export async function countServers(db: Db): Promise<number> {
  const row = await db.row<{ servers: number }>(sql`
    select count(*)::int as servers from node
    where roles <> 'command'
      and heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS})`)
  return row?.servers ?? 0
}

export interface NodeHealth {
  readonly node_id: number
  readonly host: string
  readonly roles: string
  readonly is_alive: boolean
  readonly is_spool_empty: boolean
  readonly started_at: Date
  readonly heartbeat_at: Date | null // null: it ended
}

/** Servers that are alive, and those that ended with unread events, the latest first. */
export function listNodes(db: Db): Promise<NodeHealth[]> {
  return db.rows(sql`
    select node_id, host, roles, is_spool_empty, started_at,
      heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS}) as is_alive,
      nullif(heartbeat_at, '-infinity') as heartbeat_at
    from node
    where roles <> 'command' and (not is_spool_empty
      or heartbeat_at > now() - make_interval(secs => ${DEAD_AFTER_SECONDS}))
    order by started_at desc, node_id`)
}

export interface AsideEvent {
  readonly event_id: string
  readonly lane: number
  readonly day: string
  readonly error: string
  readonly at: Date
}

/** The first events that the fold set aside. */
export function listAside(db: Db, limit: number): Promise<AsideEvent[]> {
  return db.rows(sql`
    select event_id, lane, day, error, at from unfolded_event order by at, seq limit ${limit}`)
}
