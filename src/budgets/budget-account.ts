/**
 * The two accounts of a campaign's budget: one per UTC day and one for its life
 * (docs/spec/budgets.md#accounts).
 *
 * The campaign holds the configured cap, the account the enforced one. They differ after a cap was
 * set below the amount already spent or leased: the new cap then waits in `pending_cap_micros`, and
 * grants stop until the leases have drained.
 *
 * CPA and EPP campaigns owe at the order, after the click, so a lease cannot enforce their caps:
 * their accounts only count (`liability.ts`).
 */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** Shared by nodes and by changes of campaigns, exclusive for the fold, see lease-store.ts. */
export const BUDGET_LOCK = 0x42_55_44_47 // 'BUDG'

/** Keeps lease statements out until the transaction ends; they take some 20 ms a second. */
export async function lockBudgets(tx: Db): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${BUDGET_LOCK})`)
}

/** Keeps the fold out of budgets until the transaction ends; nodes continue. */
export async function shareBudgets(tx: Db): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock_shared(${BUDGET_LOCK})`)
}

/**
 * Opens missing accounts of campaigns for a UTC day, and their lifetime accounts. Locks the
 * campaigns while it reads their caps, so that a concurrent change and this statement see each
 * other.
 */
export async function openAccounts(
  db: Db,
  campaignDays: readonly { readonly campaignId: number; readonly day: string }[],
): Promise<void> {
  if (campaignDays.length === 0) return
  const campaignIds = campaignDays.map(({ campaignId }) => campaignId)
  const days = campaignDays.map(({ day }) => day)
  await db.run(sql`
    insert into budget_account (campaign_id, day, cap_micros)
    select campaign_id, wanted.day, case
      when model <> 'cpc' then null
      when wanted.day is null then budget_micros
      else daily_budget_micros
    end
    from (
      select * from unnest(${campaignIds}::int[], ${days}::date[]) as given (campaign_id, day)
      union
      select given.campaign_id, null from unnest(${campaignIds}::int[]) as given (campaign_id)
    ) as wanted
    join campaign using (campaign_id)
    where not exists (
      select from budget_account
      where campaign_id = wanted.campaign_id and day is not distinct from wanted.day
    )
    order by campaign_id, wanted.day nulls first
    for share of campaign
    on conflict (campaign_id, day) do nothing`)
}

/**
 * Applies a campaign's changed budgets, in the transaction that changed them: to its lifetime, to
 * today and to later days. A cap below the amount spent or leased waits until leases have drained.
 */
export async function applyBudgets(tx: Db, campaignId: number, today: string): Promise<void> {
  await tx.run(sql`
    with locked as (
      select account_id, cap_micros, settled_micros, escrow_micros, case
        when model <> 'cpc' then null
        when day is null then budget_micros
        else daily_budget_micros
      end as wanted
      from budget_account join campaign using (campaign_id)
      where campaign_id = ${campaignId} and (day is null or day >= ${today}::date)
      order by day nulls first
      for update of budget_account
    )
    update budget_account set
      cap_micros = case when must_wait then locked.cap_micros else wanted end,
      pending_cap_micros = case when must_wait then wanted end,
      settled_micros = locked.settled_micros,
      escrow_micros = locked.escrow_micros
    from locked, lateral (
      select coalesce(wanted < locked.settled_micros + locked.escrow_micros, false) as must_wait
    ) as lowered
    where budget_account.account_id = locked.account_id`)
}

/**
 * Returns the price of a reversed click to its budgets: to the day's only on the same day, to the
 * lifetime's always. The rest becomes the merchant's credit in the ledger.
 */
export async function returnToBudget(
  tx: Db,
  click: { readonly campaignId: number; readonly day: string; readonly micros: number },
  today: string,
): Promise<void> {
  await lockBudgets(tx)
  await tx.run(sql`
    with locked as (
      select * from budget_account
      where campaign_id = ${click.campaignId}
        and (day is null or (day = ${click.day}::date and day = ${today}::date))
      order by day nulls first
      for update
    )
    update budget_account set
      cap_micros = locked.cap_micros,
      pending_cap_micros = locked.pending_cap_micros,
      -- A change accepted on the day may be logged after one of the next day, which it then takes
      -- back as well; that part was never spent of this day. Nor must a sum that an earlier version
      -- got wrong keep goods that came back out of the books: reconcile reports it.
      settled_micros = greatest(0, locked.settled_micros - ${click.micros}::bigint),
      escrow_micros = locked.escrow_micros
    from locked where budget_account.account_id = locked.account_id`)
}

/** The spending of a campaign's budgets, as far as the log is folded. */
export interface Spending {
  readonly campaign_id: number
  readonly spent_micros: string
  readonly spent_today_micros: string
  /** Spending above a budget: only for orders, which cost money after their click. */
  readonly over_cap_micros: string
}

/** The spending of campaigns, of one merchant or of all; campaigns without spending are missing. */
export function listSpending(
  db: Db,
  { today, merchId = null }: { readonly today: string; readonly merchId?: number | null },
): Promise<Spending[]> {
  return db.rows<Spending>(sql`
    select campaign_id,
      coalesce(sum(settled_micros) filter (where day is null), 0) as spent_micros,
      coalesce(sum(settled_micros) filter (where day = ${today}), 0) as spent_today_micros,
      max(greatest(0, settled_micros - coalesce(
        case when day is null then budget_micros else daily_budget_micros end, settled_micros
      ))) as over_cap_micros
    from budget_account join campaign using (campaign_id)
    where (day is null or day = ${today})
      and ${merchId === null ? sql`true` : sql`merch_id = ${merchId}`}
    group by campaign_id`)
}
