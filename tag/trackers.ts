/** Fires the third-party trackers of campaigns. */
import { insertImage } from './hidden-image.ts'
import type { AuctionResult } from './link.ts'
import type { Parts } from './page-session.ts'

export type FireTrackers = (
  event: 'impression' | 'viewable_impression',
  result: AuctionResult,
) => void

/** Fires each tracker once per page and event, however many links name it. */
export const makeTrackers = ({ _consent }: Parts): FireTrackers => {
  const fired: Record<string, HTMLImageElement> = {}
  return (event, result) => {
    for (const url of result.tracker_urls?.[event] || []) {
      // When the page does not know the consent, the service has decided, and returned no trackers
      // if refused.
      if (_consent().consent !== 'contextual') fired[event + url] ||= insertImage(url)
    }
  }
}
