/**
 * Finds the merchant of a tag's call, if the call comes from one of its own pages. This guards
 * against accidents and other sites, but proves nothing: a browser can be made to send anything.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { findMerchant, type Merchant } from '../catalog/merchant-store.ts'
import { ApiError, notFound } from '../platform/errors/api-errors.ts'
import type { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { isOnDomain, siteHost } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import type { CheckoutBody, ShopViewBody } from './schema.ts'

export interface TagDeps {
  readonly db: Db
  readonly now: () => number
  readonly limits: TokenBuckets | null // by client address and merchant
}

/** Throws 404 for an unknown merchant, 403 for a page of another site. */
export async function tagMerchant(
  { db }: TagDeps,
  { headers }: { headers: IncomingHttpHeaders },
  { organization_id: merchId, user }: CheckoutBody | ShopViewBody,
): Promise<Merchant> {
  const merchant = await findMerchant(db, merchId)
  if (merchant === null) throw notFound(`organization_id: no merchant ${merchId}`)
  if (!isOwnPage(merchant, headers.origin, user?.source_url)) throw new ApiError('foreignPage')
  return merchant
}

/**
 * Checks the calling page by its Origin header. Sandboxed pages (custom pixels of shop systems)
 * have none, and are identified by the page they name.
 */
function isOwnPage(
  { origins, domains }: Merchant,
  origin: string | undefined,
  named: string | null | undefined,
): boolean {
  const isShown = origin !== undefined && origin !== '' && origin !== 'null'
  const page = URL.parse(isShown ? origin : (named ?? ''))
  if (page === null) return false
  const host = siteHost(page)
  return origins.includes(page.origin) || domains.some((domain) => isOnDomain(host, domain))
}
