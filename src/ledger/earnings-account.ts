/** What became of all that a publisher earned by a time, merchant by merchant. */
import { sumExact } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { listMerchantsOf, settlePublisher, sumNotDue } from './debt-store.ts'

/** The three amounts add up to what was earned with the merchant. */
export interface EarningsAccount {
  readonly merchId: number
  /** It may still change: orders that are not locked, clicks of a day that is not over. */
  readonly openMicros: bigint
  /** Final, and not covered by the merchant's money. */
  readonly dueMicros: bigint
  /** Since when the oldest part of it is due; null when nothing is. */
  readonly dueSinceMs: number | null
  /** Covered, less what was taken back. */
  readonly releasedMicros: bigint
}

/** One for each merchant that the publisher ever got a click or an order from. */
export async function listEarningsAccounts(
  db: Db,
  { pubId, until }: { readonly pubId: number; readonly until: Date },
): Promise<EarningsAccount[]> {
  const accounts: EarningsAccount[] = []
  for (const merchId of await listMerchantsOf(db, [pubId])) {
    const { releases, open } = await settlePublisher(db, { merchId, pubId, until })
    // Of what is owed without anything for the publisher nothing is due to it.
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
