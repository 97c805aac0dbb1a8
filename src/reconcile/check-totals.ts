/** Checks the signed totals that replace deleted views, and lists the days they stand for. */
import { type Keys, signatureProblem } from '../events/view-totals.ts'
import { digestOf, listViewDays } from '../events/view-totals-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** A difference that reconciliation found: a figure that does not follow from the log. */
export interface Difference {
  readonly table: string
  readonly key: string
  readonly column: string
  readonly expected: string | null // The value that follows from the log.
  readonly found: string | null // The value in the table.
  readonly cause: string // The events behind the expected value.
}

/** The days whose views were counted by signed totals, and how many events those stand for. */
export interface UsedTotals {
  readonly from: string
  readonly to: string
  readonly events: number
}

interface CheckedTotals {
  readonly used: UsedTotals | null
  readonly differences: readonly Difference[]
}

export async function checkTotals(
  db: Db,
  { from, to, keys }: { from: string; to: string; keys: Keys },
): Promise<CheckedTotals> {
  const signed = await listViewDays(db, { from, to })
  const differences: Difference[] = []
  for (const one of signed) {
    const digest = await digestOf(db, one)
    const cause = signatureProblem(keys, one, digest)
    if (cause === null) continue
    const key = `${one.day} lane ${one.lane}`
    differences.push({
      table: 'view_total',
      key,
      column: 'signature',
      expected: null,
      found: digest,
      cause,
    })
  }
  const used = await db.row<UsedTotals>(sql`
    select min(day) as from, max(day) as to, sum(events)::float8 as events from r_totalled
    having count(*) > 0`)
  return { used, differences }
}
