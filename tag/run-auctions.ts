/** One auction for one smart link (interface 4.6; its outcome is applied by page-links.ts). */
import type { AuctionResult } from './outcome.ts'
import type { PageSession, Parts } from './page-session.ts'
import { randomNumber } from './trackers.ts'

interface AuctionAnswer {
  data: { auction_result: AuctionResult; impression_pixel_url: string; has_winner?: boolean }[]
}

/**
 * Asks once, never again: a smart link that got no answer runs its auction when it is clicked.
 * An answer without a web address to go to counts as none.
 */
export const runAuction = (
  id: string,
  { _uuid }: PageSession,
  { _service, _queue, _consent }: Parts,
  done: (result: AuctionResult) => void,
): void => {
  const { _value, _source } = _consent()
  const source = _source ? `&consent_source=${_source}` : ''
  _queue._add({
    _url:
      `${_service._auction}/api/v1/auction/?a=${id}&t=${randomNumber()}` +
      `&uuid=${_uuid}&consent=${_value}${source}`,
    _done(answer) {
      for (const entry of (answer as AuctionAnswer).data) {
        const { auction_result, impression_pixel_url, has_winner } = entry
        if (!/^https?:/.test(auction_result.redirect_url)) throw id
        done({ ...auction_result, has_winner })
        if (impression_pixel_url) _queue._add({ _url: impression_pixel_url, _isImage: true })
      }
    },
  })
}
