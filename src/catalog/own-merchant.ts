/** Whose merchant is it? For what takes an API key, under /api/v1/merchants/, and the dashboard. */
import Type from 'typebox'
import { type RightRequest, requireRight } from '../accounts/require-key.ts'
import { type SessionRequest, sessionUserOf } from '../accounts/session.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { findMerchant, type Merchant, requireMerchant } from './merchant-store.ts'

export const MerchantParams = Type.Object({ merch_id: Type.Integer() })

/**
 * Throws 404 when there is no such merchant, 403 when the caller does not belong to it or lacks the
 * route's permission.
 */
export async function requireOwnMerchant(
  db: Db,
  request: RightRequest,
  merchId: number,
): Promise<void> {
  await requireMerchant(db, merchId)
  requireRight(request, { kind: 'merchant', id: merchId })
}

/** The path's merchant if it is the user's; another one's and none at all are the same 404. */
export async function requireOwnedMerchant(
  db: Db,
  request: SessionRequest & { readonly params: { readonly merch_id: number } },
): Promise<Merchant> {
  const merchant = await findMerchant(db, request.params.merch_id)
  const { memberships } = sessionUserOf(request)
  const isMine = memberships.some(({ merch_id }) => merch_id === merchant?.merch_id)
  if (merchant === null || !isMine) throw notFound('No such merchant of yours')
  return merchant
}
