/** Stores refused reports within the quotas of their sender and merchant. */
import type { Db } from '../platform/postgres.ts'
import type { StorageQuotas } from '../platform/storage-quota.ts'
import { insertRefusal, type RefusedIntake, storedRefusalSize } from './intake-store.ts'

/** Storage quotas for merchants' reports (docs/spec/limits.md#storage). */
export type IntakeQuotas = Pick<
  StorageQuotas<'orders' | 'shop_views' | 'refused_orders' | 'refused_signed_orders'>,
  'require' | 'takeOfAddress' | 'leaveOut' | 'organizationBytesMax'
>

/** Anybody can send an unsigned report, so each client address has its own quota. */
export async function keepRefusal(
  { db, quotas }: { readonly db: Db; readonly quotas: IntakeQuotas },
  refusal: RefusedIntake,
  address: string,
): Promise<void> {
  const kind = refusal.isProven ? 'refused_signed_orders' : 'refused_orders'
  const organizationId = refusal.merchId ?? 0
  const wanted = { address, organizationId, rows: 1, bytes: storedRefusalSize(refusal) }
  if (!quotas.takeOfAddress(kind, wanted)) return
  const bytesMax = quotas.organizationBytesMax(kind)
  if (!(await insertRefusal(db, refusal, { kind, bytesMax }))) quotas.leaveOut(kind, wanted)
}
