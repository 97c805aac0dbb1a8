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
import { watchViews } from './viewable.ts'

export interface PageLinks {
  _links: Map<Element, Link>
  /** Looks at the page again; links it knows already cost next to nothing. */
  _scan(): void
  /** Sends what has gathered: the reader may be about to leave. */
  _flush(): void
  /** Ends the session: every anchor is again as the page wrote it. */
  _end(): void
}

/** Viewable impressions gather this long, so that scrolling does not send one call per link. */
const GATHER_MS = 1000

export const watchLinks = (parts: Parts, session: PageSession): PageLinks => {
  const { _settings, _service } = parts
  const links = new Map<Element, Link>()
  let loaded: object[] = []
  let viewed: object[] = []
  const flush = (): void => {
    session._send(`${_service._brand}_link_impression`, loaded)
    session._send(`${_service._brand}_link_viewable_impression`, viewed)
    loaded = []
    viewed = []
  }
  const fireTrackers = makeTrackers(parts)
  const views = watchViews({
    _seen: (element) => fireTrackers('viewable_impression', links.get(element)?._result),
    _viewed(element) {
      viewed.push({ auction_id: links.get(element)?._id })
      setTimeout(flush, GATHER_MS)
    },
  })
  const apply = (link: Link, result: AuctionResult): void => {
    const { _anchor } = link
    if (_anchor.href !== link._now) return
    // Off the network the redirect forwards at once only readers whose browser says where they
    // come from (decisions, wrapper URLs). A link that hides it earns nothing here: leave it.
    if (link._raw && result.has_winner === false && /noreferrer/.test(_anchor.rel)) return
    applyOutcome(link, result, _settings)
    views._observe(_anchor)
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
    _links: links,
    _flush: flush,
    _scan() {
      for (const anchor of document.links) {
        const link = findNew(anchor, links, parts)
        if (!link) continue
        if (+link._verdict) adopt(link, link._verdict)
        else if (link._verdict === RAW) linkmate._take(link)
      }
      flush()
      linkmate._ask()
    },
    _end() {
      session._isOver = true
      views._stop()
      links.forEach(takeBack)
    },
  }
}

/** The link of an anchor that is new, or that the page has given another address. */
const findNew = (anchor: Anchor, links: Map<Element, Link>, parts: Parts): Link | undefined => {
  const known = links.get(anchor)
  const { href } = anchor
  if (known?._now === href) return undefined
  const link: Link = {
    _anchor: anchor,
    _href: href,
    _now: href,
    _verdict: anchor.closest('[data-souk-ignore]') ? IGNORED : judge(anchor, location.host, parts),
  }
  links.set(anchor, link)
  // The page has put its own address back: counted already, and who insists may have it.
  if (!known?._id || known._href !== href) return link
  link._id = known._id
  return undefined
}
