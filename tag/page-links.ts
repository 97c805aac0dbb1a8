/**
 * The links of one page session: found, judged, auctioned once per id, counted once per occurrence
 * (interface 6, rules 3 to 6).
 */
import { makeAuctions } from './auctions.ts'
import { IGNORED, judge, RAW } from './find-links.ts'
import { gather } from './gather.ts'
import type { Anchor, AuctionResult, Link } from './link.ts'
import { makeLinkmate } from './linkmate.ts'
import { applyOutcome, takeBack } from './outcome.ts'
import type { PageSession, Parts } from './page-session.ts'
import { makeTrackers } from './trackers.ts'
import { watchView } from './viewable.ts'

export interface PageLinks {
  /**
   * Looks at the page again, at most 50 new links at a time; links it knows already cost next to
   * nothing. True when there are more: the page gets a breath first.
   */
  _scan(): unknown
  /** Sends what has gathered: the reader may be about to leave. */
  _flush(): void
  /** Ends the visit: every anchor is again as the page wrote it. */
  _end(): void
  /** Begins another visit of the session: links with an outcome get it once more. */
  _begin(): void
  /** Whether its links are all where they were: the reader has only scrolled away and back. */
  _isThere(): unknown
}

/** The look at them, and later the answers for them: a few milliseconds each on a slow phone. */
const LINKS_AT_ONCE = 50
/**
 * Frameworks that wake up a served page (Svelte) write each address once more: such links are led
 * on again. A page that goes on writing them has its way in the end.
 */
const AGAIN_MAX = 1000
/** Views gather this long, so that scrolling does not send one call a link. */
const GATHER_MS = 1000

export const watchLinks = (parts: Parts, session: PageSession): PageLinks => {
  parts._links = new Map()
  const { _settings, _links } = parts
  let again = 0
  let room = LINKS_AT_ONCE // What the last look had left; at zero the next one goes on with it.
  const flush = tellLinks(session, _links, parts._service.brand)
  const viewed = gather(flush, GATHER_MS)
  const fireTrackers = makeTrackers(parts)
  const apply = (link: Link, result: AuctionResult): void => {
    if (link._isLeft || link._anchor.href !== link._href) return
    try {
      applyOutcome(link, result, _settings)
      watchView(link, () => fireTrackers('viewable_impression', result), viewed)
    } catch {
      // What a page's scripts have patched breaks this link at most.
    }
  }
  const adopt = makeAuctions(parts, session, apply, fireTrackers)
  const linkmate = makeLinkmate(parts, session, adopt, flush)
  return {
    _flush: flush,
    _begin() {
      _links.clear()
      parts._links = _links
    },
    _isThere: () => areThere(_links),
    _scan() {
      if (room) {
        flush()
        for (const link of _links.values()) {
          const text = link._anchor.getAttribute('href')
          const isOwn = text === link._text && (!link._outcome || again++ > AGAIN_MAX)
          // What a page adds to an outcome's address changes nothing.
          const isLed = link._outcome && text?.startsWith(link._outcome)
          if (link._anchor.isConnected && (isOwn || isLed)) continue
          takeBack(link)
          _links.delete(link._anchor)
        }
      }
      room = LINKS_AT_ONCE
      for (const _anchor of document.links) {
        if (!room || _links.has(_anchor)) continue
        room--
        const _verdict = isKept(_anchor) ? IGNORED : judge(_anchor, location.host, parts)
        const _isLeft = _settings.donotlink || /\bnoauction\b/i.test(_anchor.rel)
        const _text = _anchor.getAttribute('href')
        const link: Link = { _anchor, _text, _href: _anchor.href, _verdict, _isLeft }
        _links.set(_anchor, link)
        if (+_verdict) adopt(link, _verdict)
        else if (_verdict === RAW) linkmate._take(link)
      }
      linkmate._ask()
      return !room || flush()
    },
    _end() {
      session._asked = {}
      _links.forEach(takeBack)
    },
  }
}

/** Whether some are smart and each still leads where the page had it lead. */
const areThere = (links: Parts['_links']): unknown => {
  let hasSmart: unknown
  for (const { _anchor, _href, _id } of links.values()) {
    if (!_anchor.isConnected || _anchor.href !== _href) return
    hasSmart ||= _id
  }
  return hasSmart
}

/**
 * Whether the page keeps a link from us: marked so, or in a text that a reader writes. Not by
 * `closest` or `matches`, which pages replace by functions of their own.
 */
const isKept = (anchor: Anchor): boolean => {
  let element: Element | null = anchor
  while (element && !element.hasAttribute('data-souk-ignore')) element = element.parentElement
  return !!element || anchor.isContentEditable
}

/** Tells of each smart link as often as it has stood on the page at one time. */
const tellLinks = (session: PageSession, links: Parts['_links'], brand: string): (() => void) => {
  const told: Record<string, number> = {}
  return (): void => {
    for (const type of ['', 'viewable_']) {
      const events: object[] = []
      const counts: Record<string, number> = {}
      for (const { _id, _isViewed } of links.values()) {
        if (!_id || (type && !_isViewed)) continue
        counts[_id] ||= 0
        // Another anchor in the same place is no news: pages draw their links anew.
        told[`${type}${_id},${counts[_id]++}`] ||= events.push({ auction_id: _id })
      }
      session._send(`${brand}_link_${type}impression`, events)
    }
  }
}
