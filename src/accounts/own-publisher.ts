/** Access check for endpoints under /api/v1/publishers/<pub_id>/. */
import { notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { findPublisher, type Publisher } from './publisher-store.ts'
import { type KeyHolder, requireOwnPublisher } from './require-key.ts'

/** Throws 404 if the publisher does not exist, 403 if it belongs to somebody else. */
export async function requireExistingOwnPublisher(
  db: Db,
  holder: Pick<KeyHolder, 'pubIds'>,
  pubId: number,
): Promise<Publisher> {
  const publisher = await findPublisher(db, pubId)
  if (publisher === null) throw notFound(`No publisher ${pubId}`)
  requireOwnPublisher(holder, pubId)
  return publisher
}
