/**
 * The links of one page session: found, judged, auctioned once per id, counted once per occurrence
 * (interface 6, rules 3 to 6).
 */
import { IGNORED, judge, RAW, type Verdict } from './find-links.ts'
import { askLinkmate } from './linkmate.ts'
import { type AuctionResult, applyOutcome, takeBack } from './outcome.ts'
import type { PageSession, Parts } from './page-session.ts'
import { runAuction } from './run-auctions.ts'
import { makeTrackers } from './trackers.ts'
import { watchViews } from './viewable.ts'

type Anchor = HTMLAnchorElement | HTMLAreaElement

export interface Link {
  _anchor: Anchor
  /** Its absolute address when it was found. */
  _href: string
  /** Its address as the tag left it; another one means that the page has changed it. */
  _now: string
  _verdict: Verdict
  /** True when LinkMate was asked for the smart link. */
  _raw?: boolean
  _id?: string
  /** A copy of the anchor as the page wrote it, once an outcome is applied. */
  _before?: Element
  _texts?: [Element, Node[]][]
}

interface Auction {
  _links: Link[]
  _result?: AuctionResult
}

interface RawPage {
  _links: Link[]
  _id?: string
}

export interface PageLinks {
  /** Looks at the page again; links it knows already cost next to nothing. */
  _scan(): void
  /** Sends what has gathered: the reader may be about to leave. */
  _flush(): void
  /** Ends the session: every anchor is again as the page wrote it. */
  _end(): void
}

const NO_AUCTION = '[rel~=noauction]'

/** Not more than 2,048 as it is and 6,000 percent-encoded (decisions 4.1): one longer address would
 * make the service refuse the whole call. */
const RAW_URL_MAX = 2000

/** Viewable impressions gather this long, so that scrolling does not send one call per link. */
const GATHER_MS = 1000

export const watchLinks = (parts: Parts, session: PageSession): PageLinks => {
  const { _settings, _service, _consent } = parts
  const links = new Map<Anchor, Link>()
  const auctions = new Map<string, Auction>()
  const rawPages = new Map<string, RawPage>()
  const fireTrackers = makeTrackers()
  let occurrences: object[] = []
  let viewed: object[] = []
  let hasEnded = false
  _settings.links = links

  const trackers = (event: 'impression' | 'viewable_impression', result?: AuctionResult): void => {
    // What the page does not know, the service has decided: it then gave no trackers.
    if (_consent()._value !== 'contextual') fireTrackers(event, result?.tracker_urls?.[event])
  }

  const idOf = (element: Element): string => links.get(element as Anchor)?._id || ''

  const flush = (): void => {
    session._send(`${_service._brand}_link_impression`, occurrences)
    session._send(`${_service._brand}_link_viewable_impression`, viewed)
    occurrences = []
    viewed = []
  }

  const views = watchViews({
    _seen: (element) => trackers('viewable_impression', auctions.get(idOf(element))?._result),
    _viewed(element) {
      viewed.push({ auction_id: idOf(element) })
      setTimeout(flush, GATHER_MS)
    },
  })

  const apply = (link: Link, result: AuctionResult): void => {
    if (link._anchor.href !== link._now) return
    // Off the network the redirect forwards at once only readers whose browser says where they
    // come from (decisions, wrapper URLs). A link that hides it earns nothing here: leave it.
    if (link._raw && result.has_winner === false && /noreferrer/.test(link._anchor.rel)) return
    applyOutcome(link, result, _settings)
    views._observe(link._anchor)
  }

  /** One more occurrence of a smart link; the first one of an id runs its auction. */
  const adopt = (link: Link, id: string): void => {
    link._id = id
    occurrences.push({ auction_id: id })
    if (_settings.donotlink || link._anchor.matches(NO_AUCTION)) return
    const known = auctions.get(id)
    const auction: Auction = known || { _links: [] }
    auction._links.push(link)
    if (auction._result) apply(link, auction._result)
    if (known) return
    auctions.set(id, auction)
    runAuction(id, session, parts, (result) => {
      if (hasEnded) return
      auction._result = result
      for (const found of auction._links) apply(found, result)
      trackers('impression', result)
    })
  }

  /** Raw links wait here for their smart link; each address is asked for once. */
  const adoptRaw = (link: Link, fresh: string[]): void => {
    const { _anchor, _href } = link
    if (_href.length > RAW_URL_MAX || !_anchor.matches(_settings.selector || 'a,area')) return
    if (_anchor.matches(NO_AUCTION)) return
    link._raw = true
    const page = rawPages.get(_href) || { _links: [] }
    if (page._id) adopt(link, page._id)
    else if (page._links.push(link) === 1) {
      rawPages.set(_href, page)
      fresh.push(_href)
    }
  }

  const scan = (): void => {
    const fresh: string[] = []
    for (const anchor of document.links) {
      const known = links.get(anchor)
      const href = anchor.href
      if (known?._now === href) continue
      const _verdict = anchor.closest('[data-souk-ignore]')
        ? IGNORED
        : judge(anchor, location.host, parts)
      const link: Link = { _anchor: anchor, _href: href, _now: href, _verdict }
      links.set(anchor, link)
      // The page has put its own address back: counted already, and who insists may have it.
      if (known?._id && known._href === href) link._id = known._id
      else if (+_verdict) adopt(link, _verdict)
      else if (_verdict === RAW && _service._isLinkmate && !_settings.donotlink)
        adoptRaw(link, fresh)
    }
    flush()
    askLinkmate(fresh, session, parts, (url, id) => {
      const page = rawPages.get(url)
      if (hasEnded || !page) return
      page._id = id
      for (const link of page._links) if (link._anchor.href === url) adopt(link, id)
      flush()
    })
  }

  return {
    _scan: scan,
    _flush: flush,
    _end() {
      hasEnded = true
      views._stop()
      links.forEach(takeBack)
    },
  }
}
