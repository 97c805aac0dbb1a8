/** Creates one smart link with its article (POST /api/v1/smart_links). */
import assert from 'node:assert/strict'
import type { KeyHolder } from '../accounts/require-key.ts'
import type { Fault } from '../platform/errors/api-errors.ts'
import { readArticleUrl } from '../platform/net/article-url.ts'
import { parseWebUrl } from '../platform/net/url.ts'
import { parseTimestamp } from '../platform/time/timestamp.ts'
import { isOwnLink, type OwnBases } from './link-url.ts'
import type { CreateSmartLinkBody } from './schema.ts'
import type { SmartLinkRequest } from './store.ts'
import { unwrapUrl } from './unwrap.ts'

/** Faults of a missing `pub_id`. Only a key with exactly one publisher may omit it. */
export function pubIdFaults(pubId: unknown, { pubIds }: Pick<KeyHolder, 'pubIds'>): Fault[] {
  if (pubId !== undefined || pubIds.length === 1) return []
  const rule =
    pubIds.length === 0
      ? 'the user of this key has no publisher yet'
      : `is required: the user has several publishers (${pubIds.join(', ')})`
  return [{ field: 'pub_id', rule }]
}

/** A link to one of our own links would run an auction for a page that nobody sells. */
export function ownLinkFaults(url: unknown, bases: OwnBases): Fault[] {
  const written = typeof url === 'string' ? parseWebUrl(url) : null
  if (written === null) return []
  const inside = parseWebUrl(unwrapUrl(written.href) ?? '')
  const isOwn = [written, inside].some((one) => one !== null && isOwnLink(one, bases))
  const rule = 'is a smart link already: use the URL of the product page'
  return isOwn ? [{ field: 'url', rule }] : []
}

/** Reads a valid body. Whether the publisher is the holder's is for the caller to check. */
export function readLinkRequest(
  body: CreateSmartLinkBody,
  { holder, at }: { holder: Pick<KeyHolder, 'uid' | 'pubIds'>; at: Date },
): SmartLinkRequest {
  const { article_url: articleUrl, url = null } = body
  const address = readArticleUrl(articleUrl)
  const publicationDate = parseTimestamp(body.article_publication_date ?? '')
  const pubId = body.pub_id ?? (holder.pubIds.length === 1 ? holder.pubIds[0] : undefined)
  assert(address !== null && pubId !== undefined)
  return {
    article: {
      pubId,
      uid: holder.uid,
      url: address.href,
      urlKey: address.key,
      name: body.article_name,
      publicationDate,
      at,
      isTrusted: true,
    },
    url,
    isExclusive: body.exclusive_match_requested ?? false,
  }
}
