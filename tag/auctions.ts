/** Runs one auction for each distinct smart link of a page session. */
import { randomNumber } from './hidden-image.ts'
import type { AuctionResult, Link } from './link.ts'
import type { PageSession, Parts } from './page-session.ts'
import type { FireTrackers } from './trackers.ts'

interface AuctionAnswer {
  data: { auction_result: AuctionResult; impression_pixel_url: string; has_winner?: boolean }[]
}

/**
 * The returned function takes a link and its auction id. The first link of an id runs the auction;
 * all links of that id get its outcome through `apply`. A failed request is not repeated: the link
 * then runs its auction when it is clicked. An answer without a web URL to redirect to counts as
 * failed.
 */
export const makeAuctions = (
  { _service, _queue, _consent, _links }: Parts,
  session: PageSession,
  apply: (link: Link, result: AuctionResult) => void,
  fireTrackers: FireTrackers,
): ((link: Link, id: string) => void) => {
  /** By auction id; undefined until the response arrives. */
  const results: Record<string, AuctionResult | undefined> = {}
  return (link, id) => {
    link._id = id
    if (link._isLeft) return
    const known = results[id]
    if (known) apply(link, known)
    const { _asked } = session
    if (known || _asked[id]) return
    _asked[id] = 1
    const { consent, consent_source } = _consent()
    _queue._add({
      _url:
        `${_service.auction_url}/api/v1/auction/?a=${id}&t=${randomNumber()}` +
        `&uuid=${session._uuid}&consent=${consent}&consent_source=${consent_source || ''}`,
      _done(answer) {
        for (const { auction_result, impression_pixel_url, has_winner } of (answer as AuctionAnswer)
          .data) {
          if (!/^https?:/.test(auction_result.redirect_url)) throw id
          if (session._asked !== _asked) return
          const result = { ...auction_result, has_winner }
          results[id] = result
          for (const found of _links.values()) if (found._id === id) apply(found, result)
          if (impression_pixel_url) _queue._add({ _url: impression_pixel_url })
          fireTrackers('impression', result)
        }
      },
    })
  }
}
