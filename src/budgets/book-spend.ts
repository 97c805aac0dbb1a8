/**
 * The fold's part in budgets: books clicks and closes the leases of ended nodes.
 *
 * There are no spend reports: a click event names its lease and the micros reserved from it, and
 * the fold, being exactly-once, is the report. Every function here runs inside the fold's own
 * transaction; a batch folded again finds the lane moved on and changes nothing.
 *
 * A node's leases are closed by its final record in the money lane, not by a clock: all its clicks
 * precede that record, and a later one (in flight when the process died) is unpaid. So no money can
 * leave escrow and be charged as well, whatever any clock shows; expiry is the second line, for a
 * node that can no longer write.
 */
import type { NodeIdentity } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { identifier, type Sql, sql } from '../platform/postgres/sql.ts'
import { lockBudgets, openAccounts } from './budget-account.ts'

/** A judged click: `paid` is its price or 0, `reserved` the amount the edge took from its lease. */
export interface BookedClick {
  readonly campaignId: number
  readonly day: string // UTC day of acceptance; counts for clicks without a lease
  readonly leaseId: string // '0': the campaign had no cap
  readonly reservedMicros: number
  readonly merchantCostMicros: number
}

/**
 * Books clicks: the paid amount is settled, the reserved amount leaves escrow. A click without a
 * lease counts as well, so that a cap set later includes it; one with a closed or lost lease must
 * be unpaid and changes nothing. Locks accounts before leases (lease-store).
 */
export async function bookSpend(tx: Db, judged: readonly BookedClick[]): Promise<void> {
  // A CPA or EPP click costs nothing yet, and its campaign's rows are as contended as any.
  const clicks = judged.filter(
    ({ leaseId, reservedMicros, merchantCostMicros }) =>
      merchantCostMicros > 0 || (leaseId !== '0' && reservedMicros > 0),
  )
  if (clicks.length === 0) return
  await lockBudgets(tx)
  const column = <T>(read: (click: BookedClick) => T): T[] => clicks.map(read)
  await openAccounts(
    tx,
    clicks.filter(({ leaseId }) => leaseId === '0'),
  )
  await tx.run(sql`
with click as materialized (
  -- What a closed lease had left is out of escrow already, and a lost one holds nothing there.
  select campaign_id, coalesce(lease.day, given.day) as day, given.lease_id, paid,
    case when lease.lease_id is null or closed_at is not null then 0 else reserved end as released
  from unnest(
    ${column((click) => click.campaignId)}::int[],
    ${column((click) => click.day)}::date[],
    ${column((click) => click.leaseId)}::bigint[],
    ${column((click) => click.reservedMicros)}::bigint[],
    ${column((click) => click.merchantCostMicros)}::bigint[]
  ) as given (campaign_id, day, lease_id, reserved, paid)
  left join lease using (lease_id, campaign_id)
), ${lockedAccounts('click')}, ${movedAccounts('click')}, booked as (
  update lease set
    reserved_folded_micros = reserved_folded_micros + released,
    paid_folded_micros = paid_folded_micros + paid
  from (
    select lease_id, sum(released)::bigint as released, sum(paid)::bigint as paid
    from click where lease_id <> 0 group by lease_id
  ) as spent
  where lease.lease_id = spent.lease_id and exists (select from account)
)
${WRITE_ACCOUNTS}`)
}

/** Locks the accounts of the campaigns and days of a table expression, in the common order. */
function lockedAccounts(source: string): Sql {
  return sql`lifetime as materialized (
  select * from budget_account
  where day is null and campaign_id in (select campaign_id from ${identifier(source)})
  order by campaign_id
  for update
), daily as materialized (
  select * from budget_account
  where (campaign_id, day) in (select campaign_id, day from ${identifier(source)})
    and campaign_id in (select campaign_id from lifetime)
  order by campaign_id, day
  for update
), locked as (
  select * from lifetime union all select * from daily
)`
}

/** The locked accounts after `paid` of a table expression is settled and `released` is freed. */
function movedAccounts(source: string): Sql {
  return sql`total as (
  select campaign_id, day, sum(paid)::bigint as paid, sum(released)::bigint as released
  from ${identifier(source)} group by grouping sets ((campaign_id, day), (campaign_id))
), account as materialized (
  select account_id, cap_micros, pending_cap_micros,
    settled_micros + paid as settled, escrow_micros - released as escrow
  from locked
  join total on total.campaign_id = locked.campaign_id and total.day is not distinct from locked.day
)`
}

const WRITE_ACCOUNTS = sql`
update budget_account set
  settled_micros = settled,
  escrow_micros = escrow,
  -- Clicks without a lease were accepted before the campaign had a cap. They are paid, and where
  -- they exceed the new cap it waits like any cap lowered too far (see budget-account.ts).
  cap_micros = case when account.cap_micros >= settled + escrow then account.cap_micros end,
  pending_cap_micros = case when account.cap_micros < settled + escrow
    then coalesce(account.pending_cap_micros, account.cap_micros)
    else account.pending_cap_micros end
from account where budget_account.account_id = account.account_id`

/** The final record of a node, or of the node that found it dead and wrote its spool to the log. */
export function leaseCloseBody({ nodeId, incarnation }: NodeIdentity): string {
  return JSON.stringify({ node_id: nodeId, incarnation })
}

/**
 * Closes every lease of the ended nodes: money that no click has claimed leaves escrow, and these
 * incarnations get no further lease. Repeating it changes nothing.
 */
export async function closeLeases(
  tx: Db,
  events: readonly { readonly body: string | null }[],
): Promise<void> {
  const nodes = events.map(({ body }) => JSON.parse(body ?? '') as ClosedNode)
  const nodeIds = nodes.map((node) => node.node_id)
  const incarnations = nodes.map((node) => node.incarnation)
  await lockBudgets(tx)
  // First and separate: a concurrent grant for the node either ends before or is refused after.
  await tx.run(sql`
    with ended as (
      select node_id, max(incarnation) as incarnation
      from unnest(${nodeIds}::int[], ${incarnations}::bigint[]) as given (node_id, incarnation)
      group by node_id order by node_id
    )
    update node set closed_incarnation = greatest(closed_incarnation, ended.incarnation)
    from ended where node.node_id = ended.node_id`)
  await close(
    tx,
    sql`select lease_id, campaign_id, day, null::bigint as seq from lease
    join unnest(${nodeIds}::int[], ${incarnations}::bigint[]) as given (node_id, incarnation)
      using (node_id, incarnation)`,
  )
}

/** A lease that the database knows in part only, because it was restored from a backup. */
export interface LostLease {
  readonly leaseId: string
  readonly seq: string // of the first click that it cannot pay
}

/** Closes leases that were lost in part: their nodes get new ones, and later clicks are unpaid. */
export async function closeLostLeases(tx: Db, lost: readonly LostLease[]): Promise<void> {
  if (lost.length === 0) return
  await lockBudgets(tx)
  const leaseIds = lost.map(({ leaseId }) => leaseId)
  const seqs = lost.map(({ seq }) => seq)
  await close(
    tx,
    sql`select lease_id, campaign_id, day, seq from lease
    join unnest(${leaseIds}::bigint[], ${seqs}::bigint[]) as given (lease_id, seq)
      using (lease_id)`,
  )
}

/** Closes the open ones of the leases: money that no click has claimed leaves escrow. */
async function close(tx: Db, leases: Sql): Promise<void> {
  await tx.run(sql`
with ended as materialized (
  ${leases} where closed_at is null
), ${lockedAccounts('ended')}, closed as (
  update lease set closed_at = now(), lost_seq = ended.seq
  from ended join daily using (campaign_id, day)
  where lease.lease_id = ended.lease_id and closed_at is null
  returning lease.campaign_id, lease.day, 0 as paid,
    granted_micros - reserved_folded_micros as released
), ${movedAccounts('closed')}
${WRITE_ACCOUNTS}`)
}

interface ClosedNode {
  readonly node_id: number
  readonly incarnation: string
}
