/**
 * Decides which raw URLs of an article become smart links.
 *
 * A pure function of the publisher's settings, the network's hosts and the URLs.
 */
import { isOnDomain, parseWebUrl, siteHost } from '../platform/net/url.ts'
import { isOwnLink, type OwnBases } from './link-url.ts'
import type { LinkMateBody } from './schema.ts'
import { unwrapUrl } from './unwrap.ts'

export interface WantedLink {
  readonly url: string // the raw URL, byte for byte
  readonly target: URL // the destination: the URL inside a known wrapper
  readonly isExclusive: boolean
  readonly unwraps: boolean // always true without a known wrapper, because nothing is inside
}

export interface LinkMateRules {
  readonly articleUrl: URL
  readonly ownDomains: readonly string[] // the publisher's
  readonly bases: OwnBases
  readonly unwraps: boolean
}

/** The mark at the end of a URL by which publishers exclude a link, or lock it to its merchant. */
export function readLinkMark(url: string): string | null {
  return /#(donotlink|locklink)\s*$/i.exec(url)?.[1]?.toLowerCase() ?? null
}

/** A unique text per link of an article, as a map key. */
export function linkKey(url: string, isExclusive: boolean): string {
  return `${isExclusive} ${url}`
}

/** The links to find or create, in the order of the request, each (URL, lock) once. */
export function wantedLinks(links: LinkMateBody['links'], rules: LinkMateRules): WantedLink[] {
  const wanted = new Map<string, WantedLink>()
  for (const { raw_url: written, exclusive_match_requested = false } of links) {
    if (written === null) continue
    // Half a surrogate pair has no UTF-8 form. Storage would return it as U+FFFD.
    const raw_url = written.toWellFormed()
    const mark = readLinkMark(raw_url)
    const url = mark === 'donotlink' ? null : parseWebUrl(raw_url)
    if (url === null || isLeftAlone(url, rules)) continue
    const inside = unwrapUrl(raw_url)
    const unwraps = rules.unwraps || inside === null
    const target = inside === null || !unwraps ? url : (parseWebUrl(inside) ?? url)
    if (target !== url && isLeftAlone(target, rules)) continue
    const isExclusive = exclusive_match_requested || mark === 'locklink'
    const key = linkKey(raw_url, isExclusive)
    if (!wanted.has(key)) wanted.set(key, { url: raw_url, target, isExclusive, unwraps })
  }
  return [...wanted.values()]
}

/** The domains that a host may be registered under: a.b.example, b.example, example. */
export function parentDomains(host: string): string[] {
  const labels = host.split('.')
  return labels.map((_, at) => labels.slice(at).join('.'))
}

/** Our own links, and the publisher's own pages. */
function isLeftAlone(url: URL, { articleUrl, ownDomains, bases }: LinkMateRules): boolean {
  if (isOwnLink(url, bases)) return true
  const host = siteHost(url)
  if (ownDomains.some((domain) => isOnDomain(host, domain))) return true
  // Sites on one host may differ only by port.
  return url.port === articleUrl.port && isOnDomain(host, siteHost(articleUrl))
}
