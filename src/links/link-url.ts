/**
 * Writes and reads every form of {link_url}:
 *
 *   {link_url}/<auction_id>    a smart link, also with a final slash
 *   {link_url}/<encoded>       the same, with the id in base 62
 *   {link_url}/link/?url=…     a wrapper: the link is found or created at the click
 *
 * Pages append their own queries: `?amp=true`, `?u1=x`, and even `?u1=x?amp=true`, where a URL with
 * a query got a second one.
 */

import { decodeBase62, encodeBase62, isId } from '../platform/ids.ts'
import { readReaderQuery } from '../platform/net/reader-query.ts'
import { cutText } from '../platform/text/characters.ts'

/**
 * Ids since February 2024 have at least ten characters. Anything shorter is a path such as
 * /healthz.
 */
const ENCODED_LENGTH_MIN = 10
/**
 * Short forms have at most 11 characters (62^11 > 2^63). Ids above 2^53 have at least 16 digits.
 */
const ENCODED_LENGTH_MAX = 11
/** Not followed by a letter or another digit. */
const WHOLE_NUMBER = /^\d{16,19}(?![^\W_])/
/** Further words may follow text that looks like a short form: `newsletter.html`. */
const WHOLE_SHORT_FORM = /^[^\W_]{10,11}(?=\/?[&%]|[\W_]*$)/
/** The stored length of `u1` and `utm_source`: enough for any label, and short for a log row. */
export const CLICK_LABEL_LENGTH_MAX = 255

/** Labels in a click's query. Reports show them; the auction never sees them. */
export interface ClickLabels {
  readonly u1: string | null
  readonly utmSource: string | null
}

/** The base URLs of this service. */
export interface OwnBases {
  readonly linkUrl: string
  readonly auctionUrl: string
}

export interface WrapperQuery {
  readonly url: string | null // as given; not checked to be an http(s) URL
  readonly publisherSlug: string | null
  readonly isExclusive: boolean
  readonly articleUrl: string | null
  readonly articleName: string | null
}

export function smartLinkUrl(linkUrl: string, auctionId: string): string {
  return `${linkUrl}/${auctionId}`
}

export function shortLinkUrl(linkUrl: string, auctionId: string): string {
  return `${linkUrl}/${encodeBase62(auctionId)}`
}

/** The wrapper URL: `{link_url}/link/?url=…&publisher_slug=…[&exclusive=1][&article_url=…]`. */
export function wrapperUrl(
  linkUrl: string,
  target: {
    url: string
    publisherSlug: string
    isExclusive: boolean
    articleUrl?: string | undefined
    articleName?: string | undefined
  },
): string {
  const pairs: [string, string | undefined][] = [
    ['url', target.url],
    ['publisher_slug', target.publisherSlug],
    ['exclusive', target.isExclusive ? '1' : undefined],
    ['article_url', target.articleUrl],
    ['article_name', target.articleName],
  ]
  const query = pairs.flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${encodeURIComponent(value.toWellFormed())}`,
  )
  return `${linkUrl}/link/?${query.join('&')}`
}

/**
 * The auction id of a smart link's path segment (`<auction_id>` or `<encoded>`), or null. Ignores
 * text after a complete id, because mail programs include a final full stop and pages append
 * `&u1=x`.
 */
export function readAuctionId(written: string): string | null {
  const [segment] = WHOLE_NUMBER.exec(written) ?? WHOLE_SHORT_FORM.exec(written) ?? [written]
  if (segment.length < ENCODED_LENGTH_MIN) return null
  if (segment.length <= ENCODED_LENGTH_MAX) return decodeBase62(segment)
  return isId(segment) ? segment : null
}

/** The auction id in a search text: the id alone, or the URL of its smart link. */
export function findAuctionId(text: string): string | null {
  const [path = ''] = text.split(/[?#]/)
  return readAuctionId(path.replace(/\/$/, '').split('/').at(-1) ?? '')
}

/** Reads a wrapper's query, with or without the `?`. The first of repeated parameters counts. */
export function readWrapperQuery(search: string): WrapperQuery {
  const query = readReaderQuery(search)
  return {
    url: filled(text(query.get('url'))),
    publisherSlug: filled(text(query.get('publisher_slug'))),
    isExclusive: ['1', 'true'].includes(query.get('exclusive') ?? ''),
    articleUrl: filled(text(query.get('article_url'))),
    articleName: filled(text(query.get('article_name'))),
  }
}

/** Reads the labels of a click from its query, including `?u1=x?amp=true`. */
export function readClickLabels(search: string): ClickLabels {
  const query = readReaderQuery(search.replaceAll('?', '&'))
  return {
    u1: label(query.get('u1')),
    utmSource: label(query.get('utm_source')),
  }
}

/**
 * Whether a URL is one of ours: a smart link, a wrapper or a sealed redirect. Any 64-bit number has
 * the form of a smart link, even if no such link exists.
 */
export function isOwnLink(url: URL, bases: OwnBases): boolean {
  const path = pathUnder(bases.linkUrl, url)?.replace(/\/$/, '')
  if (path !== undefined && (path === 'link' || isId(path) || readAuctionId(path) !== null)) {
    return true
  }
  return pathUnder(bases.auctionUrl, url)?.replace(/\/$/, '') === 'api/v1/redirect'
}

/** The rest of the path below one of our base URLs, without its first slash. */
function pathUnder(base: string, url: URL): string | undefined {
  const own = new URL(`${base}/`)
  if (own.host !== url.host || !url.pathname.startsWith(own.pathname)) return undefined
  return url.pathname.slice(own.pathname.length)
}

function filled(value: string): string | null {
  return value === '' ? null : value
}

function label(value: string | null): string | null {
  return filled(cutText(text(value), CLICK_LABEL_LENGTH_MAX))
}

/** PostgreSQL's text type cannot store NUL. */
function text(value: string | null): string {
  return value?.replaceAll('\0', '') ?? ''
}
