/**
 * The links of one page session: found, judged, auctioned once per id, counted once per occurrence
 * (interface 6, rules 3 to 6).
 */
import { makeAuctions } from './auctions.ts'
import { IGNORED, judge, RAW } from './find-links.ts'
import type { Anchor, AuctionResult, Link } from './link.ts'
import { makeLinkmate, NO_AUCTION } from './linkmate.ts'
import { applyOutcome, takeBack } from './outcome.ts'
import type { PageSession, Parts } from './page-session.ts'
import { makeTrackers } from './trackers.ts'
import { watchView } from './viewable.ts'

export interface PageLinks {
  /**
   * Looks at the page again, at most 50 new links at a time; links it knows already cost next to
   * nothing. True when there are more: the page gets a breath first.
   */
  _scan(): boolean
  /** Sends what has gathered: the reader may be about to leave. */
  _flush(): void
  /** Ends the session: every anchor is again as the page wrote it. */
  _end(): void
}

/** The look at them, and later the answers for them: a few milliseconds each on a slow phone. */
const LINKS_AT_ONCE = 50

/** Viewable impressions gather this long, so that scrolling does not send one call per link. */
const GATHER_MS = 1000

export const watchLinks = (parts: Parts, session: PageSession): PageLinks => {
  const { _settings, _service, _links } = parts
  let loaded: object[] = []
  let viewed: object[] = []
  const flush = (): void => {
    session._send(`${_service._brand}_link_impression`, loaded)
    session._send(`${_service._brand}_link_viewable_impression`, viewed)
    loaded = []
    viewed = []
  }
  const fireTrackers = makeTrackers(parts)
  const apply = (link: Link, result: AuctionResult): void => {
    if (link._anchor.href !== link._now) return
    applyOutcome(link, result, _settings)
    link._unwatch = watchView(link._anchor, {
      _seen: () => fireTrackers('viewable_impression', result),
      _viewed() {
        viewed.push({ auction_id: link._id })
        setTimeout(flush, GATHER_MS)
      },
    })
  }
  const joinAuction = makeAuctions(parts, session, apply, fireTrackers)
  /** One more occurrence of a smart link. */
  const adopt = (link: Link, id: string): void => {
    link._id = id
    loaded.push({ auction_id: id })
    if (!_settings.donotlink && !link._anchor.matches(NO_AUCTION)) joinAuction(link, id)
  }
  const linkmate = makeLinkmate(parts, session, adopt, flush)
  return {
    _flush: flush,
    _scan() {
      let room = LINKS_AT_ONCE
      for (const anchor of document.links) {
        const link = room && findNew(anchor, parts)
        if (!link) continue
        room--
        if (+link._verdict) adopt(link, link._verdict)
        else if (link._verdict === RAW) linkmate._take(link)
      }
      flush()
      linkmate._ask()
      return !room
    },
    _end() {
      session._isOver = true
      _links.forEach(takeBack)
      _links.clear()
    },
  }
}

/** The link of an anchor that is new, or that the page has given another address. */
const findNew = (anchor: Anchor, parts: Parts): Link | undefined => {
  const known = parts._links.get(anchor)
  const { href } = anchor
  if (known?._now === href) return undefined
  // An outcome stays with its address: an application that shows another link may use its anchor.
  if (known) takeBack(known)
  const link: Link = {
    _anchor: anchor,
    _href: href,
    _now: href,
    _verdict: anchor.closest('[data-souk-ignore]') ? IGNORED : judge(anchor, location.host, parts),
  }
  parts._links.set(anchor, link)
  // The page has put its own address back: counted already, and who insists may have it.
  if (!known?._id || known._href !== href) return link
  link._id = known._id
  return undefined
}
