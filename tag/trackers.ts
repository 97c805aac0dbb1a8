/** Third-party trackers (interface 6, rules 7 to 9). */
import { insertImage } from './hidden-image.ts'
import type { AuctionResult } from './link.ts'
import type { Parts } from './page-session.ts'

export type FireTrackers = (
  event: 'impression' | 'viewable_impression',
  result: AuctionResult,
) => void

/** Fires each third-party tracker once per page and event, however many links name it. */
export const makeTrackers = ({ _consent }: Parts): FireTrackers => {
  const fired: Record<string, HTMLImageElement> = {}
  return (event, result) => {
    for (const url of result.tracker_urls?.[event] || []) {
      // Consent that the page does not know, the service has decided: it then gave no trackers.
      if (_consent().consent !== 'contextual') fired[event + url] ||= insertImage(url)
    }
  }
}
