/** Creates one smart link with its article (POST /api/v1/smart_links). */
import assert from 'node:assert/strict'
import { type KeyHolder, requireOwnPublisher } from '../accounts/require-key.ts'
import type { Fault } from '../platform/errors.ts'
import { parseTimestamp } from '../platform/timestamp.ts'
import { urlKey } from '../platform/url.ts'
import type { CreateSmartLinkBody } from './schema.ts'
import type { SmartLinkWish } from './store.ts'

/** Faults of a missing `pub_id`. Only a key with exactly one publisher may omit it. */
export function pubIdFaults(pubId: unknown, { pubIds }: Pick<KeyHolder, 'pubIds'>): Fault[] {
  if (pubId !== undefined || pubIds.length === 1) return []
  const rule =
    pubIds.length === 0
      ? 'the user of this key has no publisher yet'
      : `is required: the user has several publishers (${pubIds.join(', ')})`
  return [{ field: 'pub_id', rule }]
}

/** Reads a valid body. Throws a 403 for another user's publisher. */
export function readLinkWish(
  body: CreateSmartLinkBody,
  { holder, at }: { holder: Pick<KeyHolder, 'uid' | 'pubIds'>; at: Date },
): SmartLinkWish {
  const { article_url: articleUrl, url = null } = body
  const key = urlKey(articleUrl)
  const publicationDate = parseTimestamp(body.article_publication_date ?? '')
  const pubId = body.pub_id ?? (holder.pubIds.length === 1 ? holder.pubIds[0] : undefined)
  assert(key !== null && pubId !== undefined)
  requireOwnPublisher(holder, pubId)
  return {
    article: {
      pubId,
      uid: holder.uid,
      url: articleUrl,
      urlKey: key,
      name: body.article_name,
      publicationDate,
      at,
      isTrusted: true,
    },
    url,
    isExclusive: body.exclusive_match_requested ?? false,
  }
}
