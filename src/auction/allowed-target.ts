/**
 * When a link that nobody vouched for may forward by itself (decisions, wrapper URLs).
 *
 * Anybody can make a /link/ address or a keyless smart link; if it forwarded everyone anywhere, it
 * would lend our host's good name to phishing. So a target off the network forwards at once only a
 * reader who comes from a page of the publisher, or from an AMP cache of it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isOnDomain, parseWebUrl, siteHost } from '../platform/url.ts'
import { isAmpLabelOf } from './amp-label.ts'
import { type Market, merchantOfHost, type Publisher } from './market.ts'

/** Hosts that serve copies of publishers' pages; the publisher's own name is part of the host. */
const AMP_CACHES = ['cdn.ampproject.org', 'bing-amp.com', 'ampproject.net']

/** Whether everyone may be forwarded: to a merchant, or where the publisher allows it. */
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
  // A browser that says "none" typed the address or opened it from outside: no page vouches.
  if (headers['sec-fetch-site'] === 'none') return false
  const host = siteHost(referrer)
  if (domains.some((domain) => isOnDomain(host, domain))) return true
  const cache = AMP_CACHES.find((domain) => isOnDomain(host, domain))
  return cache !== undefined && isAmpLabelOf(domains, host.slice(0, -cache.length - 1))
}
