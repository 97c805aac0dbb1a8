/** The storage quotas of a node: how much anonymous clients can make it store. */

import { startPoller } from '../platform/concurrency/poller.ts'
import { type QuotaTerms, StorageQuotas } from '../platform/limits/storage-quota.ts'
import { addStoredBytes, listStoredBytes } from '../platform/limits/storage-quota-store.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import type { Config } from './config.ts'
import type { Metrics } from './metrics.ts'

const MIB = 1_048_576
const GIB = 1_024 * MIB

/** The numbers and their reasons: docs/spec/limits.md#storage. */
export const STORAGE_QUOTAS = {
  views: { addressMax: 4 * MIB, organizationBytesMax: GIB },
  shop_views: { addressMax: 4 * MIB, organizationBytesMax: GIB },
  clicks: { addressMax: 5_000, isRows: true, organizationBytesMax: GIB },
  orders: { addressMax: 4 * MIB, organizationBytesMax: 256 * MIB },
  refused_orders: { addressMax: MIB, organizationBytesMax: 8 * MIB },
  // Only the merchant's server can sign, so the merchant's daily quota is the only limit.
  refused_signed_orders: { addressMax: 8 * MIB, organizationBytesMax: 8 * MIB },
  links: { addressMax: 4 * MIB, organizationBytesMax: 128 * MIB },
  receipts: { addressMax: 16 * MIB, organizationBytesMax: 4 * GIB },
} as const satisfies Record<string, QuotaTerms>
type StorageQuotaKind = keyof typeof STORAGE_QUOTAS
export type NodeQuotas = StorageQuotas<StorageQuotaKind>

/** How long nodes do not know of each other's usage. */
const EXCHANGE_MS = 1_000

export interface OpenQuotas {
  readonly quotas: NodeQuotas
  close(): Promise<void>
}

export async function openStorageQuotas(
  db: Database,
  {
    config,
    metrics,
    now,
    onError,
  }: {
    readonly config: Pick<Config, 'rateLimits'>
    readonly metrics: Pick<Metrics, 'leftOut'>
    readonly now: () => number
    readonly onError: (error: unknown) => void
  },
): Promise<OpenQuotas> {
  // `RATE_LIMITS=0` is for load tests and removes all limits.
  const isOff = Object.values(config.rateLimits).every((limit) => limit === null)
  const quotas: NodeQuotas = new StorageQuotas({
    terms: isOff ? null : STORAGE_QUOTAS,
    now,
    onLeftOut: (kind, rows) => metrics.leftOut.inc({ kind }, rows),
    add: (changes) => addStoredBytes(db, changes),
  })
  quotas.learn(await listStoredBytes(db, utcDay(now())))
  const exchanges = startPoller(() => quotas.exchange(), { everyMs: EXCHANGE_MS, onError })
  return {
    quotas,
    close: async () => {
      clearInterval(exchanges)
      await quotas.exchange()
    },
  }
}
