/**
 * `{link_url}/link/?url=…&publisher_slug=…`: a smart link that needs no creation beforehand, for
 * mail, RSS and pages without script. Found or created at the click, auctioned on the click.
 */
import { LRUCache } from 'lru-cache'
import { comesFromPublisher } from '../auction/allowed-target.ts'
import { merchantOfHost, type Publisher } from '../auction/market.ts'
import { REASON } from '../events/reason.ts'
import { isEmbedded, isPrefetch, readUserAgent } from '../events/user-agent.ts'
import { readWrapperQuery, type WrapperQuery } from '../links/link-url.ts'
import { readLinkMark } from '../links/linkmate.ts'
import type { UnattributedNames } from '../links/unattributed-store.ts'
import type { WantedWrapperLink } from '../links/wrapper-link.ts'
import { SingleFlight } from '../platform/concurrency/single-flight.ts'
import { withTimeout } from '../platform/concurrency/timeout.ts'
import type { HotReply, HotRequest, HotRoute } from '../platform/http/hot-http.ts'
import {
  fitsUrlLimits,
  originAndPath,
  parseWebUrl,
  siteHost,
  trimUrl,
} from '../platform/net/url.ts'
import { redirectTo } from './click.ts'
import { leavingPage, messagePage } from './pages.ts'
import { clickOnLink, followLink, mayForward, type RedirectDeps } from './routes.ts'

/** Cache of wrapped URLs and their links: the links of a popular mail query the database once. */
const KNOWN_CHARACTERS_MAX = 32 * 1024 * 1024 // A URL may have thousands of characters.
/** After this the reader goes to the page itself instead of waiting for the link (I5). */
const CREATE_TIMEOUT_MS = 250

export interface WrapperDeps extends RedirectDeps {
  /**
   * Finds or creates the link. Resolves to its auction id, null above the publisher's quota.
   * Rejects when the database is unavailable.
   */
  readonly findOrCreateLink: (link: WantedWrapperLink, address: string) => Promise<string | null>
  /** Called for each redirect that names no known publisher. */
  readonly onUnattributed: (names: UnattributedNames) => void
  /** The auction id of an existing link; creates none. */
  readonly findExistingLink: (link: WantedWrapperLink) => Promise<string | null>
}

export function wrapperRoute(deps: WrapperDeps): HotRoute {
  const known = new LRUCache<string, string>({
    maxSize: KNOWN_CHARACTERS_MAX,
    sizeCalculation: (_auctionId, key) => key.length,
  })
  const asked = new SingleFlight<string | null>()
  const handle = (request: HotRequest) => follow(deps, { known, asked }, request)
  return { name: '/link', method: 'GET', cors: 'none', handle }
}

/** A node's cached wrapped URLs, and the look-ups under way. */
interface WrappedLinks {
  readonly known: LRUCache<string, string>
  readonly asked: SingleFlight<string | null>
}

async function follow(
  deps: WrapperDeps,
  { known, asked }: WrappedLinks,
  request: HotRequest,
): Promise<HotReply> {
  const query = readWrapperQuery(request.query)
  const url = trimUrl(query.url ?? '')
  const target = parseWebUrl(url)
  if (target === null || !fitsUrlLimits(url)) {
    return messagePage(400, 'This link is incomplete', incompleteText(url))
  }
  const { market } = deps.edge
  const publisher = market.publishersBySlug.get((query.publisherSlug ?? '').toLowerCase())
  const isMerchant = merchantOfHost(market, siteHost(target)) !== 0
  // Our choice: AMP wraps every link of a page, also those that its author excluded.
  const mark = readLinkMark(url)
  if (publisher === undefined) countUnattributed(deps, request, { query, target })
  if (publisher === undefined || !isMerchant || mark === 'donotlink') {
    const mayGo = mayForward(deps, request, { url, pubId: publisher?.pub_id ?? 0 })
    return mayGo ? redirectTo(url) : leavingPage(url)
  }

  const forward = (): HotReply => redirectTo(url) // Merchants vouch for their own pages.
  const isExclusive = query.isExclusive || mark === 'locklink'
  const wanted = newLink(query, { url, isExclusive, publisher, request })
  const key = JSON.stringify(wanted)
  const held = known.get(key)
  if (held !== undefined) return followLink(deps, request, click(held), forward)
  try {
    const isPerson = !createsNothing(request)
    const find = isPerson ? deps.findOrCreateLink : deps.findExistingLink
    // A newsletter's readers arrive together: they share the first reader's look-up.
    const finding = asked.run(`${isPerson} ${key}`, async () => {
      const auctionId = await find(wanted, request.address)
      // A mere look-up has not stored the article. A result too late for this reader is cached for
      // the next client, which would otherwise wait as long for nothing.
      if (isPerson && auctionId !== null) known.set(key, auctionId)
      return auctionId
    })
    const auctionId = await withTimeout(finding, CREATE_TIMEOUT_MS)
    if (auctionId === null) return forward()
    const link = await deps.findLink(auctionId, CREATE_TIMEOUT_MS)
    return link === null ? forward() : await clickOnLink(deps, request, link, click(auctionId))
  } catch (error) {
    // Without storage the wrapper is a plain link to its page, so that no reader is stranded.
    if (!request.isHead) deps.onUnrecorded(error)
    return forward()
  }
}

/** Readers only: robots open links that no page has. */
function countUnattributed(
  deps: WrapperDeps,
  request: HotRequest,
  { query, target }: { query: WrapperQuery; target: URL },
): void {
  if (createsNothing(request)) return
  const page = URL.parse(request.headers.referer ?? '')
  deps.onUnattributed({
    slug: query.publisherSlug ?? '',
    host: page === null ? '' : siteHost(page),
    targetHost: siteHost(target),
  })
}

const click = (auctionId: string) => ({ auctionId, verdict: REASON.ok })

function incompleteText(url: string): string {
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(url)
  if (url === '' || (hasScheme && /^https?:/i.test(url))) {
    return 'The link does not name a page. Please go back.'
  }
  const what = 'The target of this link must start with'
  return `${what} https:// or http://. Please go back.`
}

/** Nobody clicked: loads by a check, a page or a robot must not use up the publisher's quota. */
function createsNothing(request: HotRequest): boolean {
  const { headers } = request
  const isUnasked = request.isHead || isPrefetch(headers) || isEmbedded(headers)
  return isUnasked || readUserAgent(headers['user-agent']).isRobot
}

/** The article named in the URL, else the publisher's page in the referrer. */
function newLink(
  query: WrapperQuery,
  from: { url: string; isExclusive: boolean; publisher: Publisher; request: HotRequest },
): WantedWrapperLink {
  const { headers } = from.request
  const isFromPage = comesFromPublisher(headers, from.publisher)
  // Stored with the article: never the query of a reader's own URL.
  const referrer = isFromPage ? originAndPath(headers.referer ?? '') : null
  const articleUrl = query.articleUrl ?? (query.articleName === null ? referrer : null)
  const isUsable =
    articleUrl !== null && parseWebUrl(articleUrl) !== null && fitsUrlLimits(articleUrl)
  return {
    pubId: from.publisher.pub_id,
    url: from.url,
    isExclusive: from.isExclusive,
    articleUrl: isUsable ? articleUrl : null,
    isArticleGiven: isUsable && query.articleUrl !== null,
    articleName: query.articleName,
  }
}
