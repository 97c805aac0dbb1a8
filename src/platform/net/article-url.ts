/**
 * Which article does an address name? AMP copies of an article are the article
 * (docs/spec/links-and-tags.md#amp).
 *
 * Only articles are read this way. On a shop's site, `/amp/` may be a category of amplifiers.
 */
import { keyOfUrl, parseWebUrl } from './url.ts'

export interface ArticleAddress {
  /** As given; for a copy in a cache or a viewer, the address of the publisher's own page. */
  readonly href: string
  readonly url: URL
  /** The same 16 bytes for every address of the article. */
  readonly key: Buffer
}

/** Hosts that serve copies of pages, below them one host for each site. */
export const AMP_CACHES = [
  'cdn.ampproject.org',
  'ampproject.net',
  'bing-amp.com',
  'amp.cloudflare.com',
]

/** `/c/s/site.example/page`: content, viewer or signed exchange; `s` stands for https. */
const IN_CACHE = /^\/(?:c|v|wp)\/(s\/)?(?=[^/]*\.)/
/** `/amp/s/site.example/page` of a search engine. */
const IN_VIEWER = /^\/amp\/(s\/)?(?=[^/]*\.)/
const VIEWER_HOST = /^(?:google\.[a-z]{2,3}(?:\.[a-z]{2})?|bing\.com)$/
/** A viewer may show a copy from a cache. */
const COPIES_MAX = 3

const AMP_SEGMENT = /\/amp(?=\/|$)/gi
const AMP_SUFFIX = /\.amp(?=(?:\.html?)?\/?$)/i
const AMP_PAIR = /^(?:amp(?:=(?:1|true)?)?|outputtype=amp)$/i

/** Reads the address of an article; null for anything but an absolute http(s) address. */
export function readArticleUrl(text: string): ArticleAddress | null {
  const given = parseWebUrl(text)
  if (given === null) return null
  const url = shownIn(given)
  return { href: url === given ? text : url.href, url, key: keyOfUrl(withoutAmp(url)) }
}

/** The page that a cache's or viewer's copy shows; the address itself where it is no copy. */
function shownIn(given: URL): URL {
  let url = given
  for (let copy = 0; copy < COPIES_MAX; copy++) {
    const shown = showOnce(url)
    if (shown === null) break
    url = shown
  }
  return url
}

function showOnce({ hostname, pathname, search, hash }: URL): URL | null {
  const isCache = AMP_CACHES.some((cache) => hostname === cache || hostname.endsWith(`.${cache}`))
  const isViewer = !isCache && pathname.startsWith('/amp/') && isViewerHost(hostname)
  const prefix = isCache ? IN_CACHE.exec(pathname) : isViewer ? IN_VIEWER.exec(pathname) : null
  if (prefix === null) return null
  const rest = pathname.slice(prefix[0].length)
  // Google's viewer writes the question mark of the page's own query as `%3F`.
  const page = isViewer && search === '' ? rest.replace(/%3f/i, '?') : rest
  return parseWebUrl(`${prefix[1] ? 'https' : 'http'}://${page}${search}${hash}`)
}

function isViewerHost(hostname: string): boolean {
  return VIEWER_HOST.test(hostname.replace(/^www\./, ''))
}

/** The URL without parameters that only ask for the AMP form of the page. */
function withoutAmp(url: URL): URL {
  if (!/amp/i.test(url.pathname + url.search)) return url
  const page = new URL(url)
  page.pathname = page.pathname.replace(AMP_SEGMENT, '').replace(AMP_SUFFIX, '')
  const pairs = page.search.slice(1).split('&')
  const query = pairs.filter((pair) => !AMP_PAIR.test(pair)).join('&')
  page.search = query && `?${query}` // A setter takes the first of `??x` for its own.
  return page
}
