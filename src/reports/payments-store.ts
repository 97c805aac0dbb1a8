/** A publisher's earnings: pending, due, released and paid out. */
import { listMerchantNames } from '../catalog/merchant-store.ts'
import { type EarningsAccount, listEarningsAccounts } from '../ledger/earnings-account.ts'
import { MINIMUM_PAYOUT_MICROS } from '../ledger/statement.ts'
import { listStatements } from '../ledger/statement-store.ts'
import { formatExact, sumExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import type { MerchantEarnings, Payments } from './payments-schema.ts'
import { toStatementRecord } from './statement-record.ts'

interface Asked {
  readonly pubId: number
  readonly now: Date
}

/**
 * Everything as of one moment; a payout during the query would otherwise be missing on one side.
 */
export function readPayments(db: Db, asked: Asked): Promise<Payments> {
  return db.transaction((tx) => sumUp(tx, asked), { isSnapshot: true })
}

async function sumUp(db: Db, { pubId, now }: Asked): Promise<Payments> {
  const accounts = await listEarningsAccounts(db, { pubId, until: now })
  const statements = await listStatements(db, pubId)
  const names = await listMerchantNames(db)
  const paidOut = sumExact(statements.map(({ payoutMicros }) => payoutMicros))
  const released = sumExact(accounts.map(({ releasedMicros }) => releasedMicros))
  return {
    open_usd: formatExact(sumExact(accounts.map(({ openMicros }) => openMicros))),
    due_usd: formatExact(sumExact(accounts.map(({ dueMicros }) => dueMicros))),
    balance_usd: formatExact(released - paidOut),
    paid_out_usd: formatExact(paidOut),
    minimum_payout_usd: formatExact(MINIMUM_PAYOUT_MICROS),
    merchants: accounts
      .filter(hasEarned)
      .sort(byDue)
      .map((account) => toMerchantEarnings(account, names)),
    statements: statements.map(toStatementRecord).reverse(),
  }
}

function hasEarned({ openMicros, dueMicros, releasedMicros }: EarningsAccount): boolean {
  return openMicros !== 0n || dueMicros !== 0n || releasedMicros !== 0n
}

function byDue(one: EarningsAccount, other: EarningsAccount): number {
  return Number(
    other.dueMicros - one.dueMicros ||
      other.openMicros - one.openMicros ||
      other.releasedMicros - one.releasedMicros,
  )
}

function toMerchantEarnings(
  { merchId, openMicros, dueMicros, dueSinceMs, releasedMicros }: EarningsAccount,
  names: ReadonlyMap<number, string>,
): MerchantEarnings {
  return {
    merch_id: merchId,
    merchant_name: names.get(merchId) ?? '',
    open_usd: formatExact(openMicros),
    due_usd: formatExact(dueMicros),
    due_since: dueSinceMs === null ? null : formatTimestamp(new Date(dueSinceMs)),
    released_usd: formatExact(releasedMicros),
  }
}
