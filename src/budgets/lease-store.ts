/**
 * The one statement by which a node gets, renews, enlarges and returns its leases.
 * lease-example.test.ts shows it step by step for two nodes and a budget of ten clicks.
 *
 * All campaigns of a node go in one batch, once a second: eight nodes cost eight statements a
 * second, whatever the number of campaigns. PostgreSQL is the record: its row locks and the check
 * `settled + escrow <= cap` (B1) enforce a cap, independent of any node.
 *
 * Statements of nodes lock in one order (node, lifetime accounts, daily accounts, leases; each by
 * id). The fold updates budgets in several statements of one transaction, in the order of its
 * events, so it excludes all nodes meanwhile (`lockBudgets`): no deadlocks. Every writer computes
 * an account from the row as locked. PostgreSQL evaluates a check constraint on the new row before
 * it notices that the snapshot is older than the lock, so `escrow + change` would sometimes fail on
 * stale figures.
 */
import type { NodeIdentity } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { BUDGET_LOCK } from './budget-account.ts'
import { LEASE_TTL_MS, type LeaseGrant, type LeaseRequest } from './lease-terms.ts'

export interface GrantedLease extends LeaseGrant {
  /** Spending of the day's budget by all nodes as far as the log is folded; for pacing. */
  readonly daySettledMicros: number
}

export interface LeaseAnswer {
  readonly grants: readonly GrantedLease[]
  /** Leases of this node with money that another node needs. */
  readonly recalled: readonly number[]
}

/**
 * A node that is silent for this long gets no share of a scarce budget; live nodes send every
 * second.
 */
const NODE_SILENT_MS = 5_000

/**
 * Sends a node's requests and returns the current leases; a request without an answer has no lease.
 * Null when the node has been declared dead or its number was taken over: it must stop.
 *
 * `requestNo` fences: of two statements for one lease the higher number wins, also when the lower
 * one was stuck and runs last. `nowMs` is the database's clock unless given (simulations).
 */
export async function requestLeases(
  db: Db,
  node: NodeIdentity,
  batch: LeaseBatch,
): Promise<LeaseAnswer | null> {
  const statement = sql`
with ${requested(batch)}, ${liveNode(node)}, ${lockedAccounts(node, batch)}, ${decided(node)},
${written(node, batch)}, ${recalled(node)}
select null::int as "campaignId", null::date as day, null::float8 as "leaseId",
  null::float8 as "grantedMicros", null::float8 as "fairMicros",
  null::float8 as "daySettledMicros", null::float8 as "refillableMicros",
  null::float8 as "inFlightElsewhereMicros",
  (select array_agg(lease_id::float8) from recall) as recalled
from self
union all
select campaign_id, day, changed.lease_id, changed.granted, fair, day_settled,
  free - (changed.granted - granted_before), in_flight_elsewhere, null
from changed join term using (campaign_id, day)`
  // Not a named statement: its cached plan would expect ten requests and join a thousand of them
  // row by row (measured: 20,000 requests take 1 s when planned afresh, minutes otherwise).
  const rows = await db.rows<GrantedLease | NodeRow>(statement)
  const self = rows.find((row) => row.campaignId === null)
  if (self === undefined) return null
  return { recalled: self.recalled ?? [], grants: rows.filter((row) => row.campaignId !== null) }
}

export interface LeaseBatch {
  readonly requestNo: number
  readonly requests: readonly LeaseRequest[]
  readonly nowMs?: number
}

function requested({ requests, nowMs }: LeaseBatch): Sql {
  const column = <T>(read: (request: LeaseRequest) => T): T[] => requests.map(read)
  return sql`request as materialized (
  select * from unnest(
    ${column((request) => request.campaignId)}::int[],
    ${column((request) => request.day)}::date[],
    ${column((request) => request.leaseId)}::bigint[],
    ${column((request) => request.spentMicros)}::bigint[],
    ${column((request) => request.holdMicros)}::bigint[],
    ${column((request) => request.wantMicros)}::bigint[],
    ${column((request) => request.priceMaxMicros)}::bigint[],
    ${column((request) => request.isFinal)}::boolean[],
    ${column((request) => request.immediateMicros)}::bigint[],
    ${column((request) => request.inFlightMicros)}::bigint[]
  ) as given (campaign_id, day, lease_id, spent, hold, want, price_max, is_final, immediate,
    in_flight)
), clock as materialized (
  select coalesce(${nowMs === undefined ? null : new Date(nowMs)}::timestamptz, now()) as at
  from pg_advisory_xact_lock_shared(${BUDGET_LOCK})
)`
}

/**
 * Whether this node still owns its number, and which nodes share the budgets. Also its heartbeat.
 */
function liveNode({ nodeId, incarnation }: NodeIdentity): Sql {
  return sql`self as materialized (
  update node set heartbeat_at = greatest(heartbeat_at, at) from clock
  where node_id = ${nodeId} and incarnation = ${incarnation} and closed_incarnation < ${incarnation}
  returning node_id
), live as materialized (
  select node_id from self
  union
  select node_id from node, clock
  where heartbeat_at > at - ${NODE_SILENT_MS} * interval '1 millisecond'
    and closed_incarnation < incarnation and position('edge' in roles) > 0
)`
}

function lockedAccounts({ nodeId, incarnation }: NodeIdentity, { requestNo }: LeaseBatch): Sql {
  return sql`lifetime as materialized (
  select *, coalesce(pending_cap_micros, cap_micros) - settled_micros - escrow_micros as free
  from budget_account
  where day is null and exists (select from self)
    and campaign_id in (select campaign_id from request)
  order by campaign_id
  for update
), daily as materialized (
  select *, coalesce(pending_cap_micros, cap_micros) - settled_micros - escrow_micros as free
  from budget_account
  where (campaign_id, day) in (select campaign_id, day from request)
    and campaign_id in (select campaign_id from lifetime)
  order by campaign_id, day
  for update
), held as materialized (
  select lease_id, lease.campaign_id, lease.day, granted_micros, reserved_folded_micros from lease
  join daily using (campaign_id, day)
  where node_id = ${nodeId} and incarnation = ${incarnation}
    and released_at is null and closed_at is null
    and request_no < ${requestNo}
  order by lease_id
  for update of lease
)`
}

/** The new amount of each lease (docs/spec/budgets.md#leases). */
function decided({ nodeId }: NodeIdentity): Sql {
  return sql`others as (
  -- What the other nodes last said; the results of one that is silent are clicked no more.
  select campaign_id, day, sum(in_flight_micros) as in_flight_elsewhere
  from lease, clock
  where (campaign_id, day) in (select campaign_id, day from request)
    and released_at is null and closed_at is null and node_id <> ${nodeId} and expires_at > at
  group by campaign_id, day
), claim as (
  -- What is said of a lease counts only if it is the active one. Of a lease that the node never
  -- heard of, because the answer was lost, it has spent nothing; of one that it forgot, because
  -- the database was set back since, stays what clicks have asked of it.
  select request.*, held.lease_id as held_id, coalesce(granted_micros, 0) as granted_before,
    case when held.lease_id = request.lease_id then spent else 0 end as spent_here,
    case when held.lease_id = request.lease_id then least(hold, granted_micros) else 0 end as keep,
    coalesce(reserved_folded_micros, 0) as folded,
    daily.account_id as daily_account, lifetime.account_id as lifetime_account,
    daily.settled_micros as day_settled,
    coalesce(least(daily.free, lifetime.free), ${UNLIMITED_MICROS}) as free,
    (select count(*) from live) as nodes,
    coalesce(in_flight_elsewhere, 0)::float8 as in_flight_elsewhere
  from request
  join daily using (campaign_id, day)
  join lifetime on lifetime.campaign_id = request.campaign_id
  left join held on held.campaign_id = request.campaign_id and held.day = request.day
  left join others on others.campaign_id = request.campaign_id and others.day = request.day
), room as (
  -- All that is neither spent here nor held elsewhere.
  select *, free + granted_before - spent_here as room from claim
), fair as (
  select *, case
    when is_final or room <= 0 then 0
    when nodes = 1 then room
    else ${partOf(sql`room`)}
  end as fair from room
), term as materialized (
  -- Of a lease whose grants the database lost, more may be spent than is there. Nobody gets what is
  -- not: the check of one account would refuse the whole batch. Nor does a day that is over, whose
  -- next one may be promised all that is free.
  select *, least(
    granted_before + case when is_final then 0 else greatest(free, 0) end,
    greatest(keep, folded,
      least(want, spent_here + greatest(fair, least(immediate, greatest(room, 0)))))
  ) as granted
  from fair
)`
}

/**
 * One node's share among several. A share below one click is not leased: it stays in the account,
 * from which any node's click can request its price.
 */
function partOf(room: Sql): Sql {
  return sql`case when ${room} / (2 * nodes) < price_max then 0 else ${room} / (2 * nodes) end`
}

/** Leases and escrow move together: the accounts follow the rows written to the leases. */
function written({ nodeId, incarnation }: NodeIdentity, { requestNo }: LeaseBatch): Sql {
  return sql`renewed as (
  update lease set
    granted_micros = term.granted,
    spent_micros = spent_here,
    in_flight_micros = in_flight,
    request_no = ${requestNo},
    expires_at = at + ${LEASE_TTL_MS} * interval '1 millisecond',
    released_at = case when is_final then at end,
    is_recalled = false
  from term, clock where lease.lease_id = term.held_id
  returning lease.lease_id, lease.campaign_id, lease.day, new.granted_micros as granted,
    new.granted_micros - old.granted_micros as change
), opened as (
  -- Also where nothing was granted: it tells the others of this node's open results.
  insert into lease (campaign_id, day, node_id, incarnation, granted_micros, in_flight_micros,
    request_no, expires_at)
  select campaign_id, day, ${nodeId}, ${incarnation}, granted, in_flight, ${requestNo},
    at + ${LEASE_TTL_MS} * interval '1 millisecond'
  from term, clock where held_id is null and not is_final
  on conflict (campaign_id, day, node_id, incarnation)
    where released_at is null and closed_at is null
    do nothing
  returning lease_id, campaign_id, day, granted_micros as granted, granted_micros as change
), changed as (
  select * from renewed union all select * from opened
), account as materialized (
  select account_id, cap_micros, pending_cap_micros, settled_micros,
    escrow_micros + change as escrow,
    coalesce(pending_cap_micros >= settled_micros + escrow_micros + change, false) as fits
  from (
    select account_id, sum(change)::bigint as change from (
      select daily_account as account_id, change from changed join term using (campaign_id, day)
      union all
      select lifetime_account, change from changed join term using (campaign_id, day)
    ) as part group by account_id
  ) as total
  join (select * from lifetime union all select * from daily) as locked using (account_id)
  where change <> 0 or pending_cap_micros is not null
), booked as (
  update budget_account set
    settled_micros = account.settled_micros,
    escrow_micros = escrow,
    cap_micros = case when fits then account.pending_cap_micros else account.cap_micros end,
    pending_cap_micros = case when not fits then account.pending_cap_micros end
  from account
  where budget_account.account_id = account.account_id
)`
}

/**
 * When a node cannot pay one more click, nodes above their share are asked to return the excess.
 * They see it in their next answer, within seconds, and not only at their next renewal.
 */
function recalled({ nodeId, incarnation }: NodeIdentity): Sql {
  return sql`holding as (
  select lease.lease_id, price_max, nodes,
    granted_micros - greatest(spent_micros, reserved_folded_micros) as unspent,
    free - (term.granted - granted_before) as left_over
  from lease join term using (campaign_id, day)
  where node_id <> ${nodeId} and released_at is null and closed_at is null and not is_recalled
    and term.granted - spent_here < least(price_max, want - spent_here)
), called as (
  -- Not what would be its part again: it would be called back for ever.
  update lease set is_recalled = true from holding
  where lease.lease_id = holding.lease_id and unspent > ${partOf(sql`(left_over + unspent)`)}
), recall as (
  select lease_id from lease
  where node_id = ${nodeId} and incarnation = ${incarnation} and is_recalled
    and released_at is null and closed_at is null
    and lease_id not in (select lease_id from request where hold = spent)
)`
}

/** Above any budget, and still a safe integer: the room of an account without a cap. */
const UNLIMITED_MICROS = 1e15

/** The node's row. */
interface NodeRow {
  readonly campaignId: null
  readonly recalled: readonly number[] | null
}

/**
 * Whether ended nodes still hold parts of budgets: the fold closes their leases when it reaches
 * their final record. An empty spool of a dead node means that all its clicks are in the log.
 */
export async function isAnyLastWordUnread(db: Db): Promise<boolean> {
  const row = await db.row<{ is_unread: boolean }>(sql`
    select exists (
      select from lease join node using (node_id, incarnation)
      where closed_at is null and is_spool_empty
    ) as is_unread`)
  return row?.is_unread ?? false
}
