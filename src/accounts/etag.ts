/** Two people change one record: the second finds out before anything is lost. */
import { hash } from 'node:crypto'
import { ApiError } from '../platform/errors/api-errors.ts'

/** The `etag` of a record: another one as soon as any of its fields changes. */
export function etagOf(record: object): string {
  return hash('sha256', JSON.stringify(record), 'base64url').slice(0, ETAG_LENGTH)
}

export function withEtag<Fields extends object>(record: Fields): Fields & { etag: string } {
  return { ...record, etag: etagOf(record) }
}

/** 132 bits: no two states of one record share them. */
const ETAG_LENGTH = 22

/**
 * Throws a 412 where the record is no longer as the caller read it. Called under the record's lock,
 * with the record as it is before the change. Ignores quotes and `W/` around the header's value.
 */
export function requireMatch(ifMatch: string | null, record: object): void {
  if (ifMatch === null || ifMatch === '*') return
  const wanted = ifMatch.split(',').map((tag) => tag.trim().replace(/^(W\/)?"(.*)"$/, '$2'))
  if (!wanted.includes(etagOf(record))) throw new ApiError('changedMeanwhile')
}
