/**
 * Which of an article's raw URLs become smart links, and which are left alone (decisions 4.5).
 *
 * Pure: the publisher's settings and the network's hosts come in, the links wanted go out.
 */
import { isOnDomain, parseWebUrl, siteHost } from '../platform/url.ts'
import { isOwnLink, type OwnBases } from './link-url.ts'
import type { LinkMateBody } from './schema.ts'
import { unwrapUrl } from './unwrap.ts'

export interface WantedLink {
  readonly url: string // the raw URL, byte for byte
  readonly target: URL // where it leads: the address inside a known wrapper
  readonly isExclusive: boolean
  readonly unwraps: boolean // of what is no known wrapper always: nothing is inside
}

export interface LinkMateRules {
  readonly articleUrl: URL
  readonly ownDomains: readonly string[] // the publisher's
  readonly bases: OwnBases
  readonly unwraps: boolean
}

/** The mark at the end of a URL by which publishers opt out, or lock a link to its merchant. */
export function readMark(url: string): string | null {
  return /#(donotlink|locklink)\s*$/i.exec(url)?.[1]?.toLowerCase() ?? null
}

/** One text for each link of an article, for maps. */
export function linkKey(url: string, isExclusive: boolean): string {
  return `${isExclusive} ${url}`
}

/** The links to find or create, in the order of the request, each (URL, lock) once. */
export function wantedLinks(links: LinkMateBody['links'], rules: LinkMateRules): WantedLink[] {
  const wanted = new Map<string, WantedLink>()
  for (const { raw_url: written, exclusive_match_requested = false } of links) {
    // Half a surrogate pair has no bytes in UTF-8: it would come back from storage as U+FFFD.
    const raw_url = written.toWellFormed()
    const mark = readMark(raw_url)
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

/** Our own links, and pages of the publisher's own. */
function isLeftAlone(url: URL, { articleUrl, ownDomains, bases }: LinkMateRules): boolean {
  if (isOwnLink(url, bases)) return true
  const host = siteHost(url)
  if (ownDomains.some((domain) => isOnDomain(host, domain))) return true
  // On one machine several sites differ by their port alone.
  return url.port === articleUrl.port && isOnDomain(host, siteHost(articleUrl))
}
