/**
 * When a link that nobody vouched for may redirect by itself: docs/spec/interface.md#redirects.
 *
 * Anybody can create a /link/ URL or a link without a key. If these redirected everyone anywhere,
 * phishing could use Souk's host. So a target outside the network redirects at once only for a
 * reader who comes from a page of the publisher, or from an AMP cache of it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isAmpLabelOf } from '../platform/net/amp-label.ts'
import { AMP_CACHES } from '../platform/net/article-url.ts'
import { isOnDomain, parseWebUrl, siteHost } from '../platform/net/url.ts'
import { type Market, merchantOfHost, type Publisher } from './market.ts'

/** Whether everyone may be redirected: to a merchant, or to a host that the publisher allows. */
export function isAllowedTarget(
  market: Market,
  { url, pubId }: { url: string; pubId: number },
): boolean {
  const target = parseWebUrl(url)
  if (target === null) return false
  const host = siteHost(target)
  if (merchantOfHost(market, host) !== 0) return true
  const publisher = market.publishers.get(pubId)
  if (publisher === undefined) return false
  return [...publisher.allow_hosts, ...publisher.domains].some((domain) => isOnDomain(host, domain))
}

/** Whether the reader comes from a page of the publisher's domains or an AMP cache of them. */
export function comesFromPublisher(
  headers: IncomingHttpHeaders,
  { domains }: Pick<Publisher, 'domains'>,
): boolean {
  const referrer = URL.parse(headers.referer ?? '')
  if (referrer === null) return false
  // "none" means that the reader typed the URL or opened it from outside the web: no page vouches.
  if (headers['sec-fetch-site'] === 'none') return false
  const host = siteHost(referrer)
  if (domains.some((domain) => isOnDomain(host, domain))) return true
  const cache = AMP_CACHES.find((domain) => isOnDomain(host, domain))
  return cache !== undefined && isAmpLabelOf(domains, host.slice(0, -cache.length - 1))
}
