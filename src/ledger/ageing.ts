/** Who owes how much since when: every merchant's debts that are due and not covered. */
import { listMerchantNames } from '../catalog/merchant-store.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { DAY_MS, formatTimestamp } from '../platform/time/timestamp.ts'
import { listMerchantsOf, matchMerchantDebts } from './debt-store.ts'

/** Upper ends of the usual columns of an ageing list; the last one is open. */
const COLUMNS_DAYS = [30, 60, 90] as const

export interface AgeingRow {
  readonly merch_id: number
  readonly merchant: string
  readonly owed_usd: string
  readonly oldest_due_at: string | null
  readonly up_to_30_days_usd: string
  readonly up_to_60_days_usd: string
  readonly up_to_90_days_usd: string
  readonly over_90_days_usd: string
  readonly credit_usd: string // Paid, and not owed yet.
}

/** One row per merchant that owes something or has money left. */
export async function listAgeing(db: Db, now: Date): Promise<AgeingRow[]> {
  const rows: AgeingRow[] = []
  const names = await listMerchantNames(db)
  for (const merchId of await listMerchantsOf(db, null)) {
    const { open, creditMicros } = await matchMerchantDebts(db, { merchId, until: now })
    if (open.length === 0 && creditMicros === 0) continue
    const columns = [0n, 0n, 0n, 0n]
    for (const { debt, owedMicros } of open) {
      const ageDays = (now.getTime() - debt.dueAtMs) / DAY_MS
      const found = COLUMNS_DAYS.findIndex((days) => ageDays <= days)
      const column = found < 0 ? COLUMNS_DAYS.length : found
      columns[column] = (columns[column] ?? 0n) + BigInt(owedMicros)
    }
    const [one = 0n, two = 0n, three = 0n, older = 0n] = columns
    const oldest = open[0]?.debt
    rows.push({
      merch_id: merchId,
      merchant: names.get(merchId) ?? '',
      owed_usd: formatExact(one + two + three + older),
      oldest_due_at: oldest === undefined ? null : formatTimestamp(new Date(oldest.dueAtMs)),
      up_to_30_days_usd: formatExact(one),
      up_to_60_days_usd: formatExact(two),
      up_to_90_days_usd: formatExact(three),
      over_90_days_usd: formatExact(older),
      credit_usd: formatExact(creditMicros),
    })
  }
  return rows
}
