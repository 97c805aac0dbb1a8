/** Interface 4.1: one new smart link with its article. */
import { type KeyHolder, requireOwnPublisher } from '../accounts/require-key.ts'
import { badRequest, type Fault } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { parseTimestamp, TIMESTAMP_RULE } from '../platform/timestamp.ts'
import { fitsUrlLimits, MAX_URL_ENCODED_BYTES, urlKey } from '../platform/url.ts'
import type { CreateSmartLinkBody } from './schema.ts'
import { type CreatedLinkRow, insertSmartLink, type WantedArticle } from './store.ts'

export interface SmartLinkOrder {
  readonly article: WantedArticle
  readonly url: string | null
  readonly isExclusive: boolean
}

/** What a body asks for; throws a 400 that names every fault, a 403 for another's publisher. */
export function readOrder(
  body: CreateSmartLinkBody,
  { holder, at }: { holder: Pick<KeyHolder, 'uid' | 'pubIds'>; at: Date },
): SmartLinkOrder {
  const { article_url: articleUrl, url = null } = body
  const key = urlKey(articleUrl)
  const published = body.article_publication_date
  const publicationDate = published === undefined ? null : parseTimestamp(published)
  const pubId = body.pub_id ?? (holder.pubIds.length === 1 ? holder.pubIds[0] : undefined)
  const faults = [
    urlFault('article_url', articleUrl),
    url === null ? null : urlFault('url', url),
    published !== undefined && publicationDate === null
      ? { field: 'article_publication_date', rule: TIMESTAMP_RULE }
      : null,
    pubId === undefined ? { field: 'pub_id', rule: pubIdRule(holder) } : null,
  ].filter((fault) => fault !== null)
  if (faults.length > 0 || key === null || pubId === undefined) throw badRequest(faults)
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

/** Makes the link. A second call with the same order makes a second link (decisions 4.1). */
export function createSmartLink(
  db: Db,
  { order, auctionId }: { order: SmartLinkOrder; auctionId: string },
): Promise<CreatedLinkRow> {
  const { article, url, isExclusive } = order
  return insertSmartLink(db, { article, link: { auctionId, url, isExclusive } })
}

/** Why an address cannot be a link's or an article's; null when it can. */
export function urlFault(field: string, url: string): Fault | null {
  if (urlKey(url) === null) return { field, rule: 'must be an absolute http(s) URL' }
  if (fitsUrlLimits(url)) return null
  return { field, rule: `must have at most ${MAX_URL_ENCODED_BYTES} bytes percent-encoded` }
}

function pubIdRule(holder: Pick<KeyHolder, 'pubIds'>): string {
  if (holder.pubIds.length === 0) return 'the user of this key has no publisher yet'
  return `is required: the user has several publishers (${holder.pubIds.join(', ')})`
}
