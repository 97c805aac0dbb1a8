/**
 * Checks that a caller belongs to a merchant: for API keys under /api/v1/merchants/ and the
 * dashboard.
 */
import Type from 'typebox'
import { type RightRequest, requireRight } from '../accounts/require-key.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Merchant, requireMerchant } from './merchant-store.ts'

export const MerchantParams = Type.Object({ merch_id: Type.Integer() })

/**
 * Throws 404 when there is no such merchant, 403 when the caller does not belong to it or lacks the
 * route's permission.
 */
export async function requireOwnMerchant(
  db: Db,
  request: RightRequest,
  merchId: number,
): Promise<Merchant> {
  const merchant = await requireMerchant(db, merchId)
  requireRight(request, { kind: 'merchant', id: merchId })
  return merchant
}

/**
 * The same for routes that must not reveal which ids exist: 403 for any merchant not the caller's.
 */
export async function requireMerchantRight(
  db: Db,
  request: RightRequest,
  merchId: number,
): Promise<Merchant> {
  requireRight(request, { kind: 'merchant', id: merchId })
  return requireMerchant(db, merchId)
}
