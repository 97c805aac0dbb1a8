/** Stores refused reports within the quotas of their sender and merchant. */

import type { StorageQuotas } from '../platform/limits/storage-quota.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { insertRefusal, type RefusedIntake, storedRefusalSize } from './intake-store.ts'

/** Storage quotas for merchants' reports (docs/spec/limits.md#storage). */
export type IntakeQuotas = Pick<
  StorageQuotas<'orders' | 'shop_views' | 'refused_orders' | 'refused_signed_orders'>,
  'require' | 'takeOfAddress' | 'leaveOut' | 'organizationBytesMax'
>

export interface SentReport {
  readonly address: string
  readonly body: Buffer
  /** The body as it is stored; asked for only where it is. */
  readonly toText: (body: Buffer) => string
}

/** Anybody can send an unsigned report, so each client address has its own quota. */
export async function storeRefusal(
  { db, quotas }: { readonly db: Db; readonly quotas: IntakeQuotas },
  refusal: Omit<RefusedIntake, 'body'>,
  { address, body, toText }: SentReport,
): Promise<void> {
  const kind = refusal.isProven ? 'refused_signed_orders' : 'refused_orders'
  const bytes = storedRefusalSize(refusal, body)
  const wanted = { address, organizationId: refusal.merchId ?? 0, rows: 1, bytes }
  if (!quotas.takeOfAddress(kind, wanted)) return
  const bytesMax = quotas.organizationBytesMax(kind)
  const isKept = await insertRefusal(
    db,
    { ...refusal, body: toText(body) },
    {
      kind,
      bytes,
      bytesMax,
    },
  )
  if (!isKept) quotas.leaveOut(kind, wanted)
}
