/** The state of everything a publisher has earned by a time, per merchant. */
import { sumExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { listMerchantsOf, matchPublisherDebts, sumNotDue } from './debt-store.ts'

/** The three amounts add up to the earnings with the merchant. */
export interface EarningsAccount {
  readonly merchId: number
  /** May still change: orders that are not locked, clicks of an unfinished day. */
  readonly openMicros: bigint
  /** Final, and not covered by the merchant's money. */
  readonly dueMicros: bigint
  /** Since when the oldest part of it is due; null if nothing is. */
  readonly dueSinceMs: number | null
  /** Covered, less reversals. */
  readonly releasedMicros: bigint
}

/** One for each merchant from which the publisher ever got a click or an order. */
export async function listEarningsAccounts(
  db: Db,
  { pubId, until }: { readonly pubId: number; readonly until: Date },
): Promise<EarningsAccount[]> {
  const accounts: EarningsAccount[] = []
  for (const merchId of await listMerchantsOf(db, [pubId])) {
    const { releases, open } = await matchPublisherDebts(db, { merchId, pubId, until })
    // A debt without a publisher's part leaves nothing due to the publisher.
    const due = open.filter((one) => one.debt.pubId === pubId && one.unreleasedMicros > 0)
    const released = releases.filter((release) => release.pubId === pubId)
    const { earningsMicros: openMicros } = await sumNotDue(db, { merchId, pubId, until })
    accounts.push({
      merchId,
      openMicros,
      dueMicros: sumExact(due.map(({ unreleasedMicros }) => unreleasedMicros)),
      dueSinceMs: due[0]?.debt.dueAtMs ?? null,
      releasedMicros: sumExact(released.map(({ earningsMicros }) => earningsMicros)),
    })
  }
  return accounts
}
