/** The current budget accounts of a campaign. */
import type { Db } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'

export interface BudgetAccount {
  readonly campaign_id: number
  readonly day: string | null // Null for the lifetime account.
  readonly cap_micros: string | null
  readonly pending_cap_micros: string | null
  readonly settled_micros: string
  readonly escrow_micros: string
}

/** The lifetime account first, then those of its days, the latest first. */
export function listAccounts(db: Db, campaignId: number): Promise<BudgetAccount[]> {
  return db.rows<BudgetAccount>(sql`
    select campaign_id, day, cap_micros, pending_cap_micros, settled_micros, escrow_micros
    from budget_account where campaign_id = ${campaignId}
    order by day desc nulls first`)
}
