/** Whose merchant is it? For endpoints under /api/v1/merchants/<merch_id>/ that take an API key. */
import type { KeyHolder } from '../accounts/require-key.ts'
import { ApiError } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { requireMerchant } from './merchant-store.ts'

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
