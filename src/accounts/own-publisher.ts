/** Access check for endpoints under /api/v1/publishers/<pub_id>/. */
import { notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { findPublisher, type Publisher } from './publisher-store.ts'
import { type RightRequest, requireRight } from './require-key.ts'

/**
 * Throws 404 if the publisher does not exist, 403 if the caller does not belong to it or lacks the
 * route's permission.
 */
export async function requireExistingOwnPublisher(
  db: Db,
  request: RightRequest,
  pubId: number,
): Promise<Publisher> {
  const publisher = await findPublisher(db, pubId)
  if (publisher === null) throw notFound(`No publisher ${pubId}`)
  requireRight(request, { kind: 'publisher', id: pubId })
  return publisher
}

/**
 * The same for routes that must not reveal which ids exist: 403 for a publisher that is not the
 * caller's, whether it exists or not.
 */
export async function requireOwnPublisher(
  db: Db,
  request: RightRequest,
  pubId: number,
): Promise<Publisher> {
  requireRight(request, { kind: 'publisher', id: pubId })
  return requireExistingOwnPublisher(db, request, pubId)
}
