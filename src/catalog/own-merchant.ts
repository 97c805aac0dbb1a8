/** Whose merchant is it? For what takes an API key, under /api/v1/merchants/, and the dashboard. */
import Type from 'typebox'
import type { KeyHolder } from '../accounts/require-key.ts'
import { type SessionRequest, sessionUserOf } from '../accounts/session.ts'
import { ApiError, notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { findMerchant, type Merchant, requireMerchant } from './merchant-store.ts'

export const MerchantParams = Type.Object({ merch_id: Type.Integer() })

/** Throws 404 when there is no such merchant, 403 when the key is of another user. */
export async function requireOwnMerchant(
  db: Db,
  { uid }: Pick<KeyHolder, 'uid'>,
  merchId: number,
): Promise<void> {
  const merchant = await requireMerchant(db, merchId)
  if (merchant.uid !== uid) {
    throw new ApiError('notYours', { message: 'The key is not of this merchant’s user' })
  }
}

/** The path's merchant if it is the user's; another one's and none at all are the same 404. */
export async function requireOwnedMerchant(
  db: Db,
  request: SessionRequest & { readonly params: { readonly merch_id: number } },
): Promise<Merchant> {
  const merchant = await findMerchant(db, request.params.merch_id)
  if (merchant?.uid !== sessionUserOf(request).uid) throw notFound('No such merchant of yours')
  return merchant
}
