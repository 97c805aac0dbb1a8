/**
 * The links of one page session: finds them, classifies them, runs one auction per id and counts
 * each occurrence once.
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
   * Scans the page for at most 50 new links; known links cost next to nothing. Returns true when
   * more remain, so that the page can respond to the reader in between.
   */
  _scan(): unknown
  /** Sends collected events: the reader may be about to leave. */
  _flush(): void
  /** Ends the visit and restores every anchor. */
  _end(): void
  /** Starts another visit of the session: links with an outcome get it again. */
  _begin(): void
  /** Whether all its links are still in place: the reader only scrolled away and back. */
  _isThere(): unknown
}

/** New links per scan, and later their outcomes: a few milliseconds each on a slow phone. */
const LINKS_AT_ONCE = 50
/**
 * Frameworks that hydrate a served page (Svelte) write each URL once more, so the tag applies the
 * outcome again. A page that keeps rewriting a URL wins in the end.
 */
const AGAIN_MAX = 1000
/** Views are collected this long, so that scrolling does not send a request per link. */
const GATHER_MS = 1000

export const watchLinks = (parts: Parts, session: PageSession): PageLinks => {
  parts._links = new Map()
  const { _settings, _links } = parts
  let again = 0
  let room = LINKS_AT_ONCE // New links left for this scan; at zero the next one continues.
  const flush = countLinks(session, _links, parts._service.brand)
  const viewed = gather(flush, GATHER_MS)
  const fireTrackers = makeTrackers(parts)
  const apply = (link: Link, result: AuctionResult): void => {
    if (link._isLeft || link._anchor.href !== link._href) return
    try {
      applyOutcome(link, result, _settings)
      watchView(link, () => fireTrackers('viewable_impression', result), viewed)
    } catch {
      // An error caused by patched built-ins affects this link only.
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
          // Additions of the page to an outcome's URL change nothing.
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

/** Whether any smart link remains and each still has the URL that the page gave it. */
const areThere = (links: Parts['_links']): unknown => {
  let hasSmart: unknown
  for (const { _anchor, _href, _id } of links.values()) {
    if (!_anchor.isConnected || _anchor.href !== _href) return
    hasSmart ||= _id
  }
  return hasSmart
}

/**
 * Whether the page excludes a link: marked so, or in a text that the reader edits. Without
 * `closest` or `matches`, which pages replace by their own functions.
 */
const isKept = (anchor: Anchor): boolean => {
  let element: Element | null = anchor
  while (element && !element.hasAttribute('data-souk-ignore')) element = element.parentElement
  return !!element || anchor.isContentEditable
}

/** Counts each smart link as often as it appears on the page at the same time. */
const countLinks = (session: PageSession, links: Parts['_links'], brand: string): (() => void) => {
  const counted: Record<string, number> = {}
  return (): void => {
    for (const type of ['', 'viewable_']) {
      const events: object[] = []
      const counts: Record<string, number> = {}
      for (const { _id, _isViewed } of links.values()) {
        if (!_id || (type && !_isViewed)) continue
        counts[_id] ||= 0
        // Another anchor in the same place is not counted again: pages redraw their links.
        counted[`${type}${_id},${counts[_id]++}`] ||= events.push({ auction_id: _id })
      }
      session._send(`${brand}_link_${type}impression`, events)
    }
  }
}
